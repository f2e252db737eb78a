"""How much others use the processor meanwhile, with the standard library only: from /proc/stat."""

from __future__ import annotations

import os
import time
from pathlib import Path

STAT = Path("/proc/stat")
QUIET = 0.15
"""Most that other processes may use, in cores, without a warning."""
SHORT_S = 0.2
"""Below so many seconds the ticks of /proc/stat say nothing."""


class Others:
    """CPU time that others use from the making of this object on.

    Stolen time counts as others' time, that of children once they have ended as our own.
    """

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.busy, self.own = busy_s(), _own_s()

    def cores(self) -> float | None:
        """Cores that others used on average; None where that cannot be said."""
        elapsed = time.perf_counter() - self.start
        now = busy_s()
        if now is None or self.busy is None or elapsed < SHORT_S:
            return None
        others = now - self.busy - (_own_s() - self.own)
        return round(max(0.0, others / elapsed), 3)


def busy_s() -> float | None:
    """Seconds that all cores together were busy since the start; None where nobody says."""
    try:
        line = STAT.read_text().partition("\n")[0].split()
        # user nice system idle iowait irq softirq steal; guests are counted in user (man 5 proc)
        ticks = [int(each) for each in line[1:9]]
    except (OSError, ValueError):
        return None
    if not ticks:
        return None
    return (sum(ticks) - sum(ticks[3:5])) / os.sysconf("SC_CLK_TCK")


def warning(what: str, cores: float | None) -> str:
    """One line where others used more than is fine; else empty."""
    if cores is None or cores <= QUIET:
        return ""
    return (
        f"the machine is busy: {what} others used {cores:.2f} cores, at most {QUIET} are fine"
        f" (load {os.getloadavg()[0]:.1f})"
    )


def _own_s() -> float:
    return sum(os.times()[:4])  # this process and the children that have ended
