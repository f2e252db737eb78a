"""What the supervisor saw of one run, before anything is judged, and how it is classified."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from bench import frames
from bench.records import Termination

T = TypeVar("T")
OUT_OF_MEMORY = re.compile(
    r"bad_alloc|MemoryError|[Oo]ut of memory|Cannot allocate memory|failed to map segment"
)


class Series(Generic[T]):
    """Items as they come, thinned by halves when they grow too many; first and last stay."""

    def __init__(self, items: int, total_bytes: int = 1 << 62) -> None:
        self._most, self._most_bytes = items, total_bytes
        self._kept: list[tuple[T, int]] = []
        self._last: tuple[T, int] | None = None
        self._bytes = 0
        self._stride = 1
        self.count = 0

    def add(self, item: T, size: int = 0) -> None:
        """Append an item of `size` bytes."""
        self._last = (item, size)
        if self.count % self._stride == 0:
            self._kept.append(self._last)
            self._bytes += size
            while len(self._kept) > 2 and (
                len(self._kept) > self._most or self._bytes > self._most_bytes
            ):
                self._kept = self._kept[::2]
                self._bytes = sum(each for _, each in self._kept)
                self._stride *= 2
        self.count += 1

    @property
    def last(self) -> T | None:
        """The latest item."""
        return None if self._last is None else self._last[0]

    def __iter__(self) -> Iterator[T]:
        for item, _ in self._kept:
            yield item
        if self._last is not None and self._kept[-1] is not self._last:
            yield self._last[0]


@dataclass
class Outcome:
    """One run as the supervisor saw it.

    Attributes
    ----------
    struck : str
        Which limit ended it: ``time``, ``memory``, ``load``, ``stop`` (asked for); empty for none.
    exit : int
        Exit status; minus the signal's number where one ended the process.
    load_limit_s : float
        What loading and warm-up may take together.
    killed : bool
        SIGKILL was needed.
    answers : Series of (float, bytes)
        Seconds on the clock and body of an answer frame; received within the limit.
    build_s : float or None
        Seconds on the clock until the method said that its model was built.
    late, malformed, oversized : int
        Answers after the limit; frames that are none; frames too large to be read.
    """

    struck: Literal["", "time", "memory", "load", "stop"] = ""
    ready: frames.Ready | None = None
    failed: frames.Failed | None = None
    done: bool = False
    exit: int = 0
    killed: bool = False
    answers: Series[tuple[float, bytes]] = field(default_factory=lambda: Series(2000, 64 << 20))
    bounds: Series[tuple[float, float]] = field(default_factory=lambda: Series(200))
    best_bound: float | None = None
    claim: frames.ClaimFrame | None = None
    build_s: float | None = None
    load_limit_s: float = 0.0
    load_s: float = 0.0
    warm_s: float = 0.0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    overrun_s: float = 0.0
    peak_bytes: int = 0
    orphans: int = 0
    late: int = 0
    malformed: int = 0
    oversized: int = 0
    log: str = ""
    notes: list[str] = field(default_factory=list)

    def add_bound(self, t: float, value: float) -> None:
        """Note a reported bound; only finite ones that are better than what was reported before."""
        if math.isfinite(value) and (self.best_bound is None or value > self.best_bound):
            self.best_bound = value
            self.bounds.add((t, value))

    def all_notes(self) -> list[str]:
        """What the record should say besides its fields."""
        counted = (
            (self.late, "answers came after the limit and do not count"),
            (self.malformed, "frames were malformed"),
            (self.oversized, "frames were too large and were not read"),
        )
        return [*self.notes, *(f"{count} {what}" for count, what in counted if count)]


def classify(outcome: Outcome) -> tuple[Termination, str, str]:
    """How a run ended, in the closed vocabulary.

    A limit that struck comes before everything else, since what happened after it is its doing;
    then what the process said; then how it left.

    Returns
    -------
    (termination, signal, error)
        Name of the signal that ended the process; the reason in the first line, then any traceback.
    """
    name = _signal_name(-outcome.exit) if outcome.exit < 0 else ""
    where = "" if outcome.ready is not None else "while loading: "
    if outcome.struck == "time":
        return "time-limit", name, ""
    if outcome.struck == "memory":
        return "memory-limit", name, "the processes of the run together exceeded the limit"
    if outcome.struck == "load":
        limit = f"{outcome.load_limit_s:g} s (--warm-time)"
        return "error", name, f"loading and warm-up took longer than their limit of {limit}"
    if outcome.failed is not None:
        kind: Termination = "memory-limit" if outcome.failed.memory else "error"
        return kind, "", where + outcome.failed.error
    if outcome.done:
        return ("completed" if outcome.answers.count else "no-answer"), "", ""
    # Status 1 is Python's own: without memory it cannot report what was raised.
    if outcome.exit in (-signal.SIGABRT, 1) and OUT_OF_MEMORY.search(outcome.log):
        return "memory-limit", name, f"{where}{_last_line(outcome.log)}"
    if name:
        return "crash", name, f"{where}ended by {name}"
    return "crash", "", f"{where}left with exit status {outcome.exit} before the method returned"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if OUT_OF_MEMORY.search(line)]
    return lines[-1][:500]
