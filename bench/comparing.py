"""``bench.compare``: two or more entries, or sources of records, held against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from bench import bks, compare_conditions, compare_report, compare_sides
from bench.compare_report import Report
from bench.compare_sides import Asked, CompareError
from bench.leaderboard import gather
from bench.leaderboard.gather import Source
from bench.records import Record, Store
from bench.wanted import Wanted
from problems.catalogue import Library

STORE = "results/runs"
Compared = str | Path | Sequence[Record]


def compare(
    first: Compared,
    second: Compared,
    *others: Compared,
    records: str | Path | None = None,
    store: str | Path = STORE,
    methods: Sequence[str] = (),
    instances: Sequence[str] = (),
    allow: Sequence[str] = (),
) -> Report:
    """Compare the first with each other one, as ``placebench compare`` does.

    Parameters
    ----------
    first, second, others : str, Path, or sequence of Record
        Entries of one source (``"heft"``); sources, of which the same entries are compared
        (``"old.jsonl"``, a store's folder, or records at hand, which are not checked again); or one
        entry of a source (``"old.jsonl::heft"``). Of records at hand that are of one entry each,
        and not all of the same, the entries are compared.
    records, store : path
        Where entries without a source are looked up: a published file, or else a store.
    methods : sequence of str
        Which entries of sources that are compared whole; by default all that both have.
    instances : sequence of str
        What ``-i`` takes; by default all instances of the records.
    allow : sequence of str
        What may differ between the sides: ``time-limit``, ``threads``, ``memory-limit``,
        ``machine``, ``digests`` (instances are then matched by id).

    Returns
    -------
    Report
        Improved, tied, worse, in conflict, missing; ratios, intervals, tests.

    Raises
    ------
    CompareError
        If the sides are not comparable, or there is nothing to compare. It is a ValueError.
    FileError
        If a source has no records, or their answers are missing.
    SelectionError
        If `instances` select nothing.
    """
    library = Library()
    wanted = Wanted.of(instances, library)
    known = wanted.known(gather.Known.of(library.entries(), bks.load()))

    def chosen(source: Source, check: bool = True) -> Source:
        source = wanted.of_source(source)
        checked = wanted.checked(source) if check else source
        if source.records and not checked.records:
            raise CompareError(f"{source.name}: no record there holds: {checked.faults[-1]}")
        return checked

    texts, sources = _places([first, second, *others], Path(store), chosen)
    default = None
    if any(each.place is None for each in texts):
        default = chosen(_source(Path(store if records is None else records)))
    named = [*sources.values(), *([] if default is None else [default])]
    every = [record for source in named for record in source.records]
    headlines = known.headlines(every)
    sides = compare_sides.pairs(texts, sources, default, methods)
    by: Literal["instance", "digest"] = "instance" if "digests" in allow else "digest"
    done = [
        compare_report.pairing(a.label, b.label, compare_conditions.alike(a, b, allow), by)
        for a, b in sides
    ]
    entries = {side.entry for pair in sides for side in pair}
    conflicts = compare_report.conflicts(every, entries, headlines)
    faults = [fault for source in named for fault in source.faults]
    return compare_report.report(done, conflicts, faults)


def _places(
    given: Sequence[Compared], store: Path, chosen: Callable[..., Source]
) -> tuple[list[Asked], dict[Path, Source]]:
    """What is asked for, and the sources that it names."""
    texts: list[Asked] = []
    sources: dict[Path, Source] = {}
    own = _own_entries(given)
    for i, each in enumerate(given):
        if isinstance(each, str | Path):
            asked = compare_sides.asked(str(each))
            if asked.place is not None and asked.place not in sources:
                sources[asked.place] = chosen(_source(asked.place))
        else:
            asked = Asked(Path(f"records{i + 1}"), own[i] if own else None)
            if not each:
                raise CompareError(f"there are no records in the {i + 1}. sequence")
            source = Source(Store(store), list(each), str(asked.place))
            sources[Path(f"records{i + 1}")] = chosen(source, check=False)
        texts.append(asked)
    return texts, sources


def _own_entries(given: Sequence[Compared]) -> list[str]:
    """The entry of each side where all are records at hand, each of one entry and not all alike."""
    entries = [
        {r.entry for r in each} for each in given if not isinstance(each, str | Path) and each
    ]
    named = [min(each) for each in entries if len(each) == 1]
    return named if len(named) == len(given) and len(set(named)) > 1 else []


def _source(place: Path) -> Source:
    return gather.from_store(place) if place.is_dir() else gather.from_file(place)
