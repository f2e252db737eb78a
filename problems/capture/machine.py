"""What machine this is, and whether it is quiet enough to measure on."""

from __future__ import annotations

import os
import platform
import time

import psutil

from problems.capture.cores import apart, available_cores, cpu_model

__all__ = [
    "QUIET",
    "BusyError",
    "Disturbance",
    "apart",
    "available_cores",
    "cpu_model",
    "hardware",
    "require_quiet",
]

QUIET = 0.15
"""Most that other processes may use, in cores."""


class BusyError(RuntimeError):
    """The machine is not quiet; the message says why."""


def hardware() -> dict[str, object]:
    """Processor, cores, memory and system, as far as they matter for times."""
    return {
        "cpu": cpu_model(),
        "cores": available_cores(),
        "memory_bytes": psutil.virtual_memory().total,
        "os": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


class Disturbance:
    """CPU time that others use from the making of this object on.

    Stolen time, which the host gives to other machines, counts as others' time.
    """

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.busy = _busy_seconds()

    def cores(self, own_s: float) -> float:
        """Cores that others used on average; `own_s` is the measurement's own CPU time."""
        elapsed = max(time.perf_counter() - self.start, 1e-9)
        return max(0.0, (_busy_seconds() - self.busy - own_s) / elapsed)


def require_quiet(seconds: float = 1.0) -> None:
    """Look at the machine for a moment before measuring.

    Raises
    ------
    BusyError
        If other processes use more than :data:`QUIET` cores, or this one gets less of a core
        than it asks for.
    """
    others = [p for p in psutil.process_iter(["name"]) if p.pid != os.getpid()]
    for process in others:
        _percent(process)
    disturbance = Disturbance()
    time.sleep(seconds)
    used = disturbance.cores(0.0)
    if used > QUIET:
        loud = sorted(((_percent(p), p.info["name"]) for p in others), reverse=True)[:3]
        named = ", ".join(f"{name} {percent:.0f} %" for percent, name in loud if percent > 1)
        raise BusyError(
            f"the machine is busy: others use {used:.2f} cores, at most {QUIET} are fine"
            + (f" ({named})" if named else "")
        )
    wall, cpu = time.perf_counter(), time.thread_time()
    while time.perf_counter() - wall < 0.2:
        pass
    share = (time.thread_time() - cpu) / (time.perf_counter() - wall)
    if share < 0.95:
        raise BusyError(f"the machine is busy: a thread gets only {share:.0%} of a core")


def _busy_seconds() -> float:
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    guest = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)  # counted in user
    return float(sum(times) - idle - guest)


def _percent(process: psutil.Process) -> float:
    try:
        return float(process.cpu_percent())
    except psutil.Error:  # gone meanwhile
        return 0.0
