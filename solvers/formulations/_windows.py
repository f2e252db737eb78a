"""When a node can start and end in any schedule that is as good as a known one (`latency`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from problems import latency, ports
from problems.bounds.headtail import heads, tails
from problems.instance import Instance
from solvers.formulations._boundary import Boundary

SAFETY = 1 - 1e-12
"""Heads and tails are rounded to nearest: lowered by this they are certainly no more."""

SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Windows:
    """Heads, tails and what follows from them.

    Attributes
    ----------
    horizon : float
        Seconds by which all is over: the known value, or everything one after another.
    possible : bool array, shape (G, K)
        Whether a schedule within the horizon may have the group on the device.
    head, tail, time : float64 arrays, shape (n, K)
        Seconds; 0 where not possible.
    earliest, latest : float64 arrays, shape (n,)
        First and last start.
    first_end, last_end : float64 arrays, shape (n,)
        First and last finish.
    """

    horizon: float
    possible: np.ndarray
    head: np.ndarray
    tail: np.ndarray
    time: np.ndarray
    earliest: np.ndarray
    latest: np.ndarray
    first_end: np.ndarray
    last_end: np.ndarray


def windows(instance: Instance, upper: float, boundary: Boundary | None = None) -> Windows:
    """Windows under a known makespan `upper` in seconds; inf without one.

    With a boundary, `upper` is of the largest finish + tail.
    """
    # A little more than is needed: windows are compared with one another after rounding.
    horizon = (1 + SLACK) * (upper if math.isfinite(upper) else serial(instance))
    head, tail = heads(instance) * SAFETY, tails(instance) * SAFETY
    if boundary is not None:
        tail = np.maximum(tail, boundary.tail * SAFETY)
    through = head + instance.time + tail
    possible = np.ones((int(instance.group.max()) + 1, instance.K), bool)
    np.logical_and.at(possible, instance.group, through * SAFETY <= horizon)
    mine = possible[instance.group]
    # Where a group can go nowhere there is no answer, and any window will do.
    least = np.where(mine, [head, head + instance.time, tail, tail + instance.time], np.inf)
    least = np.where(mine.any(axis=1), least.min(axis=2), 0.0)
    latest = np.maximum(horizon - least[3], least[0])
    last_end = np.maximum(horizon - least[2], least[1])
    if boundary is not None:
        at = boundary.fixed
        length = np.where(mine, instance.time, 0.0).max(axis=1)[at]  # on its only device
        least[0, at] = latest[at] = boundary.start[at]
        least[1, at] = last_end[at] = boundary.start[at] + length
    return Windows(
        horizon,
        possible,
        np.where(mine, head, 0.0),
        np.where(mine, tail, 0.0),
        np.where(mine, instance.time, 0.0),
        least[0],
        latest,
        least[1],
        last_end,
    )


def serial(instance: Instance) -> float:
    """Seconds that no answer without idle time exceeds: everything one after another."""
    time = np.where(np.isfinite(instance.time), instance.time, 0.0)
    way = instance.link_time[latency.communication(instance)].sum(axis=2)
    copies = instance.K if ports.has_ports(instance) else 1
    return float(time.max(axis=1).sum() + copies * way.max(axis=(0, 1)).sum()) or 1.0


def reachable(instance: Instance) -> np.ndarray:
    """Whether a path leads from u to v, bool array, shape (n, n)."""
    result = np.zeros((instance.n, instance.n), bool)
    for u in range(instance.n - 1, -1, -1):
        consumers = instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]]
        result[u] = result[consumers].any(axis=0)
        result[u, consumers] = True
    return result


def between(early: np.ndarray, late: np.ndarray, count: int = 5) -> list[np.ndarray]:
    """Sets S of nodes that run between the same two moments, for load rows.

    With r = min of `early` and q = min of `late` over S, each device needs r + its work in S + q:
    where it has none of S, some node of S still lies between. (Head-tail-load, one device a row.)

    Parameters
    ----------
    early, late : arrays, shape (n,)
        Least time before a node's start and after its finish, wherever it is.
    count : int
        Thresholds on either side, quantiles of the values.

    Returns
    -------
    list of bool arrays, shape (n,)
        Distinct sets, the whole one first.
    """
    sets: dict[bytes, np.ndarray] = {}
    share = np.arange(count) / count
    for r in np.quantile(early, share, method="lower"):
        for q in np.quantile(late, share, method="lower"):
            mine = (early >= r) & (late >= q)
            if mine.any():
                sets.setdefault(mine.tobytes(), mine)
    return list(sets.values())
