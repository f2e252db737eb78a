"""Link files between two processes: through shared memory, and through TCP on the loopback.

One transfer is from the first byte leaving the sender's buffer to the last one standing in the
receiver's.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from problems.capture import SIZES, Progress, machine, silent
from problems.capture.pings import HOW, METHOD, measure
from problems.platform import AlphaBeta, LinkFile, LinkPoint


def capture_links(
    kind: str,
    budget_s: float = 20.0,
    *,
    sizes: Sequence[int] = SIZES,
    name: str | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> LinkFile:
    """Measure a link both ways, in rounds over all sizes.

    Parameters
    ----------
    kind : {'shm', 'tcp-loopback'}
        How the bytes travel.
    budget_s : float
        Seconds of measurement; at least 3 rounds are run.
    sizes : sequence of int
        Bytes, ascending.
    name : str, optional
        Of the link file; the kind where not given.
    force : bool
        Measure on a busy machine, too.

    Raises
    ------
    ValueError
        If there is no such kind, the sizes are not ascending and positive, or this process may
        use one core only.
    BusyError
        If the machine is not quiet.
    """
    if kind not in HOW:
        raise ValueError(f"no link {kind!r}; the links are {', '.join(HOW)}")
    if not sizes or sizes[0] < 1 or any(a >= b for a, b in pairwise(sizes)):
        raise ValueError("the sizes of a link must be positive and ascend")
    if budget_s <= 0:
        raise ValueError("budget_s <= 0")
    if machine.available_cores() < 2:
        raise ValueError("a link needs two cores, one for each end")
    if not force:
        machine.require_quiet()
    forth, back, count = measure(kind, budget_s, sizes, progress)
    forward, backward = (
        [LinkPoint(n, min(each), median(each)) for n, each in way.items()] for way in (forth, back)
    )
    return LinkFile(
        format="placebench-link/1",
        name=name or kind,
        kind="measured",
        provenance=machine.hardware()
        | {
            "link": HOW[kind],
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "method": METHOD,
            "rounds": count,
        },
        forward=forward,
        backward=backward,
        model=summary(forward),
    )


def summary(points: Sequence[LinkPoint]) -> AlphaBeta:
    """Latency of the smallest point and bandwidth between the ends: a summary, not for use."""
    first, last = points[0], points[-1]
    gained = max(last.min_s - first.min_s, 1e-12)
    return AlphaBeta(first.min_s, max(last.bytes - first.bytes, 1) / gained)
