"""Latency: heads and tails a node and device, and the critical path that sees transfers.

With t_lk(u) the delay of u's payload from device l to k and p_k(u) its time there,

    H(v, k) = max over producers u of v of  min over l of  H(u, l) + p_l(u) + t_lk(u)
    T(u, k) = max over consumers v of u of  min over l of  t_kl(u) + p_l(v) + T(v, l)

In every schedule a node v on device k starts at H(v, k) or later, and the makespan is at least its
finish + T(v, k): each producer sits somewhere, and the minimum covers wherever that is. Hence

    makespan >= max over v of  min over k of  H(v, k) + p_k(v) + T(v, k).

Contention only adds waiting. Own derivation; heads and tails without devices are the field's.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from problems.bounds.allowed import allowed_times
from problems.bounds.registry import bound, round_down
from problems.instance import Instance
from problems.latency import communication


def heads(instance: Instance) -> np.ndarray:
    """H(v, k): earliest start of v on k in any schedule.

    Returns
    -------
    float64 array, shape (n, K)
        Seconds, rounded to nearest along the way (lower by a part in 10**12 before claiming a
        proof); inf where v's group cannot go to k.
    """
    result: np.ndarray = _heads(
        allowed_times(instance),
        instance.pred_ptr,
        instance.pred,
        instance.link_time,
        communication(instance),
    )
    return result


def tails(instance: Instance) -> np.ndarray:
    """T(v, k): least time from the finish of v on k to the end of any schedule.

    Returns
    -------
    float64 array, shape (n, K)
        Seconds, as :func:`heads`; inf where v's group cannot go to k.
    """
    result: np.ndarray = _tails(
        allowed_times(instance),
        instance.succ_ptr,
        instance.succ,
        instance.link_time,
        communication(instance),
    )
    return result


@bound("head-tail", problems=["latency"], rules=["contention", "memory", "colocate_tied"])
def headtail(instance: Instance) -> tuple[float, str]:
    """max_v min_k H(v, k) + p_k(v) + T(v, k), in seconds."""
    through = (heads(instance) + allowed_times(instance) + tails(instance)).min(axis=1)
    v = int(through.argmax())
    # A path has at most n nodes and, between them, two link times each.
    value = round_down(float(through[v]), 4 * instance.n)
    return value, f"every schedule passes through {instance.names[v]!r}"


@njit(cache=True)
def _heads(time, pred_ptr, pred, link_time, links):  # type: ignore[no-untyped-def]
    n, K = time.shape
    head = np.zeros((n, K))
    arrival = np.empty((n, K))  # of u's payload at k, wherever u sits
    for v in range(n):
        for k in range(K):
            if time[v, k] == np.inf:
                head[v, k] = np.inf
                continue
            for i in range(pred_ptr[v], pred_ptr[v + 1]):
                head[v, k] = max(head[v, k], arrival[pred[i], k])
        for k in range(K):
            earliest = np.inf
            for j in range(K):
                delay = link_time[links[j, k, 0], v] + link_time[links[j, k, 1], v]
                earliest = min(earliest, head[v, j] + time[v, j] + delay)
            arrival[v, k] = earliest
    return head


@njit(cache=True)
def _tails(time, succ_ptr, succ, link_time, links):  # type: ignore[no-untyped-def]
    n, K = time.shape
    tail = np.zeros((n, K))
    for u in range(n - 1, -1, -1):
        for k in range(K):
            if time[u, k] == np.inf:
                tail[u, k] = np.inf
                continue
            for i in range(succ_ptr[u], succ_ptr[u + 1]):
                v = succ[i]
                least = np.inf
                for j in range(K):
                    delay = link_time[links[k, j, 0], u] + link_time[links[k, j, 1], u]
                    least = min(least, delay + time[v, j] + tail[v, j])
                tail[u, k] = max(tail[u, k], least)
    return tail
