"""What a machine lets a process have, and how evenly: cores, memory, control groups, the clock."""

from __future__ import annotations

import os
import re
import statistics
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from bench import environment
from problems import compiled

CGROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
NOISE_S = 3.0
QUIET, UNEVEN = 0.03, 0.10
"""Spread of a fixed computation's times below which a machine counts as quiet, and as uneven."""
_UNLIMITED = 1 << 60


def usable_cores() -> float:
    """Cores that this process may use at a time, by affinity and control groups."""
    count = float(len(os.sched_getaffinity(0)))
    quota = cpu_quota()
    return count if quota is None else min(count, quota)


def cpu_quota() -> float | None:
    """Cores by the quota of the control groups; None without a limit."""
    quotas = []
    for folder in _groups(""):
        with suppress(OSError, ValueError):
            limit, period = (folder / "cpu.max").read_text().split()
            quotas.append(int(limit) / int(period))  # "max" is no number
    for folder in _groups("cpu"):
        with suppress(OSError, ValueError):
            limit_us = int((folder / "cpu.cfs_quota_us").read_text())
            if limit_us > 0:
                quotas.append(limit_us / int((folder / "cpu.cfs_period_us").read_text()))
    return min(quotas, default=None)


def memory_limit() -> int | None:
    """Bytes by the limit of the control groups; None without one."""
    limits = []
    for controller, name in (("", "memory.max"), ("memory", "memory.limit_in_bytes")):
        for folder in _groups(controller):
            with suppress(OSError, ValueError):
                limits.append(int((folder / name).read_text()))
    return min((each for each in limits if each < _UNLIMITED), default=None)


def _groups(controller: str) -> list[Path]:
    """Folders of this process's control group and of those above it; "" is version 2."""
    root = CGROUPS / controller
    marker = "cgroup.controllers" if not controller else ""
    if not (root / marker).exists():
        return []
    with suppress(OSError):
        for line in OWN.read_text().splitlines():
            _, names, path = line.split(":", 2)
            if controller in names.split(","):
                folder = root / path.lstrip("/")
                # In a container the path may be the host's, of which only the end is mounted.
                folder = folder if folder.is_dir() else root
                return [folder, *(each for each in folder.parents if root in (each, *each.parents))]
    return []


def compile_cache() -> dict[str, Any]:
    """Where compiled code is kept: `folder`, `writable`, and how many functions are there."""
    folder = Path(os.environ.get(compiled.VARIABLE, ""))
    if not os.environ.get(compiled.VARIABLE):
        return {"folder": None, "writable": False, "functions": 0}
    return {
        "folder": str(folder),
        "writable": os.access(folder, os.W_OK | os.X_OK),
        "functions": sum(1 for _ in folder.rglob("*.nbi")),
    }


def clock() -> dict[str, float]:
    """Resolution of the clock that runs are measured by, and how late a sleep of 1 ms ends."""
    late = []
    for _ in range(50):
        began = time.monotonic()
        time.sleep(0.001)
        late.append(time.monotonic() - began - 0.001)
    return {
        "resolution_s": time.get_clock_info("monotonic").resolution,
        "wake_up_s": statistics.median(late),
    }


def noise(seconds: float | None = None) -> dict[str, Any]:
    """Repeat a fixed computation for some seconds and see how its times differ.

    Returns
    -------
    dict
        `spread` (median over fastest, less 1), `worst` (slowest likewise), `waited` (share of the
        time that this process waited for a core), `steal` (share that the hypervisor gave to
        others; None where it does not say), `load` (processes
        that want to run, a minute's mean, without this one), `repeats`, `verdict`.
    """
    before, cpu, start = psutil.cpu_times(), time.process_time(), time.monotonic()
    end = time.monotonic() + (NOISE_S if seconds is None else seconds)
    times: list[float] = []
    while len(times) < 3 or time.monotonic() < end:
        began = time.perf_counter()
        environment.fixed_work()
        times.append(time.perf_counter() - began)
    after = psutil.cpu_times()
    waited = max(0.0, 1 - (time.process_time() - cpu) / max(time.monotonic() - start, 1e-9))
    passed = sum(after) - sum(before)
    spread = statistics.median(times) / min(times) - 1
    taken = getattr(after, "steal", None)
    steal = None if taken is None else max(0.0, taken - before.steal) / max(passed, 1e-9)
    return {
        "spread": spread,
        "worst": max(times) / min(times) - 1,
        "waited": waited,
        "steal": steal,
        "load": os.getloadavg()[0],
        "repeats": len(times),
        "verdict": verdict(spread, waited, steal or 0.0),
    }


def verdict(*shares: float) -> str:
    """What it means for a comparison that times differ by such shares, in words."""
    worst = max(shares)
    percent = f"{100 * worst:.0f} %"
    if worst < QUIET:
        return "quiet: times repeat within 3 %"
    if worst < UNEVEN:
        return f"uneven: times that differ by less than {percent} may be the same"
    return (
        f"noisy: times differ by {percent} on their own; end other work or use fewer jobs,"
        " and compare answers rather than times"
    )


def memory_text() -> str:
    """Memory in words: what there is, what is free, what may be used."""
    found = psutil.virtual_memory()
    text = f"{found.total / 2**30:.1f} GiB, {found.available / 2**30:.1f} free"
    limit = memory_limit()
    return text if limit is None else f"{text}; limited to {limit / 2**30:.1f} GiB"


def requirement(text: str) -> str:
    """Name of the package in a requirement: ``numpy>=2.0`` -> ``numpy``."""
    match = re.match(r"[A-Za-z0-9._-]+", text)
    return match[0] if match else text
