"""Many runs: every instance with every entry under every seed, reusing what is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.entries import Entry
from bench.records import Record, Store
from problems.instance import Instance


@dataclass(frozen=True)
class Run:
    """One cell of a suite: what a progress event is about.

    Attributes
    ----------
    index : int
        Place among all runs that are asked for, from 0, skipped ones included.
    instance, entry : str
        Id and label.
    seed : int
    """

    index: int
    instance: str
    entry: str
    seed: int


@dataclass(frozen=True)
class Planned:
    """First event: how many runs are to be made, reused and skipped, and the limit of each."""

    to_run: int
    reused: int
    skipped: int
    time_limit_s: float
    jobs: int


@dataclass(frozen=True)
class Skipped:
    """The method refuses the instance; there is no row."""

    run: Run
    reason: str


@dataclass(frozen=True)
class Reused:
    """A good record was in the store."""

    run: Run
    record: Record


@dataclass(frozen=True)
class Started:
    """A child is being started."""

    run: Run


@dataclass(frozen=True)
class Finished:
    """A run has ended, well or not, and its record is stored."""

    run: Run
    record: Record


Event = Planned | Skipped | Reused | Started | Finished
Progress = Callable[[Event], None]


def run_suite(
    instances: Sequence[Instance],
    entries: Sequence[Entry],
    *,
    store: Store,
    seeds: Sequence[int] = (0,),
    time_limit_s: float = 10.0,
    memory_limit_bytes: int | None = None,
    threads: int = 1,
    jobs: int = 1,
    rerun: bool = False,
    load_limit_s: float = 120.0,
    progress: Progress = lambda event: None,
) -> list[Record]:
    """Run every entry on every instance under every seed.

    Parameters
    ----------
    store : Store
        Where records go; good ones that are there are reused, failed ones run again.
    seeds : sequence of int
        Seeds of the methods' randomness.
    time_limit_s : float
        Limit of each run in seconds: building, solving and everything else in the method.
    memory_limit_bytes : int or None
        Address space of each process of a run.
    threads : int
        Threads that a method may use.
    jobs : int
        Runs at the same time.
    rerun : bool
        Run again what is there.
    load_limit_s : float
        Limit in seconds for loading the instance, imports and warm-up.
    progress : callable
        Called with each :data:`Event`, one at a time, from whatever thread.

    Returns
    -------
    list of Record
        One a run, in the order instance, entry, seed; runs that a method refuses are left out.

    Raises
    ------
    ValueError
        If a limit, `threads`, `jobs` or a seed is out of range.
    KeyboardInterrupt
        When interrupted, after the running children are ended; finished runs are stored.
    """
    raise NotImplementedError
