"""Named selections and the hold-out split.

Hold-out instances are for reporting only: a method that is tuned or learned is tuned on public
instances and reported on these. Hence no selection but ``holdout`` has any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from problems.files import FileError
from problems.instance import InstanceSpec

HOLDOUT = "holdout"
# The usual ones, in the order in which they are listed; there may be others.
NAMES = (
    "smoke", "quick", "default", "full", "latency", "throughput", "calls", "chips", "training",
    "scaling", "mixtures", HOLDOUT,
)  # fmt: skip


def derived(
    specs: Sequence[InstanceSpec], chosen: Mapping[str, Iterable[str]]
) -> dict[str, list[str]]:
    """All selections: those chosen by hand, and those that follow from the instances.

    Parameters
    ----------
    specs : sequence of InstanceSpec
        All instances, in the order of the index.
    chosen : mapping of str to iterable of str
        Ids by the name of the selection.

    Returns
    -------
    dict of str to list of str
        Ids in the order of the index: ``full``, all public instances; ``holdout``, the others;
        the public instances of each problem under its name; and what is `chosen`, which goes
        before. Empty ones are left out.

    Raises
    ------
    FileError
        As :func:`check`.
    """
    public = [spec for spec in specs if spec.split != HOLDOUT]
    result: dict[str, list[str]] = {
        "full": [spec.id for spec in public],
        HOLDOUT: [spec.id for spec in specs if spec.split == HOLDOUT],
    }
    for spec in public:
        result.setdefault(spec.problem, []).append(spec.id)
    place = {spec.id: i for i, spec in enumerate(specs)}
    for name, ids in chosen.items():
        result[name] = sorted(ids, key=lambda each: place.get(each, -1))
    ranks = {name: rank for rank, name in enumerate(NAMES)}
    names = sorted(result, key=lambda name: (ranks.get(name, len(ranks)), name))
    found = {name: result[name] for name in names if result[name]}
    check(specs, found)
    return found


def check(specs: Sequence[InstanceSpec], selections: Mapping[str, Sequence[str]]) -> None:
    """See that every selection names instances of the library, once, and of its split.

    Raises
    ------
    FileError
        On an instance that is listed twice, an unknown or repeated id, an empty selection, a
        hold-out instance outside ``holdout`` or a public one in it.
    """
    split: dict[str, str] = {}
    for spec in specs:
        if spec.id in split:
            raise FileError(f"index.json: instance {spec.id!r} is listed twice - at `$.instances`")
        split[spec.id] = spec.split
    for name, ids in selections.items():
        place = f" - at `$.selections.{name}`"
        if not ids:
            raise FileError(f"index.json: the selection is empty{place}")
        seen: set[str] = set()
        for each in ids:
            if each not in split:
                raise FileError(f"index.json: no instance {each!r}{place}")
            if each in seen:
                raise FileError(f"index.json: {each!r} is listed twice{place}")
            if (split[each] == HOLDOUT) != (name == HOLDOUT):
                raise FileError(
                    f"index.json: {each!r} is of the split {split[each]}; hold-out instances are"
                    f" in the selection {HOLDOUT!r} and in no other{place}"
                )
            seen.add(each)
