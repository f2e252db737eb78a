"""Control groups (version 2) around runs, where this user may make any; the rest does without.

A group makes killing atomic and, where the memory controller is on, holds the memory of all
processes of a run together. Without it orphans are adopted and killed by :mod:`bench.keeper`, and
memory is limited for each process by the kernel and sampled for all together.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

_NAME = re.compile(r"placebench-run-(\d+)-.+")
PROC = Path("/proc/self")


def make(tag: str, memory_limit_bytes: int | None) -> Path | None:
    """A new group for a run; None where there can be none.

    Parameters
    ----------
    memory_limit_bytes : int or None
        For all processes together, swap included; set where the memory controller is on.
    """
    for parent in parents():
        path = parent / f"placebench-run-{os.getpid()}-{tag}"
        try:
            path.mkdir()
        except OSError:
            continue
        if memory_limit_bytes is not None:
            with suppress(OSError):  # no such controller here: sampling does it
                _set(path / "memory.max", memory_limit_bytes)
                _set(path / "memory.swap.max", 0)
                _set(path / "memory.oom.group", 1)
        return path
    return None


def describe() -> str:
    """What control groups do for runs here, for the description of the environment."""
    path = make("probe", None)
    if path is None:
        return "none: no control group (version 2) may be made here"
    held = (path / "memory.max").exists()
    path.rmdir()
    return "kill, memory" if held else "kill; memory is limited by process and sampled"


def ran_out(path: Path | None) -> bool:
    """Whether the kernel killed in a group for want of memory."""
    if path is not None:
        with suppress(OSError):
            events = dict(map(str.split, (path / "memory.events").read_text().splitlines()))
            return int(events.get("oom_kill", 0)) > 0
    return False


def members(path: Path | None) -> set[int]:
    """Processes that are in a group."""
    if path is not None:
        with suppress(OSError):
            return set(map(int, (path / "cgroup.procs").read_text().split()))
    return set()


def kill(path: Path | None) -> None:
    """Kill everything in a group at once."""
    if path is not None:
        with suppress(OSError):
            _set(path / "cgroup.kill", 1)


def remove(path: Path | None) -> None:
    """Remove an empty group."""
    if path is not None:
        with suppress(OSError):
            path.rmdir()


def remove_stale() -> list[Path]:
    """Kill and remove the groups of harnesses that are dead; returns them."""
    removed = []
    for parent in parents():
        for path in parent.glob("placebench-run-*"):
            match = _NAME.fullmatch(path.name)
            if match and not psutil.pid_exists(int(match[1])):
                kill(path)
                remove(path)
                removed.append(path)
    return removed


def parents() -> list[Path]:
    """Groups in which ours may be made: this process's and the one above; memory's first.

    A group that has processes cannot divide its memory among groups within it; where a session
    manager delegates, the one above it can.
    """
    found = [path for path in _own() if os.access(path, os.W_OK)]
    return sorted(found, key=lambda path: not _divides_memory(path))


def _own() -> Iterator[Path]:
    with suppress(OSError, StopIteration):
        mounts = (line.split() for line in (PROC / "mountinfo").read_text().splitlines())
        root = next(Path(each[4]) for each in mounts if each[each.index("-") + 1] == "cgroup2")
        lines = (PROC / "cgroup").read_text().splitlines()
        name = next(line[3:] for line in lines if line.startswith("0::"))
        path = root / name.lstrip("/")
        if path.is_dir():
            yield path
        if path != root and path.parent.is_dir():
            yield path.parent


def _divides_memory(path: Path) -> bool:
    with suppress(OSError):
        return "memory" in (path / "cgroup.subtree_control").read_text().split()
    return False


def _set(path: Path, value: int) -> None:
    with path.open("r+") as file:  # never creates a file, should this be no control group
        file.write(f"{value}\n")
