"""What every method promises: each a named check over all trials, all of them made and counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from bench import results
from bench.conformance.trials import HASH_SEEDS, Trial, made
from bench.records import Record
from bench.supervise import soft_limit

TOLERANCE = 1e-9
CHANGED = ("the method changed the instance", "read-only", "WRITEABLE")
Finding = tuple[Trial, str | None]
"""A trial that was checked, and what is wrong with it; None where nothing is."""
Check = Callable[[Sequence[Trial]], Iterator[Finding]]


def ends_well(trials: Sequence[Trial]) -> Iterator[Finding]:
    """No crash, exception or want of memory on anything that it takes."""
    for trial, record in made(trials):
        bad = record.termination in results.ENDED_BADLY and not _changed(record)
        yield trial, results.reason(record) if bad else None


def valid(trials: Sequence[Trial]) -> Iterator[Finding]:
    """An answer keeps all rules."""
    for trial, record in made(trials):
        if record.check != "none" and trial.case.feasible:
            yield trial, results.reason(record) if record.check == "invalid" else None


def honours_the_limit(trials: Sequence[Trial]) -> Iterator[Finding]:
    """It ends by itself within the limit."""
    for trial, record in made(trials):
        late = record.termination == "time-limit"
        yield trial, f"did not end within {record.time_limit_s:g} s, three times" if late else None


def never_worse_than_single(trials: Sequence[Trial]) -> Iterator[Finding]:
    """At least as good as the best single device, where one takes everything."""
    for trial, record in made(trials):
        single = trial.case.single
        if single is None or record.check == "invalid":
            continue
        if record.objective is None:
            yield trial, f"no answer; the best single device has {single:g} s"
        elif record.objective > single * (1 + TOLERANCE):
            yield trial, f"{record.objective:g} s; the best single device has {single:g} s"
        else:
            yield trial, None


def same_answer_under_one_seed(trials: Sequence[Trial]) -> Iterator[Finding]:
    """A seed gives the same answer twice."""
    yield from _repeats(trials, HASH_SEEDS[0], "the same seed")


def same_answer_under_three_hash_seeds(trials: Sequence[Trial]) -> Iterator[Finding]:
    """What Python draws for the hashes of text has no part in the answer."""
    for other in sorted(set(HASH_SEEDS) - {HASH_SEEDS[0]}):
        yield from _repeats(trials, other, f"PYTHONHASHSEED={other} instead of {HASH_SEEDS[0]}")


def does_not_change_the_instance(trials: Sequence[Trial]) -> Iterator[Finding]:
    """Arrays of the instance stay as they are."""
    for trial, record in made(trials):
        yield trial, record.error.splitlines()[0] if _changed(record) else None


def leaves_no_children(trials: Sequence[Trial]) -> Iterator[Finding]:
    """Nothing that it started is left."""
    for trial, record in made(trials):
        left = f"left {record.orphans} processes" if record.orphans else None
        yield trial, left


def refuses_cleanly(trials: Sequence[Trial]) -> Iterator[Finding]:
    """`refuses` gives a reason; where there is no answer the method gives none."""
    for trial in trials:
        if trial.refused:
            yield trial, trial.refused if trial.refused.startswith("`refuses` of") else None
        elif trial.record is None:
            continue
        elif trial.record.error.startswith("Unsupported"):
            yield trial, f"raised in the run ({trial.record.error.splitlines()[0]}): use `refuses`"
        elif not trial.case.feasible:
            given = trial.record.check == "invalid"
            what = "gave an answer where no valid one exists; it should have returned None"
            yield trial, what if given else None


def bounds_and_claims_hold(trials: Sequence[Trial]) -> Iterator[Finding]:
    """No bound above an answer, no proof that an answer contradicts."""
    for trial, record in made(trials):
        known = [z for z in (record.objective, trial.case.single) if z is not None]
        best = min(known, default=math.inf)
        if record.claimed_bound is None and record.claim not in ("optimal", "infeasible"):
            continue
        bound = -math.inf if record.claimed_bound is None else record.claimed_bound
        mine = math.inf if record.objective is None else record.objective
        if bound > best * (1 + TOLERANCE):
            yield trial, f"reports a bound of {bound:g} s; an answer has {best:g} s"
        elif record.claim == "infeasible" and known:
            yield trial, f"claims that there is no answer; one has {best:g} s"
        elif record.claim == "optimal" and best < mine * (1 - TOLERANCE):
            yield trial, f"claims to be optimal; another answer has {best:g} s"
        else:
            yield trial, None


CHECKS: dict[str, Check] = {
    check.__name__.replace("_", " "): check
    for check in (
        ends_well, valid, honours_the_limit, never_worse_than_single, same_answer_under_one_seed,
        same_answer_under_three_hash_seeds, does_not_change_the_instance, leaves_no_children,
        refuses_cleanly, bounds_and_claims_hold,
    )
}  # fmt: skip


def _repeats(trials: Sequence[Trial], hash_seed: int, how: str) -> Iterator[Finding]:
    """Compare the first trial of an instance with those under `hash_seed`."""
    first: dict[str, Record] = {}
    for trial, record in made(trials):
        if trial.part != "repeat":
            continue
        if trial.case.name not in first:
            first[trial.case.name] = record
        elif trial.hash_seed == hash_seed:
            yield trial, _differ(first[trial.case.name], record, how)


def _differ(a: Record, b: Record, how: str) -> str | None:
    """How two runs differ that should not; what the clock cut is compared as far as both got.

    The last answer of a run that was cut may be from wherever that was.
    """
    if not (_by_the_clock(a) or _by_the_clock(b)):
        if a.answer == b.answer:
            return None
        return f"another answer under {how}: {_told(a)}, then {_told(b)}"
    for (_, x), (_, y) in zip(a.trace[:-1], b.trace[:-1], strict=False):
        if not math.isclose(x, y, rel_tol=TOLERANCE):
            return f"another way under {how}: an answer of {x:g} s, then one of {y:g} s"
    return None


def _by_the_clock(record: Record) -> bool:
    """Whether a run may have ended where it did because its time was over."""
    return record.wall_s > 0.8 * soft_limit(record.time_limit_s)


def _told(record: Record) -> str:
    return "none" if record.objective is None else f"{record.objective:.10g} s"


def _changed(record: Record) -> bool:
    return record.termination == "error" and any(each in record.error for each in CHANGED)
