"""Compiled parts of :mod:`solvers.improve`: times of a sequence, and what a move may take along."""

from __future__ import annotations

import numpy as np
from numba import njit

from problems import ports


@njit(cache=True)
def timed(  # type: ignore[no-untyped-def]
    device,
    sequence,
    first,
    limit,
    start,
    old,
    times,
    pred_ptr,
    pred,
    unlimited,
    link_time,
    links,
    tail,
):
    """Start the nodes from place `first` on, until the makespan is known to exceed `limit`.

    Returns the makespan, or inf where it exceeds; `old` keeps the starts by place for
    :func:`back`. The second value is the place after the last node that was timed.
    """
    n = len(sequence)
    free = np.zeros(times.shape[1])
    latest = 0.0
    for i in range(first):
        v = sequence[i]
        end = start[v] + times[v, device[v]]
        free[device[v]] = end
        latest = max(latest, end)
    for i in range(first, n):
        v = sequence[i]
        k = device[v]
        t = 0.0 if unlimited[k] else free[k]
        for j in range(pred_ptr[v], pred_ptr[v + 1]):
            u = pred[j]
            other = device[u]
            there = start[u] + times[u, other]
            if other != k:
                there += link_time[links[other, k, 0], u] + link_time[links[other, k, 1], u]
            t = max(t, there)
        old[i] = start[v]
        start[v] = t
        end = t + times[v, k]
        free[k] = end
        latest = max(latest, end)
        if end + tail[v] > limit:
            return np.inf, i + 1
    return latest, n


@njit(cache=True)
def back(sequence, first, end, start, old):  # type: ignore[no-untyped-def]
    """Take the starts of places first..end-1 back."""
    for i in range(first, end):
        start[sequence[i]] = old[i]


@njit(cache=True)
def critical(  # type: ignore[no-untyped-def]
    device, sequence, place, start, found, times, pred_ptr, pred, unlimited, link_time, links
):
    """Fill `found` with the nodes of a critical path, last first; their number."""
    n = len(sequence)
    v, latest = sequence[0], -1.0
    for u in range(n):
        end = start[u] + times[u, device[u]]
        if end > latest:
            v, latest = u, end
    count = 0
    while True:
        found[count] = v
        count += 1
        if start[v] <= 0 or count == n:
            return count
        k, cause = device[v], -1
        for j in range(pred_ptr[v], pred_ptr[v + 1]):
            u = pred[j]
            other = device[u]
            there = start[u] + times[u, other]
            if other != k:
                there += link_time[links[other, k, 0], u] + link_time[links[other, k, 1], u]
            if there >= start[v]:
                cause = u
                break
        if cause < 0:
            for i in range(place[v] - 1, -1, -1):
                if device[sequence[i]] == k:
                    cause = sequence[i]
                    break
        if cause < 0:
            return count
        v = cause


@njit(cache=True)
def gather(v, most, device, group, seen, mark, found, pred_ptr, pred, succ_ptr, succ):  # type: ignore[no-untyped-def]
    """Fill `found` with up to `most` connected groups on v's device, v's first; their number.

    Grown from a random member each time; `seen` holds the last mark of every group.
    """
    k = device[v]
    count, reached = 1, 1
    nodes = np.empty(4 * most + 1, np.int64)
    nodes[0] = v
    found[0] = group[v]
    seen[group[v]] = mark
    for _ in range(4 * most):
        if count == most:
            break
        u = nodes[np.random.randint(reached)]
        ins = pred_ptr[u + 1] - pred_ptr[u]
        near = ins + succ_ptr[u + 1] - succ_ptr[u]
        if near == 0:
            continue
        i = np.random.randint(near)
        w = pred[pred_ptr[u] + i] if i < ins else succ[succ_ptr[u] + i - ins]
        if device[w] == k and seen[group[w]] != mark:
            seen[group[w]] = mark
            found[count] = group[w]
            nodes[reached] = w
            count, reached = count + 1, reached + 1
    return count


@njit(cache=True)
def by_start(sequence, place, start):  # type: ignore[no-untyped-def]
    """Order the sequence by starts, which changes no start: the sort is stable."""
    key = np.empty(len(sequence))
    for i in range(len(sequence)):
        key[i] = start[sequence[i]]
    old = sequence.copy()
    for i, j in enumerate(np.argsort(key, kind="mergesort")):
        sequence[i] = old[j]
        place[old[j]] = i


@njit(cache=True)
def served(  # type: ignore[no-untyped-def]
    device, sequence, times, pred_ptr, succ_ptr, succ, unlimited, link_time, ports_
):
    """The makespan where ports serve transfers as they come; see :mod:`problems.ports`."""
    _, staged, port, wire, host = ports_
    n, K = times.shape
    ids = ports.transfers_compiled(device, succ_ptr, succ, K)
    ptr = np.zeros(n + 1, np.int64)
    send, receive = np.empty(len(ids)), np.empty(len(ids))
    sender, receiver = np.full(len(ids), -1), np.full(len(ids), -1)
    for j in range(len(ids)):
        u, to = ids[j] // K, ids[j] % K
        k = device[u]
        ptr[u + 1] += 1
        send[j] = link_time[port[k] if staged else wire[k, to], u]
        receive[j] = link_time[port[to] if staged else wire[k, to], u]
        if send[j] > 0 and not host[k]:
            sender[j] = k
        if receive[j] > 0 and not host[to]:
            receiver[j] = to
    ptr = np.cumsum(ptr)
    after, last = np.full(n, -1), np.full(K, -1)
    for v in sequence:
        k = device[v]
        if not unlimited[k]:
            if last[k] >= 0:
                after[last[k]] = v
            last[k] = v
    start = ports.first_come_compiled(
        device, after, times, succ_ptr, succ, pred_ptr, K, staged, ids, ptr, send, receive,
        sender, receiver,
    )[0]  # fmt: skip
    latest = 0.0
    for v in range(n):
        latest = max(latest, start[v] + times[v, device[v]])
    return latest


@njit(cache=True)
def slide(sequence, place, at, to):  # type: ignore[no-untyped-def]
    """Take the node at a place out and put it back at another."""
    v = sequence[at]
    step = 1 if to > at else -1
    for i in range(at, to, step):
        sequence[i] = sequence[i + step]
        place[sequence[i]] = i
    sequence[to] = v
    place[v] = to


@njit(cache=True)
def fits(g, k, to, use, readers, memory, size, shared, weight_ptr, weight):  # type: ignore[no-untyped-def]
    """Move group g's bytes from device k to another; whether that one holds them."""
    use[k] -= size[g]
    use[to] += size[g]
    for i in range(weight_ptr[g], weight_ptr[g + 1]):
        w = weight[i]
        readers[w, k] -= 1
        if readers[w, k] == 0:
            use[k] -= shared[w]
        if readers[w, to] == 0:
            use[to] += shared[w]
        readers[w, to] += 1
    return use[to] <= memory[to]
