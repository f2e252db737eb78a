"""Processes of a run: its tree while it lives, and what is found of it without its keeper.

Linux only: reads /proc.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import psutil

TAG = "PLACEBENCH_RUN"


class Tree:
    """The process of a run and its descendants, as far as samples have seen them.

    Parameters
    ----------
    pid : int
        The keeper, whose own memory does not count.
    tag : str
        Value of :data:`TAG` in its environment, which descendants inherit.
    """

    def __init__(self, pid: int, tag: str) -> None:
        self.pid = pid
        self.tag = tag
        self.peak_bytes = 0
        self._seen: set[psutil.Process] = set()
        self._cpu: dict[psutil.Process, float] = {}

    def sample(self) -> int:
        """Look at the tree; returns its resident memory in bytes."""
        total = 0
        with suppress(psutil.Error):
            for child in psutil.Process(self.pid).children(recursive=True):
                self._seen.add(child)
                with suppress(psutil.Error):
                    total += child.memory_info().rss
                    self.peak_bytes = max(self.peak_bytes, _high_water(child.pid))
        self.peak_bytes = max(self.peak_bytes, total)
        return total

    def leftovers(self) -> list[psutil.Process]:
        """Living processes of the run besides the keeper: those seen, and those with the tag."""
        found = {p for p in self._seen if _is_alive(p)}
        for pid in _tagged(self.tag) - {self.pid}:
            with suppress(psutil.Error):
                process = psutil.Process(pid)
                if _is_alive(process):
                    found.add(process)
        return sorted(found, key=lambda process: process.pid)

    def kill_all(self, within_s: float = 5.0) -> bool:
        """Kill every leftover until none is found; False where some will not go."""
        end = time.monotonic() + within_s
        while left := self.leftovers():
            for process in left:
                with suppress(psutil.Error):
                    times = process.cpu_times()
                    self._cpu[process] = times.user + times.system
                    process.kill()
            if time.monotonic() > end:
                return False
            time.sleep(0.002)
        return True

    @property
    def leftover_cpu_s(self) -> float:
        """CPU seconds of the leftovers when they were killed."""
        return sum(self._cpu.values())


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _tagged(tag: str) -> set[int]:
    """Processes whose environment carries the tag; exec with another environment hides one."""
    needle = f"{TAG}={tag}".encode()
    found: set[int] = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError):  # another user's, or gone
                if needle in Path("/proc", entry, "environ").read_bytes():
                    found.add(int(entry))
    return found


def _high_water(pid: int) -> int:
    """Largest resident memory of one process so far, in bytes."""
    with suppress(OSError):
        for line in Path("/proc", str(pid), "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
