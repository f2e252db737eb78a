"""Start times and tails of a schedule, kept up to date by what a move changes; compiled.

Nodes stand in one topological sequence; a device runs its nodes as they follow there, each linked
to the next. A change spreads along edges and these links, in the order of the sequence, only as far
as times differ. A tail is the longest time from the finish of a node to the end; tails behind all
that a move touches hold after it too, so that most bad moves are refused at the first node that is
late (the heads and tails of job-shop scheduling: Taillard 1994, Nowicki and Smutnicki 1996).
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Rounding of sums in two directions.
SLACK = 1e-9
# Parts that only compiled code calls: wrappers for Python would take longer to compile than they.
INNER = {
    "cache": True, "forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True
}  # fmt: skip
# Places in a block of dirty ones.
SHIFT = 6


@njit(cache=True)
def floors(least, succ_ptr, succ):  # type: ignore[no-untyped-def]
    """Least seconds from the finish of every node to the end, wherever nodes are; shape (n,).

    `least`, shape (n,), are the seconds of each node on the device that is fastest for it.
    """
    n = len(least)
    tail = np.zeros(n)
    for u in range(n - 1, -1, -1):
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            v = succ[i]
            tail[u] = max(tail[u], least[v] + tail[v])
    return tail


@njit(cache=True)
def unlink(v, k, before, after, ends, count):  # type: ignore[no-untyped-def]
    """Take v out of the list of device k."""
    a, b = before[v], after[v]
    if a >= 0:
        after[a] = b
    else:
        ends[k, 0] = b
    if b >= 0:
        before[b] = a
    else:
        ends[k, 1] = a
    count[k] -= 1


@njit(cache=True)
def link(v, k, a, before, after, ends, count):  # type: ignore[no-untyped-def]
    """Put v into the list of device k behind node a, -1 for the front."""
    b = after[a] if a >= 0 else ends[k, 0]
    before[v], after[v] = a, b
    if a >= 0:
        after[a] = v
    else:
        ends[k, 0] = v
    if b >= 0:
        before[b] = v
    else:
        ends[k, 1] = v
    count[k] += 1


@njit(cache=True)
def last_before(v, k, device, sequence, place, before, ends, count):  # type: ignore[no-untyped-def]
    """The last node of device k that stands before v in the sequence; -1 without one."""
    at = place[v]
    if count[k] * count[k] > len(sequence):  # there is one nearby
        for i in range(at - 1, -1, -1):
            if device[sequence[i]] == k:
                return sequence[i]
        return -1
    u = ends[k, 1]
    while u >= 0 and place[u] > at:
        u = before[u]
    return u


@njit(**INNER)
def mark(i, dirty, blocks):  # type: ignore[no-untyped-def]
    """Note that the node at place i is to be timed again; 1 where that is new."""
    if dirty[i]:
        return 0
    dirty[i] = True
    blocks[i >> SHIFT] += 1
    return 1


@njit(**INNER)
def forward(  # type: ignore[no-untyped-def]
    time, way, links, pred_ptr, pred, succ_ptr, succ, unlimited, floor, sinks, device, sequence,
    place, start, tail, before, after, ends, dirty, blocks, changed, old_start, pending, first,
    last, limit,
):  # fmt: skip
    """Time what is dirty, from place `first` on, until the makespan is known to exceed `limit`.

    Places up to `last` hold what the move touched: tails are void there. Returns the makespan, inf
    where it exceeds, and how many old starts are logged.
    """
    count, block = 0, first >> SHIFT
    n = len(sequence)
    late = False
    bound = limit * (1 + SLACK)
    while pending > 0:
        while blocks[block] == 0:
            block += 1
        i = block << SHIFT
        stop = min(n, i + (1 << SHIFT))
        while i < stop:
            if not dirty[i]:
                i += 1
                continue
            dirty[i] = False
            blocks[block] -= 1
            pending -= 1
            if late:
                if blocks[block] == 0:
                    break
                i += 1
                continue
            v = sequence[i]
            k = device[v]
            t = 0.0
            if before[v] >= 0:
                u = before[v]
                t = start[u] + time[u, k]
            for j in range(pred_ptr[v], pred_ptr[v + 1]):
                u = pred[j]
                other = device[u]
                arrival = start[u] + time[u, other]
                if other != k:
                    arrival += way[u, links[other, k, 0]] + way[u, links[other, k, 1]]
                t = max(t, arrival)
            finish = t + time[v, k]
            if i > last:
                rest = tail[v]
            else:
                rest = floor[v]
                b = after[v]
                if b >= 0 and place[b] > last:
                    rest = max(rest, time[b, k] + tail[b])
            if finish + rest > bound:
                late = True
            elif i <= last:
                for j in range(succ_ptr[v], succ_ptr[v + 1]):
                    s = succ[j]
                    if place[s] > last:
                        to = device[s]
                        rest = time[s, to] + tail[s]
                        if to != k:
                            rest += way[v, links[k, to, 0]] + way[v, links[k, to, 1]]
                        if finish + rest > bound:
                            late = True
                            break
            if late:
                if pending == 0 or blocks[block] == 0:
                    break
                i += 1
                continue
            if t != start[v]:
                changed[count], old_start[count] = v, start[v]
                count += 1
                start[v] = t
                for j in range(succ_ptr[v], succ_ptr[v + 1]):
                    pending += mark(place[succ[j]], dirty, blocks)
                if after[v] >= 0:
                    pending += mark(place[after[v]], dirty, blocks)
            if blocks[block] == 0:
                break
            i += 1
        block += 1
    if late:
        return np.inf, count
    return makespan(time, unlimited, device, start, ends, sinks), count


@njit(**INNER)
def makespan(time, unlimited, device, start, ends, sinks):  # type: ignore[no-untyped-def]
    """Latest finish: that of the last node of a device, or of a sink where there is no last."""
    latest = 0.0
    some = False
    for k in range(len(unlimited)):
        if unlimited[k]:
            some = True
        elif ends[k, 1] >= 0:
            v = ends[k, 1]
            latest = max(latest, start[v] + time[v, k])
    if some:
        for v in sinks:
            latest = max(latest, start[v] + time[v, device[v]])
    return latest


@njit(**INNER)
def backward(  # type: ignore[no-untyped-def]
    time, way, links, pred_ptr, pred, succ_ptr, succ, device, sequence, place, tail, before, after,
    dirty, blocks, pending, first,
):  # fmt: skip
    """Compute the tails of what is dirty, from place `first` backwards, and all that follows."""
    block = first >> SHIFT
    while pending > 0:
        while blocks[block] == 0:
            block -= 1
        low = block << SHIFT
        i = min(len(sequence) - 1, low + (1 << SHIFT) - 1)
        while i >= low:
            if dirty[i]:
                dirty[i] = False
                blocks[block] -= 1
                pending -= 1
                v = sequence[i]
                k = device[v]
                rest = 0.0
                if after[v] >= 0:
                    rest = time[after[v], k] + tail[after[v]]
                for j in range(succ_ptr[v], succ_ptr[v + 1]):
                    s = succ[j]
                    to = device[s]
                    that = time[s, to] + tail[s]
                    if to != k:
                        that += way[v, links[k, to, 0]] + way[v, links[k, to, 1]]
                    rest = max(rest, that)
                if rest != tail[v]:
                    tail[v] = rest
                    for j in range(pred_ptr[v], pred_ptr[v + 1]):
                        pending += mark(place[pred[j]], dirty, blocks)
                    if before[v] >= 0:
                        pending += mark(place[before[v]], dirty, blocks)
                if blocks[block] == 0:
                    break
            i -= 1
        block -= 1


@njit(cache=True)
def afresh(  # type: ignore[no-untyped-def]
    device, sequence, time, way, links, pred_ptr, pred, succ_ptr, succ, unlimited, start, tail
):
    """Fill all starts and tails, shape (n,); returns the makespan."""
    n, K = time.shape
    free = np.zeros(K)
    latest = 0.0
    for v in sequence:
        k = device[v]
        t = 0.0 if unlimited[k] else free[k]
        for j in range(pred_ptr[v], pred_ptr[v + 1]):
            u = pred[j]
            other = device[u]
            arrival = start[u] + time[u, other]
            if other != k:
                arrival += way[u, links[other, k, 0]] + way[u, links[other, k, 1]]
            t = max(t, arrival)
        start[v] = t
        free[k] = t + time[v, k]
        latest = max(latest, free[k])
    free[:] = 0.0  # now from the start of the next node on the device to the end
    for i in range(n - 1, -1, -1):
        v = sequence[i]
        k = device[v]
        rest = 0.0 if unlimited[k] else free[k]
        for j in range(succ_ptr[v], succ_ptr[v + 1]):
            s = succ[j]
            to = device[s]
            that = time[s, to] + tail[s]
            if to != k:
                that += way[v, links[k, to, 0]] + way[v, links[k, to, 1]]
            rest = max(rest, that)
        tail[v] = rest
        free[k] = time[v, k] + rest
    return latest


@njit(cache=True)
def by_start(sequence, place, start):  # type: ignore[no-untyped-def]
    """Order the sequence by starts, which changes no time: the sort is stable."""
    n = len(sequence)
    old, new = sequence.copy(), np.empty(n, sequence.dtype)
    width = 1
    while width < n:  # merge runs; np.argsort would take longer to compile than all of this
        for low in range(0, n, 2 * width):
            i, j = low, min(n, low + width)
            middle, high = j, min(n, low + 2 * width)
            for at in range(low, high):
                if j == high or (i < middle and start[old[i]] <= start[old[j]]):
                    new[at] = old[i]
                    i += 1
                else:
                    new[at] = old[j]
                    j += 1
        old, new = new, old
        width *= 2
    for i in range(n):
        sequence[i] = old[i]
        place[old[i]] = i
