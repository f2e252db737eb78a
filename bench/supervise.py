"""One child under a clock: start it, stamp what it reports, end it, and everything it started.

The clock is the supervisor's, and starts when the child is ready. Reports count by the moment of
their receipt. At the limit the process group gets SIGTERM, after the grace SIGKILL.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event
from typing import Literal

from bench import frames
from bench.leftovers import make_folder
from bench.outcome import Outcome
from bench.processes import TAG, Tree

ROOT = Path(__file__).resolve().parent.parent
LOG_BYTES = 64 * 1024
GRACE_S = 1.0
# A method that stops at its deadline still has to hand over what it has before the limit strikes.
MARGIN_SHARE, MARGIN_S = 0.05, 0.25
_LINGER_S = 1.0
_POLL_S = 0.02
_SAMPLE_S = 0.25
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip


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
        self.outcome = Outcome()
        self.parser = frames.Parser(frames.size_limit(nodes))
        self.phase: Literal["load", "run", "over"] = "load"
        self.began = time.monotonic()
        self.zero = self.limit = float("inf")  # the clock's start and end
        self.kill_at = self.began + load_limit_s
        self.next_sample = float("inf")
        self.log = bytearray()
        with ExitStack() as undo:  # nothing is left behind should the start fail
            self.folder = make_folder()
            undo.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self.selector = selectors.DefaultSelector()
            undo.callback(self.selector.close)
            self.report, report_child = self._pipe(undo, self._on_report)
            _, output_child = self._pipe(undo, self._on_output)
            tag = uuid.uuid4().hex
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "bench.worker", str(report_child)],
                    stdin=subprocess.PIPE,
                    stdout=output_child,
                    stderr=output_child,
                    pass_fds=(report_child, task.instance, task.tiny),
                    start_new_session=True,
                    cwd=self.folder,
                    env=_environment(task.threads, self.folder, tag),
                )
            finally:
                os.close(report_child)
                os.close(output_child)
            self.undo = undo.pop_all()
        self.tree = Tree(self.process.pid, tag)
        self._send(task)

    def _pipe(self, undo: ExitStack, serve: Callable[[bytes], None]) -> tuple[int, int]:
        """A pipe whose reading end, ours, is served by a method; returns both ends."""
        ours, childs = os.pipe()
        undo.callback(os.close, ours)
        os.set_blocking(ours, False)
        self.selector.register(ours, selectors.EVENT_READ, serve)
        return ours, childs

    def run(self) -> Outcome:
        """Serve the child until it has ended."""
        while not self._has_exited():
            self._serve(self._timeout())
            self._enforce(time.monotonic())
        exited = time.monotonic()
        self._drain()
        self._end(exited)
        return self.outcome

    def close(self) -> None:
        """End and forget everything, whatever happened before."""
        if self.process.returncode is None:
            self.tree.kill_group(signal.SIGKILL)
            self._reap()
        self.tree.kill_all()
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        self.undo.close()

    def _timeout(self) -> float:
        if self.report not in self.selector.get_map():
            return 0.001  # the child closed its end: it is about to be gone
        now = time.monotonic()
        return max(0.0, min(_POLL_S, self.limit - now, self.kill_at - now, self.next_sample - now))

    def _serve(self, timeout: float) -> bool:
        """Read what is there; False where there was nothing."""
        ready = self.selector.select(timeout)
        for key, _ in ready:
            try:
                data = os.read(key.fd, 1 << 18)
            except BlockingIOError:
                continue
            if data:
                key.data(data)
            else:
                self.selector.unregister(key.fd)
        return bool(ready)

    def _drain(self) -> None:
        for _ in range(64):  # a leftover that floods the pipes must not hold us
            if not self._serve(0):
                break

    def _on_output(self, data: bytes) -> None:
        self.log += data
        del self.log[:-LOG_BYTES]

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
            self.tree.peak_bytes = max(self.tree.peak_bytes, frame.peak_bytes)
            self._over(now)
        elif isinstance(frame, frames.BoundFrame):
            outcome.add_bound(now - self.zero, frame.value)
        elif isinstance(frame, frames.ClaimFrame):
            outcome.claim = frame
        else:
            outcome.malformed += 1

    def _start_clock(self) -> None:
        self.phase = "run"
        self.zero = time.monotonic()
        self.limit = self.zero + self.time_limit_s
        self.kill_at = float("inf")
        self.next_sample = self.zero + 0.05
        self._send(frames.Go(self.zero + soft_limit(self.time_limit_s)))

    def _over(self, now: float) -> None:
        """The method has ended; its process should now, too."""
        if self.phase == "run":
            self.outcome.wall_s = now - self.zero
        self.phase = "over"
        self.kill_at = now + _LINGER_S

    def _enforce(self, now: float) -> None:
        if self.phase == "run" and now > self.limit and not self.outcome.struck:
            self._strike("time", now + self.grace_s)
            self.tree.kill_group(signal.SIGTERM)
        if now >= self.next_sample:
            self.next_sample = now + _SAMPLE_S
            used = self.tree.sample()
            if self.memory_limit_bytes is not None and used > self.memory_limit_bytes:
                self._strike("memory", now)
        if self.stop.is_set():
            self._strike("stop", now)
        if now >= self.kill_at:
            if self.phase == "load":
                self._strike("load", now)
            self.outcome.killed = True
            self.tree.kill_group(signal.SIGKILL)
            self.kill_at = now + 0.1  # again, should it not have gone

    def _strike(self, what: Literal["time", "memory", "load", "stop"], kill_at: float) -> None:
        if self.phase == "over" and what != "stop":
            return
        self.outcome.struck = self.outcome.struck or what
        self.kill_at = min(self.kill_at, kill_at)

    def _has_exited(self) -> bool:
        """Whether the leader has ended; it stays unreaped, so that its group keeps its number."""
        found = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return found is not None

    def _end(self, exited: float) -> None:
        outcome = self.outcome
        ended_by_us = bool(outcome.struck) or outcome.killed
        left = self.tree.leftovers()
        # What we end together with its leader was not left behind, unless it had got away.
        outcome.orphans = sum(not (ended_by_us and self.tree.in_group(each)) for each in left)
        self.tree.kill_group(signal.SIGKILL)
        if left and not self.tree.kill_all():
            outcome.notes.append("a process of the run could not be killed")
        cpu_s = self._reap() + self.tree.leftover_cpu_s
        if outcome.ready is not None:
            outcome.cpu_s = max(0.0, cpu_s - outcome.ready.cpu_s)
        if self.phase == "run":
            outcome.wall_s = exited - self.zero
        outcome.overrun_s = max(0.0, (time.monotonic() if left else exited) - self.limit)
        outcome.peak_bytes = self.tree.peak_bytes
        outcome.oversized = self.parser.oversized
        outcome.log = self.log.decode(errors="replace")

    def _reap(self) -> float:
        """Collect the leader; returns the CPU seconds of it and of the children it waited for."""
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = self.outcome.exit = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime

    def _send(self, frame: frames.Frame) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it died: the loop sees that next
            self.process.stdin.write(frames.pack(frame))
            self.process.stdin.flush()


def _environment(threads: int, folder: str, tag: str) -> dict[str, str]:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        **dict.fromkeys(_THREAD_VARIABLES, str(threads)),
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
        "TMPDIR": folder,
        "PLACEBENCH_SUPERVISOR": str(os.getpid()),
        TAG: tag,
    }
