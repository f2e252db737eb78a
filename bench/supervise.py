"""One child under a clock: start it, stamp what it reports, end it, and everything it started.

The clock is the supervisor's, and starts when the child is ready. Reports count by the moment of
their receipt. At the limit the process group gets SIGTERM, after the grace SIGKILL goes to all. The
child is started, and everything of it ended, by a process in between (:mod:`bench.keeper`).
"""

from __future__ import annotations

import os
import selectors
import time
from threading import Event
from typing import Literal

from bench import cgroups, frames
from bench.keeper import KILL, TERMINATE
from bench.kept import ENDING_S, KEEPER_S, Kept
from bench.outcome import Outcome

LOG_BYTES = 64 * 1024
GRACE_S = 1.0
# A method that stops at its deadline still has to hand over what it has before the limit strikes.
MARGIN_SHARE, MARGIN_S = 0.05, 0.25
_LINGER_S = 1.0
_POLL_S = 0.1
_SAMPLE_S = 0.25


def soft_limit(time_limit_s: float) -> float:
    """Seconds after the start of the clock that the method is told as its deadline."""
    return time_limit_s - min(MARGIN_S, MARGIN_SHARE * time_limit_s)


def supervise(
    task: frames.Task,
    *,
    nodes: int,
    time_limit_s: float,
    load_limit_s: float,
    grace_s: float = GRACE_S,
    stop: Event | None = None,
) -> Outcome:
    """Run one task in a process of its own; returns when nothing of it is left.

    Parameters
    ----------
    nodes : int
        Size of the instance, which bounds the size of a report.
    time_limit_s, load_limit_s, grace_s : float
        Seconds on the clock, before the clock, and between SIGTERM and SIGKILL.
    stop : threading.Event, optional
        Ends the run early when set.
    """
    supervisor = _Supervisor(task, nodes, time_limit_s, load_limit_s, grace_s, stop or Event())
    try:
        return supervisor.run()
    finally:
        supervisor.close()


class _Supervisor:
    def __init__(
        self,
        task: frames.Task,
        nodes: int,
        time_limit_s: float,
        load_limit_s: float,
        grace_s: float,
        stop: Event,
    ) -> None:
        self.time_limit_s, self.grace_s, self.stop = time_limit_s, grace_s, stop
        self.memory_limit_bytes = task.memory_limit_bytes
        self.outcome = Outcome(load_limit_s=load_limit_s)
        self.parser = frames.Parser(frames.size_limit(nodes))
        self.phase: Literal["load", "run", "over"] = "load"
        self.began = time.monotonic()
        self.zero = self.limit = float("inf")  # the clock's start and end
        self.kill_at = self.began + load_limit_s
        self.next_sample = float("inf")
        self.log = bytearray()
        self.exited = float("inf")  # when the leader was seen to have ended
        self.kept = Kept(task)
        self.selector = selectors.DefaultSelector()
        for pipe, serve in (
            (self.kept.report, self._on_report),
            (self.kept.output, self._on_output),
            (self.kept.status, self._on_status),
        ):
            self.selector.register(pipe, selectors.EVENT_READ, serve)

    def run(self) -> Outcome:
        """Serve the child until nothing of it is left."""
        while self.kept.end is None and not self.kept.lost:
            self._serve(self._timeout())
            self._enforce(time.monotonic())
        self._drain()
        self._end(time.monotonic())
        return self.outcome

    def close(self) -> None:
        """End and forget everything, whatever happened before."""
        self.selector.close()
        self.kept.close()

    def _timeout(self) -> float:
        now = time.monotonic()
        return max(0.0, min(_POLL_S, self.limit - now, self.kill_at - now, self.next_sample - now))

    def _serve(self, timeout: float) -> bool:
        """Read what is there; False where there was nothing."""
        ready = self.selector.select(timeout)
        for key, _ in ready:
            if key.fd not in self.selector.get_map():
                continue  # served meanwhile, when the leader's exit was told
            try:
                data = os.read(key.fd, 1 << 18)
            except BlockingIOError:
                continue
            if data:
                key.data(data)
            else:
                self.selector.unregister(key.fd)
                if key.fd == self.kept.status and self.kept.end is None:
                    self.kept.lost = True
        return bool(ready)

    def _drain(self) -> None:
        for _ in range(64):  # a leftover that floods the pipes must not hold us
            if not self._serve(0):
                break

    def _on_output(self, data: bytes) -> None:
        self.log += data
        del self.log[:-LOG_BYTES]

    def _on_status(self, data: bytes) -> None:
        if self.kept.told(data):
            self._on_exit()

    def _on_exit(self) -> None:
        """The leader has ended: what it said is in the pipes, and nothing after that counts."""
        self.exited = time.monotonic()
        self._drain()
        if self.phase == "run":
            if self.exited > self.limit:  # before we looked at the clock
                self._strike("time", self.exited)
            self._over(self.exited)
        self.kill_at = self.exited + ENDING_S

    def _on_report(self, data: bytes) -> None:
        now = time.monotonic()
        for kind, body in self.parser.feed(data):
            if kind == frames.ANSWER and self.phase == "run":
                if now <= self.limit:
                    self.outcome.answers.add((now - self.zero, body), len(body))
                else:
                    self.outcome.late += 1
                continue
            try:
                frame = frames.unpack(kind, body)
            except ValueError:
                self.outcome.malformed += 1
                continue
            self._on_frame(frame, now)

    def _on_frame(self, frame: frames.Frame, now: float) -> None:
        outcome = self.outcome
        if isinstance(frame, frames.Ready) and self.phase == "load":
            outcome.ready = frame
            outcome.warm_s = frame.warm_s
            outcome.load_s = max(0.0, now - self.began - frame.warm_s)
            self._start_clock()
        elif self.phase == "over" or now > self.limit:
            return  # too late to matter
        elif isinstance(frame, frames.Failed):
            outcome.failed = frame
            self._over(now)
        elif self.phase == "load":
            outcome.malformed += 1
        elif isinstance(frame, frames.Done):
            outcome.done = True
            self.kept.tree.peak_bytes = max(self.kept.tree.peak_bytes, frame.peak_bytes)
            self._over(now)
        elif isinstance(frame, frames.BoundFrame):
            outcome.add_bound(now - self.zero, frame.value)
        elif isinstance(frame, frames.ClaimFrame):
            outcome.claim = frame
        elif isinstance(frame, frames.Built):
            if outcome.build_s is None:
                outcome.build_s = now - self.zero
        else:
            outcome.malformed += 1

    def _start_clock(self) -> None:
        self.phase = "run"
        self.zero = time.monotonic()
        self.limit = self.zero + self.time_limit_s
        self.kill_at = float("inf")
        self.next_sample = self.zero + 0.05
        self.kept.send(frames.Go(self.zero + soft_limit(self.time_limit_s)))

    def _over(self, now: float) -> None:
        """The method has ended; its process should now, too."""
        if self.phase == "run":
            self.outcome.wall_s = now - self.zero
        self.phase = "over"
        self.kill_at = now + _LINGER_S

    def _enforce(self, now: float) -> None:
        if self.phase == "run" and now > self.limit and not self.outcome.struck:
            self._strike("time", now + self.grace_s)
            self.kept.command(TERMINATE)
        if now >= self.next_sample:
            self.next_sample = now + _SAMPLE_S
            used = self.kept.tree.sample()
            if self.memory_limit_bytes is not None and used > self.memory_limit_bytes:
                self._strike("memory", now)
        if self.stop.is_set():
            self._strike("stop", now)
        if now >= self.kill_at:
            if self.phase == "load":
                self._strike("load", now)
            if self.outcome.killed or self.exited < now:  # it was told, or is at it, for long
                self.kept.process.kill()
            self.outcome.killed = True
            self.kept.command(KILL)
            self.kill_at = now + KEEPER_S

    def _strike(self, what: Literal["time", "memory", "load", "stop"], kill_at: float) -> None:
        if self.phase == "over" and what != "stop":
            return
        self.outcome.struck = self.outcome.struck or what
        self.kill_at = min(self.kill_at, kill_at)

    def _end(self, now: float) -> None:
        outcome = self.outcome
        ended_by_us = bool(outcome.struck) or outcome.killed
        exited = min(self.exited, now)
        end = self.kept.end
        if end is None:
            outcome.notes.append("the process that keeps the run was killed")
            end = self.kept.end_without_keeper()
        outcome.exit = os.waitstatus_to_exitcode(end.status)
        # What we end together with its leader was not left behind, unless it had got away.
        outcome.orphans = end.outside + (0 if ended_by_us else end.inside)
        if end.left:
            outcome.notes.append("a process of the run could not be killed")
        if cgroups.ran_out(self.kept.cgroup) and not outcome.done:
            outcome.struck = outcome.struck or "memory"
        if outcome.ready is not None:
            outcome.cpu_s = max(0.0, end.cpu_s - outcome.ready.cpu_s)
        if self.phase == "run":
            outcome.wall_s = exited - self.zero
        elif outcome.ready is None:  # the clock never ran: what there was is loading
            outcome.load_s = max(0.0, exited - self.began)
        last = time.monotonic() if end.inside + end.outside else exited
        outcome.overrun_s = max(0.0, last - self.limit)
        outcome.peak_bytes = self.kept.tree.peak_bytes
        outcome.oversized = self.parser.oversized
        outcome.log = self.log.decode(errors="replace")
