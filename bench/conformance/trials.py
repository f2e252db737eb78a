"""Runs of a method on the edges, through the harness as any other run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from bench import environment
from bench.conformance import cases
from bench.conformance.cases import Case
from bench.entries import Entry, load_method
from bench.job import Job, run_one
from bench.records import Record
from bench.suite import refusal

SEED = 1
HASH_SEEDS = (0, 0, 1, 2)  # the first two are the same: what differs there is not the hashes'


@dataclass(frozen=True)
class Planned:
    """A run to be made; `part` says what for."""

    part: Literal["edge", "repeat", "limit"]
    case: Case
    hash_seed: int = 0
    seed: int = SEED


@dataclass(frozen=True)
class Trial(Planned):
    """A run that was made, or refused: `refused` says why, and there is no record."""

    record: Record | None = None
    refused: str = ""


def plan(problems: tuple[str, ...]) -> list[Planned]:
    """All runs for a method of these problems."""
    return [
        *(Planned("edge", case) for case in cases.edges(problems)),
        *(Planned("repeat", case, h) for case in cases.medium(problems) for h in HASH_SEEDS),
        *(Planned("limit", case) for case in cases.large(problems)),
    ]


def run(
    entry: Entry,
    planned: Sequence[Planned],
    time_limit_s: float,
    jobs: int = 1,
    done: Callable[[], None] = lambda: None,
) -> list[Trial]:
    """Make the runs; one that overran its limit is made again, up to three times.

    A machine that does something else for a moment is no fault of the method.
    """
    method = load_method(entry.method, entry.file, entry.source)

    def one(each: Planned) -> Trial:
        instance = each.case.instance
        told = (each.part, each.case, each.hash_seed, each.seed)
        try:
            if (reason := refusal(method, instance)) is not None:
                return Trial(*told, refused=reason)
            for _ in range(3):
                record, _answer = run_one(_job(entry, each, time_limit_s))
                if record.termination != "time-limit":
                    break
            return Trial(*told, record=record)
        finally:
            done()

    with ThreadPoolExecutor(jobs, thread_name_prefix="conformance") as pool:
        return list(pool.map(one, planned))


def _job(entry: Entry, each: Planned, time_limit_s: float) -> Job:
    return Job(
        each.case.instance,
        entry,
        each.seed,
        time_limit_s,
        None,
        1,
        environment.suite_version(),
        "",
        hash_seed=each.hash_seed,
        verify=True,
    )


def made(trials: Sequence[Trial]) -> Iterator[tuple[Trial, Record]]:
    """Those that were run, with their records."""
    for trial in trials:
        if trial.record is not None:
            yield trial, trial.record
