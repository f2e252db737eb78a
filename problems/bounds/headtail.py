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
    return _heads(*_by_class(instance))[:, instance.device_class]


def tails(instance: Instance) -> np.ndarray:
    """T(v, k): least time from the finish of v on k to the end of any schedule.

    Returns
    -------
    float64 array, shape (n, K)
        Seconds, as :func:`heads`; inf where v's group cannot go to k.
    """
    return _tails(*_by_class(instance))[:, instance.device_class]


@bound("head-tail", problems=["latency"], rules=["contention", "memory", "colocate_tied"])
def headtail(instance: Instance) -> tuple[float, str]:
    """max_v min_k H(v, k) + p_k(v) + T(v, k), in seconds."""
    case = _by_class(instance)
    through = (_heads(*case) + case[0] + _tails(*case)).min(axis=1)
    v = int(through.argmax())
    # A path has at most n nodes and, between them, two link times each.
    value = round_down(float(through[v]), 4 * instance.n)
    return value, f"every schedule passes through {instance.names[v]!r}"


def _by_class(instance: Instance) -> tuple[np.ndarray, ...]:
    """The instance with one device for each symmetry class, C of them, for the compiled parts.

    Alike devices have equal heads and tails, and a transfer between two of them is never better
    than none: the minimum over the classes is the minimum over the devices.

    Returns
    -------
    time : float64 array, shape (n, C)
    pred_ptr, pred, succ_ptr, succ : int64 arrays
    link_time : float64 array, shape (L, n)
    links : int64 array, shape (C, C, 2)
    """
    one = np.unique(instance.device_class, return_index=True)[1]
    return (
        np.ascontiguousarray(allowed_times(instance)[:, one]),
        instance.pred_ptr,
        instance.pred,
        instance.succ_ptr,
        instance.succ,
        instance.link_time,
        np.ascontiguousarray(communication(instance)[np.ix_(one, one)]),
    )


def _heads(*case: np.ndarray) -> np.ndarray:
    result: np.ndarray = _heads_compiled(*case)
    return result


def _tails(*case: np.ndarray) -> np.ndarray:
    result: np.ndarray = _tails_compiled(*case)
    return result


@njit(cache=True)
def _heads_compiled(time, pred_ptr, pred, succ_ptr, succ, link_time, links):  # type: ignore[no-untyped-def]
    n, C = time.shape
    head = np.zeros((n, C))
    arrival = np.full((n, C), np.inf)  # of u's payload at k, wherever u sits
    seconds = np.empty(link_time.shape[0])
    delay = np.empty(C)
    for v in range(n):
        mine = head[v]
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            there = arrival[pred[i]]
            for k in range(C):
                mine[k] = there[k] if there[k] > mine[k] else mine[k]
        for k in range(C):
            if time[v, k] == np.inf:
                mine[k] = np.inf
        if succ_ptr[v] == succ_ptr[v + 1]:
            continue
        earliest = arrival[v]
        for link in range(len(seconds)):
            seconds[link] = link_time[link, v]
        for j in range(C):
            end = mine[j] + time[v, j]
            # Two loops: the second one is done several devices at a time.
            for k in range(C):
                delay[k] = seconds[links[j, k, 0]] + seconds[links[j, k, 1]]
            for k in range(C):
                value = end + delay[k]
                earliest[k] = value if value < earliest[k] else earliest[k]
    return head


@njit(cache=True)
def _tails_compiled(time, pred_ptr, pred, succ_ptr, succ, link_time, links):  # type: ignore[no-untyped-def]
    n, C = time.shape
    tail = np.zeros((n, C))
    seconds = np.empty(link_time.shape[0])
    delay = np.empty((C, C))  # from k to j at [j, k]
    least = np.empty(C)
    for u in range(n - 1, -1, -1):
        mine = tail[u]
        if succ_ptr[u] < succ_ptr[u + 1]:
            for link in range(len(seconds)):
                seconds[link] = link_time[link, u]
            for k in range(C):
                for j in range(C):
                    delay[j, k] = seconds[links[k, j, 0]] + seconds[links[k, j, 1]]
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            v = succ[i]
            least[:] = np.inf
            for j in range(C):
                rest = time[v, j] + tail[v, j]
                row = delay[j]
                for k in range(C):
                    value = row[k] + rest
                    least[k] = value if value < least[k] else least[k]
            for k in range(C):
                mine[k] = least[k] if least[k] > mine[k] else mine[k]
        for k in range(C):
            if time[u, k] == np.inf:
                mine[k] = np.inf
    return tail
