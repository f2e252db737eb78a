"""The supervisor's hold on one run: its keeper, the pipes to both, and what ends all of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import uuid
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from bench import cgroups, frames
from bench.leftovers import make_folder
from bench.processes import TAG, Tree

ROOT = Path(__file__).resolve().parent.parent
KEEPER_S = 1.0  # for it to do as it is told
ENDING_S = 10.0  # for it to end what will not go
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip


class End(NamedTuple):
    """The keeper's last words; see :func:`bench.keeper.main`."""

    status: int
    cpu_s: float
    inside: int
    outside: int
    left: int


class Kept:
    """A run started by a keeper of its own.

    Attributes
    ----------
    report, output, status : int
        Our ends of the pipes of the worker's reports, of what both print, and of what the keeper
        tells; they do not block.
    process : subprocess.Popen
        The keeper.
    worker : int
        Number of the run's process; 0 until it is told.
    end : End or None
        What the keeper told when all was over.
    lost : bool
        The keeper has gone without that.
    """

    def __init__(self, task: frames.Task) -> None:
        self.worker = 0
        self.end: End | None = None
        self.lost = False
        self._said = b""
        with ExitStack() as undo:  # nothing is left behind should the start fail
            folder = make_folder()
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            tag = uuid.uuid4().hex
            self.cgroup = cgroups.make(tag, task.memory_limit_bytes)
            undo.callback(cgroups.remove, self.cgroup)
            pipes = [_pipe(undo) for _ in range(3)]
            self.report, self.output, self.status = (ours for ours, _ in pipes)
            report, output, status = (theirs for _, theirs in pipes)
            line, self.line = os.pipe()
            self._held = undo.enter_context(ExitStack())
            self._held.callback(os.close, self.line)
            arguments = [*map(str, (report, status, line)), str(self.cgroup or "")]
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "bench.keeper", *arguments],
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=output,
                    pass_fds=(report, status, line, task.instance, task.tiny),
                    start_new_session=True,
                    cwd=folder,
                    env=_environment(task, folder, tag),
                )
            finally:
                for each in (report, output, status, line):
                    os.close(each)
            self._undo = undo.pop_all()
        self.tree = Tree(self.process.pid, tag)
        self.send(task)

    def send(self, frame: frames.Frame) -> None:
        """Write to the worker."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it died: the supervisor sees that next
            self.process.stdin.write(frames.pack(frame))
            self.process.stdin.flush()

    def command(self, what: bytes) -> None:
        """Tell the keeper; a method may have stopped it."""
        with suppress(OSError):  # it died: the supervisor sees that next
            self.process.send_signal(signal.SIGCONT)
            os.write(self.line, what)

    def told(self, data: bytes) -> bool:
        """Take in what the keeper says; True where it says that the worker has ended."""
        exited = False
        *lines, self._said = (self._said + data).split(b"\n")
        for line in lines:
            words = line.split()
            if words == [b"exited"]:
                exited = True
            elif words[:1] == [b"worker"] and len(words) == 2:
                self.worker = int(words[1])
            elif words[:1] == [b"end"] and len(words) == 6:
                status, cpu_s, *numbers = words[1:]
                self.end = End(int(status), float(cpu_s), *map(int, numbers))
        return exited

    def end_without_keeper(self) -> End:
        """Somebody killed the keeper: the leader died with it; end what else can be found."""
        self.process.kill()
        self.process.wait()
        found = {each.pid for each in self.tree.leftovers()} | cgroups.members(self.cgroup)
        cgroups.kill(self.cgroup)
        gone = self.tree.kill_all()
        orphans = len(found - {self.worker})
        return End(signal.SIGKILL, self.tree.leftover_cpu_s, 0, orphans, int(not gone))

    def close(self) -> None:
        """End and forget everything, whatever happened before."""
        self._held.close()  # the keeper ends all when the line closes
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        if self.process.returncode is None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(ENDING_S if self.end is None else KEEPER_S)
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()
            self.lost = True
        if self.lost or self.end is None:
            cgroups.kill(self.cgroup)
            self.tree.kill_all()
        self._undo.close()


def _pipe(undo: ExitStack) -> tuple[int, int]:
    """Both ends of a pipe: the reading one, ours, and the child's."""
    ours, theirs = os.pipe()
    undo.callback(os.close, ours)
    os.set_blocking(ours, False)
    return ours, theirs


def _environment(task: frames.Task, folder: str, tag: str) -> dict[str, str]:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        **dict.fromkeys(_THREAD_VARIABLES, str(task.threads)),
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONHASHSEED": str(task.hash_seed),
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
        "TMPDIR": folder,
        "PLACEBENCH_SUPERVISOR": str(os.getpid()),
        TAG: tag,
    }
