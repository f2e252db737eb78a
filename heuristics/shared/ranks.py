"""Priorities of list scheduling: upward and downward ranks, critical path, optimistic costs.

Ranks take one time an operator and one an output. They are averages over the devices, as published,
or the worst or the best of them (Zhao and Sakellariou 2003). What moves inside a colocation group
never crosses a link, so it counts as free; without groups nothing differs from the papers.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numba import njit

from heuristics.shared.space import Space, topological
from problems.instance import Instance

How = Literal["mean", "worst", "best"]


def averages(instance: Instance, space: Space, how: How = "mean") -> tuple[np.ndarray, np.ndarray]:
    """Seconds of every operator and of every output between two devices, both of shape (n,).

    Over the devices that support the operator, and over all ordered pairs of devices; 0 for the
    transfers of a single device.
    """
    supported = np.isfinite(instance.time)
    K = instance.K
    if K == 1:
        return np.where(supported, instance.time, 0.0)[:, 0], np.zeros(instance.n)
    apart = space.links[~np.eye(K, dtype=bool)]
    if how == "mean":
        seconds = np.where(supported, instance.time, 0.0).sum(axis=1) / supported.sum(axis=1)
        share = np.bincount(apart.ravel(), minlength=len(instance.link_time)) / (K * (K - 1))
        return seconds, share @ instance.link_time
    least = how == "best"
    seconds = np.where(supported, instance.time, np.inf if least else 0.0)
    pairs = np.unique(apart, axis=0)
    between = instance.link_time[pairs[0, 0]] + instance.link_time[pairs[0, 1]]
    for one, other in pairs[1:]:
        both = instance.link_time[one] + instance.link_time[other]
        between = np.minimum(between, both) if least else np.maximum(between, both)
    return seconds.min(axis=1) if least else seconds.max(axis=1), between


def mean_rank(instance: Instance, space: Space) -> np.ndarray:
    """Upward rank by mean times, seconds, shape (n,); see :func:`averages`."""
    return upward(space, *averages(instance, space))


def upward(space: Space, seconds: np.ndarray, between: np.ndarray) -> np.ndarray:
    """Longest time from the start of every operator to the end, shape (n,)."""
    rank: np.ndarray = _upward(space.unit, space.succ_ptr, space.succ, seconds, between)
    return rank


def downward(space: Space, seconds: np.ndarray, between: np.ndarray) -> np.ndarray:
    """Longest time from the beginning to the start of every operator, shape (n,)."""
    rank: np.ndarray = _downward(space.unit, space.pred_ptr, space.pred, seconds, between)
    return rank


def critical_path(space: Space, priority: np.ndarray) -> np.ndarray:
    """Nodes of a longest path, from the entry of the largest `priority` on.

    `priority` is the sum of both ranks, constant along that path; ties by index.
    """
    sources = np.flatnonzero(np.diff(space.pred_ptr) == 0)
    v = int(sources[np.argmax(priority[sources])])
    path = [v]
    while space.succ_ptr[v] < space.succ_ptr[v + 1]:
        consumers = space.succ[space.succ_ptr[v] : space.succ_ptr[v + 1]]
        v = int(consumers[np.argmax(priority[consumers])])
        path.append(v)
    return np.array(path)


def ready_first(space: Space, priority: np.ndarray) -> np.ndarray:
    """All nodes as a queue of the ready ones hands them out: largest `priority`, then index."""
    order: np.ndarray = topological(space.succ_ptr, space.succ, -priority)
    return order


def optimistic_costs(space: Space, between: np.ndarray) -> np.ndarray:
    """The optimistic cost table of PEFT: seconds that are left after v on k, shape (n, K).

    inf where no consumer can follow: a group that the device does not support.
    """
    table: np.ndarray = _optimistic(
        space.unit, space.unit_time, space.succ_ptr, space.succ, space.time, between
    )
    return table


@njit(cache=True)
def _upward(unit, succ_ptr, succ, seconds, between):  # type: ignore[no-untyped-def]
    n = len(seconds)
    rank = np.zeros(n)
    for u in range(n - 1, -1, -1):
        longest = 0.0
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            v = succ[i]
            longest = max(longest, rank[v] + (between[u] if unit[v] != unit[u] else 0.0))
        rank[u] = seconds[u] + longest
    return rank


@njit(cache=True)
def _downward(unit, pred_ptr, pred, seconds, between):  # type: ignore[no-untyped-def]
    n = len(seconds)
    rank = np.zeros(n)
    for v in range(n):
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            u = pred[i]
            comm = between[u] if unit[v] != unit[u] else 0.0
            rank[v] = max(rank[v], rank[u] + seconds[u] + comm)
    return rank


@njit(cache=True)
def _optimistic(unit, unit_time, succ_ptr, succ, time, between):  # type: ignore[no-untyped-def]
    n, K = time.shape
    table = np.zeros((n, K))
    for u in range(n - 1, -1, -1):
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            v = succ[i]
            together = unit[v] == unit[u]
            least = np.inf
            for k in range(K):
                if unit_time[unit[v], k] < np.inf:
                    least = min(least, table[v, k] + time[v, k])
            for k in range(K):
                here = table[v, k] + time[v, k] if unit_time[unit[v], k] < np.inf else np.inf
                if not together:
                    here = min(here, least + between[u])
                table[u, k] = max(table[u, k], here)
    return table
