"""The processor and its cores, with the standard library only: a campaign has no more."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cpu_model() -> str:
    """Model name of the processor, as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:  # not a Linux
        return platform.processor() or platform.machine()
    found = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)
    }
    if "model name" not in found:
        return platform.machine()
    family = ", ".join(f"{k} {found[k]}" for k in ("cpu family", "model") if k in found)
    return f"{found['model name']} ({family})"


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pin(pid: int, count: int, first: int = 0) -> None:
    """Keep a process on `count` cores that this one may use, from the first-th, where possible."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(pid, sorted(os.sched_getaffinity(0))[first : first + count])


@contextmanager
def apart(pid: int) -> Iterator[None]:
    """Keep this process and another one on cores of their own, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    first, second, *_ = sorted(cores)
    os.sched_setaffinity(0, {first})
    os.sched_setaffinity(pid, {second})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
