"""Random moves of a walk over `latency` schedules: which groups go where, which node slides.

Half of the targets are devices of a neighbour; a share of the moves starts from a critical node:
one whose start, time and tail add up to the makespan.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers import rng as rng_
from solvers.improve_times import INNER

# Draws for a critical node before any node is taken.
TRIES = 12
CRITICAL = 1e-9


@njit(cache=True)
def slide(sequence, place, at, to):  # type: ignore[no-untyped-def]
    """Take the node at a place out and put it back at another."""
    v = sequence[at]
    step = 1 if to > at else -1
    for i in range(at, to, step):
        u = sequence[i + step]
        sequence[i] = u
        place[u] = i
    sequence[to] = v
    place[v] = to


@njit(cache=True)
def shift(use, readers, memory, size, shared, weight_ptr, weight, g, k, to):  # type: ignore[no-untyped-def]
    """Count group g's bytes on device `to` instead of k (-1: nowhere); whether `to` holds them."""
    if k >= 0:
        use[k] -= size[g]
    use[to] += size[g]
    for i in range(weight_ptr[g], weight_ptr[g + 1]):
        w = weight[i]
        if k >= 0:
            readers[w, k] -= 1
            if readers[w, k] == 0:
                use[k] -= shared[w]
        readers[w, to] += 1
        if readers[w, to] == 1:
            use[to] += shared[w]
    return use[to] <= memory[to]


@njit(cache=True, forceinline=True)
def put(ground, walk, g, k, to):  # type: ignore[no-untyped-def]
    """See :func:`shift`."""
    return shift(
        walk.use, walk.readers, ground.memory, ground.size, ground.shared, ground.weight_ptr,
        ground.weight, g, k, to,
    )  # fmt: skip


@njit(cache=True, forceinline=True)
def propose(ground, walk, focus):  # type: ignore[no-untyped-def]
    """Draw a move, its bytes counted but nothing else changed.

    Returns the number of groups in ``walk.touched`` that go to ``walk.old_device``, the node that
    slides or -1, the place that it slides to, and whether memory allows all that.
    """
    stream, device, sequence, place = walk.stream, walk.device, walk.sequence, walk.place
    unit, pred_ptr, pred, succ_ptr, succ = (
        ground.unit, ground.pred_ptr, ground.pred, ground.succ_ptr, ground.succ
    )  # fmt: skip
    n, K = ground.time.shape
    levels = 1 + int(np.log2(n))
    v = rng_.below(stream, n)
    if not ground.contended and rng_.uniform(stream) < focus:
        most = walk.value[0] * (1 - CRITICAL)
        for _ in range(TRIES):
            if walk.start[v] + ground.time[v, device[v]] + walk.tail[v] >= most:
                break
            v = rng_.below(stream, n)
    k = device[v]
    kind = rng_.uniform(stream)
    count, fits = 0, True
    if K > 1 and kind < 0.7:
        to = _target(stream, device, v, K, pred_ptr, pred, succ_ptr, succ)
        if kind >= 0.65:  # v and a node of another device near it change places
            w = sequence[min(n - 1, max(0, place[v] + rng_.below(stream, 33) - 16))]
            to = device[w]
            if to != k and ground.possible[unit[v], to] and ground.possible[unit[w], k]:
                put(ground, walk, unit[v], k, to)
                fits = put(ground, walk, unit[w], to, k) and walk.use[to] <= ground.memory[to]
                walk.touched[0], walk.old_device[0] = unit[v], to
                walk.touched[1], walk.old_device[1] = unit[w], k
                count = 2
        elif ground.possible[unit[v], to]:
            if kind < 0.4:
                fits = put(ground, walk, unit[v], k, to)
                walk.touched[0], walk.old_device[0] = unit[v], to
                count = 1
            elif kind < 0.6:
                most = min(2 << _low(stream, levels), len(ground.size))
                count = _cluster(ground, walk, v, most, to)
            else:
                end = min(n, place[v] + (2 << _low(stream, levels)))
                count = _segment(ground, walk, v, end, to)
    if kind < 0.25 or kind >= 0.7:
        low, high = -1, n
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            low = max(low, place[pred[i]])
        for i in range(succ_ptr[v], succ_ptr[v + 1]):
            high = min(high, place[succ[i]])
        was = place[v]
        reach = 2 << rng_.below(stream, levels)
        low, high = max(low + 1, was - reach), min(high - 1, was + reach)
        at = low + rng_.below(stream, high - low + 1)
        if at != was:
            return count, v, at, fits
    return count, -1, 0, fits


@njit(**INNER)
def _low(stream, n):  # type: ignore[no-untyped-def]
    """The lower of two numbers in 0..n-1: large moves cost much and are seldom taken."""
    return min(rng_.below(stream, n), rng_.below(stream, n))


@njit(**INNER)
def _target(stream, device, v, K, pred_ptr, pred, succ_ptr, succ):  # type: ignore[no-untyped-def]
    """Another device for v: as often where a neighbour is, if that is elsewhere, as anywhere."""
    ins, outs = pred_ptr[v + 1] - pred_ptr[v], succ_ptr[v + 1] - succ_ptr[v]
    if ins + outs > 0 and rng_.uniform(stream) < 0.5:
        i = rng_.below(stream, ins + outs)
        to = device[pred[pred_ptr[v] + i] if i < ins else succ[succ_ptr[v] + i - ins]]
        if to != device[v]:
            return to
    return (device[v] + 1 + rng_.below(stream, K - 1)) % K


@njit(**INNER)
def _take(ground, walk, count, g, k, to):  # type: ignore[no-untyped-def]
    """Add group g to the move if its new device supports and holds it."""
    if not ground.possible[g, to]:
        return False
    if not put(ground, walk, g, k, to):
        put(ground, walk, g, to, k)
        return False
    walk.touched[count], walk.old_device[count] = g, to
    return True


@njit(**INNER)
def _cluster(ground, walk, v, most, to):  # type: ignore[no-untyped-def]
    """Up to `most` connected groups on v's device, grown from a random member each time."""
    stream, device, unit, seen, reached = (
        walk.stream, walk.device, ground.unit, walk.seen, walk.reached
    )  # fmt: skip
    pred_ptr, pred, succ_ptr, succ = ground.pred_ptr, ground.pred, ground.succ_ptr, ground.succ
    k = device[v]
    walk.counter[0] += 1
    mark = walk.counter[0]
    seen[unit[v]] = mark
    if not _take(ground, walk, 0, unit[v], k, to):
        return 0
    reached[0] = v
    count = known = 1
    for _ in range(4 * most):
        if count == most or known == len(reached):
            break
        u = reached[rng_.below(stream, known)]
        ins = pred_ptr[u + 1] - pred_ptr[u]
        near = ins + succ_ptr[u + 1] - succ_ptr[u]
        if near == 0:
            continue
        i = rng_.below(stream, near)
        w = pred[pred_ptr[u] + i] if i < ins else succ[succ_ptr[u] + i - ins]
        if device[w] == k and seen[unit[w]] != mark:
            seen[unit[w]] = mark
            if not _take(ground, walk, count, unit[w], k, to):
                break
            reached[known] = w
            known += 1
            count += 1
    return count


@njit(**INNER)
def _segment(ground, walk, v, end, to):  # type: ignore[no-untyped-def]
    """Groups of v's device from v up to place `end` of the sequence."""
    k, count = walk.device[v], 0
    walk.counter[0] += 1
    for i in range(walk.place[v], end):
        u = walk.sequence[i]
        g = ground.unit[u]
        if walk.device[u] == k and walk.seen[g] != walk.counter[0]:
            walk.seen[g] = walk.counter[0]
            if not _take(ground, walk, count, g, k, to):
                break
            count += 1
    return count
