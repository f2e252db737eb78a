"""Whether a solver works here: one tiny run of an entry that stands for it, as any run is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bench import environment, results
from bench.entries import EntryError, load_method, parse_entry
from bench.job import Job, run_one
from bench.plain import headline
from bench.suite import refusal
from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle

LIMIT_S, LOAD_LIMIT_S = 5.0, 60.0
CORE = {
    "compiled code": "greedy",
    "HiGHS": "assign@highs",
    "SCIP": "assign@scip",
    "CP-SAT": "assign@cp-sat",
    "Pyomo": "assign@pyomo-highs",
}
"""Solver -> the entry that stands for it; installed with the suite."""
EXTRA = {
    "CBC": "assign@pyomo-cbc",
    "KaHIP": "kahip",
    "METIS": "metis",
    "Scotch": "scotch",
}
"""Likewise, of extras."""


@dataclass(frozen=True)
class Checked:
    """What became of one solver.

    Attributes
    ----------
    works : bool or None
        None where a package is missing that only an extra brings.
    """

    solver: str
    entry: str
    core: bool
    works: bool | None
    note: str


def tiny() -> Instance:
    """The instance of the check, which every solver takes."""
    return from_bundle(random_bundle(3, n=6, problem="throughput"))


def check(jobs: int = 1) -> list[Checked]:
    """Let every solver solve the tiny instance, `jobs` at a time; a crash or a hang is a line."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(_check, *each) for each in _solvers()]
        return [future.result() for future in futures]


def _solvers() -> Iterator[tuple[str, str, bool]]:
    for core, names in ((True, CORE), (False, EXTRA)):
        for solver, entry in names.items():
            yield solver, entry, core


def _check(solver: str, name: str, core: bool) -> Checked:
    try:
        (entry,) = parse_entry(name)
        instance = tiny()
        lacking = refusal(load_method(entry.method, entry.file, entry.source), instance)
        if lacking is not None:
            return Checked(solver, name, core, False if core else None, lacking)
        job = Job(instance, entry, 0, LIMIT_S, None, 1, environment.suite_version(), "",
                  LOAD_LIMIT_S)  # fmt: skip
        record, _ = run_one(job)
    except (EntryError, ImportError, OSError) as error:
        return Checked(solver, name, core, False, headline(error))
    if record.check != "ok" or results.failed(record):
        return Checked(solver, name, core, False, results.reason(record) or record.termination)
    return Checked(solver, name, core, True, f"{record.load_s + record.warm_s:.1f} s to load")


def broken(checked: Sequence[Checked]) -> bool:
    """Whether a solver that comes with the suite does not work."""
    return any(each.core and not each.works for each in checked)
