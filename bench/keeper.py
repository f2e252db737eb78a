"""The process between the harness and a run: ``python -m bench.keeper``, one a run.

It adopts what the run orphans (the kernel hands orphans to the nearest ancestor that asked for
them), so that nothing gets away by leaving its session, its parent and its environment at once:
the run is over when this process has no child left, and until then it kills. Should the harness
die, the line to it closes, and the keeper does the same. What a method does to its parent
(signals, SIGKILL included) it does to this process, and the harness goes on.

It imports little, since it is started for every run, and starts the worker by forking.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress
from typing import NamedTuple, NoReturn

TERMINATE, KILL = b"T", b"K"
_PR_SET_CHILD_SUBREAPER = 36
_CONTINUE_S = 5.0
_ROUNDS = 20
_DEAD = "ZX"


class Relative(NamedTuple):
    """A process below this one: parent, process group, state and start as the kernel has them."""

    parent: int
    group: int
    state: str
    start: str


def main(report: int, status: int, line: int, cgroup: str) -> NoReturn:
    """Start the worker, keep it, and end everything that comes of it.

    Parameters
    ----------
    report : int
        Descriptor for the worker's reports; not ours.
    status : int
        Descriptor to tell the harness: ``worker PID``, ``exited`` once it has, ``end STATUS CPU_S
        INSIDE OUTSIDE LEFT`` when all is over: the worker's wait status, CPU seconds of everything
        that was waited for, processes left behind in the worker's group and outside of it, and how
        many would not go.
    line : int
        Descriptor of the harness's commands, :data:`TERMINATE` and :data:`KILL`; closed by its
        death.
    cgroup : str
        Folder of the control group of the run; empty for none.
    """
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    me = os.getpid()
    worker = os.fork()
    if worker == 0:
        os.close(status)
        os.close(line)
        os.setsid()
        if cgroup:
            try:
                with open(os.path.join(cgroup, "cgroup.procs"), "r+") as file:
                    file.write("0")
            except OSError as error:
                print(f"[harness] no control group: {error}", file=sys.stderr, flush=True)
        from bench import worker as module  # in the child only: it imports numpy

        module.main(report, me)
    _keep_only(status, line)
    _tell(status, f"worker {worker}")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)  # from the method: the harness uses the line
    _watch(worker, status, line)
    _end(worker, status, cgroup)
    os._exit(0)


def _keep_only(*kept: int) -> None:
    """Close what is the worker's, so that its ends of the pipes are the only ones."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            with suppress(OSError):  # the listing's own
                os.close(int(name))


def _watch(worker: int, status: int, line: int) -> None:
    """Return when the worker has ended, or is to."""
    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(awake, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(line, select.POLLIN)
    poll.register(awake, select.POLLIN)
    while not _exited(worker):
        for descriptor, _ in poll.poll():
            if descriptor == awake:
                with suppress(BlockingIOError):
                    os.read(awake, 1 << 12)
                continue
            said = os.read(line, 64)
            if not said or KILL in said:
                return
            with suppress(ProcessLookupError):
                os.killpg(worker, signal.SIGTERM)
                os.killpg(worker, signal.SIGCONT)  # a stopped one would not hear it
    _tell(status, "exited")


def _exited(worker: int) -> bool:
    """Whether the worker has ended, which stays unreaped; adopted ones are reaped."""
    while True:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None or found.si_pid == worker:
            return found is not None
        os.waitpid(found.si_pid, 0)


def _end(worker: int, status: int, cgroup: str) -> None:
    """Kill until nobody is left, and tell what there was."""
    relatives = {pid: each for pid, each in _relatives().items() if pid != worker}
    left = [each for each in relatives.values() if each.state not in _DEAD]
    inside = sum(each.group == worker for each in left)
    exit_status = 0
    until = time.monotonic() + _CONTINUE_S
    _freeze()
    while True:
        if cgroup:
            with suppress(OSError), open(os.path.join(cgroup, "cgroup.kill"), "w") as file:
                file.write("1")
        relatives = _relatives()
        for pid, each in relatives.items():
            _signal(pid, each, signal.SIGKILL)
        try:
            while True:
                pid, code = os.waitpid(-1, os.WNOHANG)
                if pid == worker:
                    exit_status = code
                if pid == 0:
                    break
        except ChildProcessError:  # none left, and no descendant without an ancestor among them
            relatives = {}
            break
        if time.monotonic() > until:
            break
        time.sleep(0.001)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = used.ru_utime + used.ru_stime
    outside = len(left) - inside
    heard = _tell(status, f"end {exit_status} {cpu_s:.6f} {inside} {outside} {len(relatives)}")
    if cgroup and not heard:  # else the harness reads it, and removes it
        with suppress(OSError):
            os.rmdir(cgroup)


def _freeze() -> None:
    """Stop everyone, so that nobody forks while the others are killed."""
    stopped: set[int] = set()
    for _ in range(_ROUNDS):
        found = {p: r for p, r in _relatives().items() if r.state not in _DEAD}
        new = found.keys() - stopped
        if not new:
            return
        for pid in new:
            _signal(pid, found[pid], signal.SIGSTOP)
        stopped |= new


def _relatives() -> dict[int, Relative]:
    """All processes below this one; not every kernel lists a process's children."""
    every = {int(n): s for n in os.listdir("/proc") if n.isdigit() and (s := _stat(int(n)))}
    found: dict[int, Relative] = {}
    parents = {os.getpid()}
    while parents:
        below = {pid: s for pid, s in every.items() if s.parent in parents and pid not in found}
        found |= below
        parents = set(below)
    return found


def _stat(pid: int) -> Relative | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    # The name in brackets may hold anything, brackets too.
    parts = text[text.rfind(b")") + 2 :].decode().split()
    return Relative(int(parts[1]), int(parts[2]), parts[0], parts[19])


def _signal(pid: int, seen: Relative, number: signal.Signals) -> None:
    """Signal a process if the number is still that of the one that was seen."""
    with suppress(ProcessLookupError):
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        except OSError:  # an older kernel, or a container that forbids it
            descriptor = None
        try:
            now = _stat(pid)
            if now is None or now.start != seen.start:
                return
            if descriptor is None:
                os.kill(pid, number)
            else:
                signal.pidfd_send_signal(descriptor, number)
        finally:
            if descriptor is not None:
                os.close(descriptor)


def _tell(status: int, text: str) -> bool:
    try:
        os.write(status, f"{text}\n".encode())
    except OSError:  # the harness is dead
        return False
    return True


if __name__ == "__main__":
    _report, _status, _line = map(int, sys.argv[1:4])
    main(_report, _status, _line, sys.argv[4])
