"""What a suite says while it runs: one event at a time, to whoever shows progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from bench.records import Record


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
    """How many runs are to be made, reused and skipped, and the limit of each; comes first.

    Only notices may come before. `jobs` is how many run at the same time; on a cluster, as far as
    workers have joined by then.
    """

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
    """A good record was in the store, or another harness has put one there meanwhile."""

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


@dataclass(frozen=True)
class Notice:
    """Something the user should know that belongs to no record: a worker was lost."""

    text: str


Event = Planned | Skipped | Reused | Started | Finished | Notice
Progress = Callable[[Event], None]


class Reporter:
    """Hands events to the caller, one at a time."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._lock = Lock()

    def __call__(self, event: Event) -> None:
        """Hand on one event."""
        with self._lock:
            self._progress(event)
