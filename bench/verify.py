"""Whether a record is what a run left behind: stores are folders, and anyone can edit a file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec.structs import replace

from bench.entries import label_of
from bench.records import Record, Store, key_of
from bench.results import section_of
from problems import checker
from problems.answer import from_file
from problems.files import FileError
from problems.instance import Instance

OBJECTIVE_TOLERANCE = 1e-9
_TIMES = ("load_s", "warm_s", "wall_s", "cpu_s", "check_s", "overrun_s")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def fault(record: Record, store: Store, instance: Instance | None) -> str | None:
    """Why a record is not to be believed; None where nothing speaks against it.

    The key has to follow from the fields, and a checked objective from the stored answer. What only
    the run could tell, such as its time, is taken as it stands, unless no run can have it.

    Parameters
    ----------
    store : Store
        Where the answers are.
    instance : Instance or None
        The instance of the record; without it the objective is not computed anew.
    """
    edited = inconsistent(record)
    if edited is not None:
        return edited
    if instance is not None and (instance.digest, instance.problem) != (
        record.digest,
        record.problem,
    ):
        return "its digest or problem is not that of the instance"
    if instance is not None and section_of(record) != section_of(
        replace(record, instance=instance.id)
    ):
        return f"its instance is {instance.id}, and its name puts it into another table"
    if record.check != "ok":
        return None
    z = record.objective
    if z is None or not (math.isfinite(z) and z >= 0):
        return f"its objective is {z}, which no answer has"
    if not _DIGEST.fullmatch(record.answer):
        return "it names no answer"
    try:
        file = store.get_answer(record.answer)
        answer = from_file(file)
    except FileError as error:
        return f"its answer: {error}"
    if file.instance != record.digest:
        return "its answer is of another instance"
    if instance is None:
        return None
    verdict = checker.check(instance, answer)
    if verdict.objective is None:
        rule, what = verdict.violations[0]
        return f"its answer is invalid ({rule}): {what}"
    if not math.isclose(verdict.objective, z, rel_tol=OBJECTIVE_TOLERANCE):
        return f"its objective is {z!r}, its answer has {verdict.objective!r}"
    return None


def inconsistent(record: Record) -> str | None:
    """Why the fields of a record do not belong together; None where they do."""
    if record.key != _key(record):
        return "its key does not follow from its fields: it was edited"
    shown = [name for name in record.options if f"{name}=" in record.entry]
    if record.entry != label_of(record.method, record.options, shown):
        return f"its entry {record.entry!r} does not follow from its method and options"
    return _impossible(record)


def _impossible(record: Record) -> str | None:
    """What no run can have, and no table could be computed from: limits and times."""
    limit, memory = record.time_limit_s, record.memory_limit_bytes
    if not (math.isfinite(limit) and limit > 0):
        return f"its time limit is {limit} s, which no run has"
    if record.threads < 1 or (memory is not None and memory < 1):
        return f"it has {record.threads} threads and {memory} bytes, which no run has"
    for name in _TIMES:
        if not getattr(record, name) >= 0:
            return f"its {name} is {getattr(record, name)}, which no run has"
    if record.peak_bytes < 0 or record.orphans < 0:
        return f"it has {record.peak_bytes} bytes and {record.orphans} orphans, which no run has"
    if record.wall_s > (limit + record.overrun_s) * (1 + OBJECTIVE_TOLERANCE):
        return f"its wall_s is {record.wall_s} s, beyond its limit and overrun"
    since, until = 0.0, min(limit, record.wall_s)
    for t, _ in record.trace:
        if not since <= t <= until:
            return f"its trace has {t} s after {since} s: not in order, or beyond its end"
        since = t
    values = [value for _, value in record.trace]
    if any(not (math.isfinite(value) and value >= 0) for value in values):
        return "its trace has an objective that no answer has"
    more = 1 + OBJECTIVE_TOLERANCE
    if any(later > before * more for before, later in pairwise(values)):
        return "its trace does not improve"
    if values and record.check == "ok" and values[-1] > (record.objective or 0.0) * more:
        return f"its trace ends at {values[-1]!r} s, above its objective {record.objective!r} s"
    return None


def require_answers(records: Sequence[Record], store: Store, name: str) -> None:
    """See that a store has answers of the records, which cannot be checked without them.

    A file of records alone, as ``placebench export records`` writes one, has none beside it. Single
    ones that are missing are faults of their records: see :func:`fault`.

    Parameters
    ----------
    name : str
        Of the file or store, for the message.

    Raises
    ------
    FileError
        If it has none of them.
    """
    named = {record.answer for record in records if _DIGEST.fullmatch(record.answer)}
    if named and not any(store.has_answer(each) for each in named):
        raise FileError(
            f"{name}: the answers of its records are missing ({len(named)} of them, looked for in"
            f" {store.root / 'answers'}), and records are not believed without: name the store that"
            " they were exported from instead of the file, or copy its folder answers there"
        )


def verified(
    records: Sequence[Record], store: Store, load: Callable[[str], Instance | None]
) -> tuple[list[Record], list[tuple[Record, str]]]:
    """Split records into those to be believed and those not, with the reason.

    Parameters
    ----------
    load : callable
        Digest -> instance, or None where it is unknown; called once a digest.
    """
    loaded: dict[str, Instance | None] = {}
    good: list[Record] = []
    bad: list[tuple[Record, str]] = []
    for record in records:
        if record.digest not in loaded:
            loaded[record.digest] = load(record.digest)
        why = fault(record, store, loaded[record.digest])
        if why is None:
            good.append(record)
        else:
            bad.append((record, why))
    return good, bad


def _key(record: Record) -> str:
    return key_of(
        digest=record.digest,
        method=record.method,
        options=record.options,
        source=record.source,
        seed=record.seed,
        time_limit_s=record.time_limit_s,
        memory_limit_bytes=record.memory_limit_bytes,
        threads=record.threads,
        suite=record.suite,
    )
