"""Progress of a suite run: live lines on a terminal, one plain line a finished run in a pipe."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from bench import results
from bench.leaderboard.words import seconds
from bench.records import Record
from bench.suite import Event, Finished, Notice, Planned, Reused, Run, Skipped, Started


class Progress(AbstractContextManager["Progress"]):
    """Counts events; subclasses show them.

    One plan after the other: the next one begins to count anew.

    Attributes
    ----------
    finished, reused : list of Record
    skipped : Counter of (str, str)
        (entry, reason) -> runs.
    """

    def __init__(self) -> None:
        self.plan = Planned(0, 0, 0, 0.0, 1)
        self.finished: list[Record] = []
        self.reused: list[Record] = []
        self.skipped: Counter[tuple[str, str]] = Counter()
        self.running: dict[int, tuple[Run, float]] = {}

    def __call__(self, event: Event) -> None:
        """Take an event of the suite."""
        if isinstance(event, Planned):
            self.plan = event
            for each in (self.finished, self.reused, self.skipped, self.running):
                each.clear()
        elif isinstance(event, Skipped):
            self.skipped[event.run.entry, event.reason] += 1
        elif isinstance(event, Reused):
            self.reused.append(event.record)
        elif isinstance(event, Started):
            self.running[event.run.index] = (event.run, time.monotonic())
        elif isinstance(event, Notice):
            self.notice(event.text)
        else:
            self.running.pop(event.run.index, None)
            self.finished.append(event.record)
            self.show(event)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the terminal as it was."""

    def show(self, event: Finished) -> None:
        """Show a finished run."""

    def notice(self, text: str) -> None:
        """Show what belongs to no run."""

    @property
    def total(self) -> int:
        """Runs that this harness makes: those planned, without what another has made meanwhile."""
        return self.plan.to_run - max(0, len(self.reused) - self.plan.reused)

    def time_left(self) -> float:
        """Seconds, from the mean duration of the runs so far; from the limit before the first."""
        count = len(self.finished)
        waiting = max(0, self.total - count)
        if not count:
            each = self.plan.time_limit_s
        else:
            each = sum(r.load_s + r.warm_s + r.wall_s for r in self.finished) / count
        return waiting * each / max(1, self.plan.jobs)


class Plain(Progress):
    """One line a finished run."""

    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._out = out

    def __call__(self, event: Event) -> None:
        """Say what is planned, then what is finished."""
        super().__call__(event)
        if isinstance(event, Planned):
            print(plan_text(event), file=self._out, flush=True)

    def show(self, event: Finished) -> None:
        """Print the line."""
        record, run = event.record, event.run
        width = len(str(self.total))
        print(
            f"[{len(self.finished):{width}}/{self.total}] {outcome(record)}"
            f"  {run.entry}  {run.instance}  seed {run.seed}  ({_took(record)})",
            file=self._out,
            flush=True,
        )

    def notice(self, text: str) -> None:
        """Print the line."""
        print(text, file=self._out, flush=True)


class Lively(Progress):
    """One line a running job and a bar over all."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._live = Live(
            console=console, get_renderable=self._render, refresh_per_second=4, transient=True
        )
        self._console = console

    def __enter__(self) -> Lively:
        """Start drawing."""
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop drawing."""
        self._live.stop()

    def show(self, event: Finished) -> None:
        """Leave a line for what went wrong; the rest is in the table at the end."""
        if results.failed(event.record):
            line = Text(f"{event.run.entry}  {event.run.instance}: ", style="red")
            line.append(results.reason(event.record))
            self._console.print(line, overflow="ellipsis", no_wrap=True)

    def notice(self, text: str) -> None:
        """Leave the line."""
        self._console.print(Text(text, style="yellow"))

    def _render(self) -> RenderableType:
        done, total = len(self.finished), self.total
        jobs = Table.grid(padding=(0, 1), expand=True)
        jobs.add_column(justify="right", no_wrap=True, min_width=7)
        jobs.add_column(no_wrap=True, overflow="ellipsis", max_width=28)
        jobs.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        jobs.add_column(justify="right", no_wrap=True)
        # A copy: events arrive from other threads than the one that draws.
        for run, since in list(self.running.values()):
            elapsed = f"{time.monotonic() - since:.0f} s"
            jobs.add_row(elapsed, Text(run.entry), Text(run.instance), f"seed {run.seed}")
        overall = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=max(total, 1), completed=done, width=30)
        left = f"about {clock(self.time_left())} left" if done < total else "finishing"
        bad = sum(map(results.failed, list(self.finished)))
        text = f"{done}/{total} runs, {left}"
        overall.add_row(bar, text, Text(f"{bad} failed", style="red") if bad else "")
        return Group(jobs, overall)


def outcome(record: Record) -> str:
    """``ok 12.3 ms``, or why the run failed or has no valid answer."""
    if record.objective is not None and not results.failed(record):
        return f"ok {seconds(record.objective)}"
    return results.reason(record)


def _took(record: Record) -> str:
    """The clock of the run; where it was never started, how long loading took."""
    if record.wall_s == 0 and record.load_s:
        return f"after {record.load_s:.2f} s of loading"
    return f"{record.wall_s:.2f} s"


def plan_text(plan: Planned) -> str:
    """What is going to happen, in one line."""
    runs = f"{plan.to_run} run{'s' if plan.to_run != 1 else ''}"
    text = f"{runs} of at most {seconds(plan.time_limit_s)}, {plan.jobs} at a time"
    text += f"; {plan.reused} reused" if plan.reused else ""
    return text + (f"; {plan.skipped} skipped" if plan.skipped else "")


def clock(value: float) -> str:
    """``45 s``, ``3 min``, ``2 h 05 min``."""
    if value < 90:
        return f"{max(1, round(value))} s"
    minutes = round(value / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"
