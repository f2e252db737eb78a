"""Random moves of a walk over `latency` schedules: which groups go where, which node slides.

Half of the targets are devices of a neighbour; a share of the moves starts from a critical node:
one whose start, time and tail add up to the makespan. Runs of consecutive numbers behind a border
between devices move as one: modules have such numbers, and a border moves by whole modules or not
at all where only what passes between these is small.
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


@njit(**INNER)
def propose(ground, walk, focus):  # type: ignore[no-untyped-def]
    """Draw a move, its bytes counted but nothing else changed.

    Returns the number of groups in ``walk.touched`` that go to ``walk.old_device``, the node that
    slides or -1, the place that it slides to, and whether memory allows all that.
    """
    stream, device, sequence, place = walk.stream, walk.device, walk.sequence, walk.place
    unit, pred_ptr, pred, succ_ptr, succ = (
        ground.unit, ground.pred_ptr, ground.pred, ground.succ_ptr, ground.succ
    )  # fmt: skip
    use, readers, memory, size, shared = (
        walk.use, walk.readers, ground.memory, ground.size, ground.shared
    )  # fmt: skip
    weight_ptr, weight, possible = ground.weight_ptr, ground.weight, ground.possible
    touched, target, seen, counter = walk.touched, walk.old_device, walk.seen, walk.counter
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
            if to != k and possible[unit[v], to] and possible[unit[w], k]:
                shift(use, readers, memory, size, shared, weight_ptr, weight, unit[v], k, to)
                fits = (
                    shift(use, readers, memory, size, shared, weight_ptr, weight, unit[w], to, k)
                    and use[to] <= memory[to]
                )
                touched[0], target[0] = unit[v], to
                touched[1], target[1] = unit[w], k
                count = 2
        elif possible[unit[v], to]:
            if kind < 0.4:
                fits = shift(use, readers, memory, size, shared, weight_ptr, weight, unit[v], k, to)
                touched[0], target[0] = unit[v], to
                count = 1
            elif kind < 0.5:
                most = min(2 << _low(stream, levels), len(size))
                count = _cluster(
                    stream, device, unit, pred_ptr, pred, succ_ptr, succ, walk.reached, v, most,
                    use, readers, memory, size, shared, weight_ptr, weight,
                    possible, touched, target, seen, counter, to,
                )  # fmt: skip
            elif kind < 0.6:
                v, to, step = _border(stream, device, v, to, pred_ptr, pred, succ_ptr, succ)
                length = 1 + rng_.below(stream, 2 << _low(stream, levels))
                count = _run(
                    device, unit, v, step, length,
                    use, readers, memory, size, shared, weight_ptr, weight,
                    possible, touched, target, seen, counter, to,
                )  # fmt: skip
            else:
                end = min(n, place[v] + (2 << _low(stream, levels)))
                count = _segment(
                    device, unit, sequence, place[v], end,
                    use, readers, memory, size, shared, weight_ptr, weight,
                    possible, touched, target, seen, counter, to,
                )  # fmt: skip
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
def _take(  # type: ignore[no-untyped-def]
    use,
    readers,
    memory,
    size,
    shared,
    weight_ptr,
    weight,
    possible,
    touched,
    target,
    count,
    g,
    k,
    to,
):
    """Add group g to the move if its new device supports and holds it."""
    if not possible[g, to]:
        return False
    if not shift(use, readers, memory, size, shared, weight_ptr, weight, g, k, to):
        shift(use, readers, memory, size, shared, weight_ptr, weight, g, to, k)
        return False
    touched[count], target[count] = g, to
    return True


@njit(**INNER)
def _cluster(  # type: ignore[no-untyped-def]
    stream, device, unit, pred_ptr, pred, succ_ptr, succ, reached, v, most,
    use, readers, memory, size, shared, weight_ptr, weight,
    possible, touched, target, seen, counter, to,
):  # fmt: skip
    """Up to `most` connected groups on v's device, grown from a random member each time."""
    k = device[v]
    counter[0] += 1
    mark = counter[0]
    count = known = 0
    w = v
    for i in range(4 * most + 1):
        if i > 0:
            if count == most or known == len(reached):
                break
            u = reached[rng_.below(stream, known)]
            ins = pred_ptr[u + 1] - pred_ptr[u]
            near = ins + succ_ptr[u + 1] - succ_ptr[u]
            if near == 0:
                continue
            j = rng_.below(stream, near)
            w = pred[pred_ptr[u] + j] if j < ins else succ[succ_ptr[u] + j - ins]
        if device[w] == k and seen[unit[w]] != mark:
            seen[unit[w]] = mark
            if not _take(
                use, readers, memory, size, shared, weight_ptr, weight,
                possible, touched, target, count, unit[w], k, to,
            ):  # fmt: skip
                break
            reached[known] = w
            known += 1
            count += 1
    return count


@njit(**INNER)
def _segment(  # type: ignore[no-untyped-def]
    device, unit, sequence, first, end,
    use, readers, memory, size, shared, weight_ptr, weight,
    possible, touched, target, seen, counter, to,
):  # fmt: skip
    """Groups of one device from place `first` up to place `end` of the sequence."""
    k, count = device[sequence[first]], 0
    counter[0] += 1
    for i in range(first, end):
        u = sequence[i]
        g = unit[u]
        if device[u] == k and seen[g] != counter[0]:
            seen[g] = counter[0]
            if not _take(
                use, readers, memory, size, shared, weight_ptr, weight,
                possible, touched, target, count, g, k, to,
            ):  # fmt: skip
                break
            count += 1
    return count


@njit(**INNER)
def _border(stream, device, v, to, pred_ptr, pred, succ_ptr, succ):  # type: ignore[no-untyped-def]
    """A node, a device that it reads from or sends to, and the way from there on.

    That is node v, device `to` and either way where no draw meets such a node.
    """
    for _ in range(TRIES):
        ins = pred_ptr[v + 1] - pred_ptr[v]
        near = ins + succ_ptr[v + 1] - succ_ptr[v]
        if near > 0:
            i = rng_.below(stream, near)
            w = pred[pred_ptr[v] + i] if i < ins else succ[succ_ptr[v] + i - ins]
            if device[w] != device[v]:
                return v, device[w], 1 if i < ins else -1
        v = rng_.below(stream, len(device))
    return v, (to if to != device[v] else -1), 1


@njit(**INNER)
def _run(  # type: ignore[no-untyped-def]
    device, unit, first, step, length,
    use, readers, memory, size, shared, weight_ptr, weight,
    possible, touched, target, seen, counter, to,
):  # fmt: skip
    """Groups of one device from node `first` on, by numbers: modules have consecutive ones."""
    k, count = device[first], 0
    counter[0] += 1
    u = first
    for _ in range(length):
        if u < 0 or u >= len(device) or to < 0:
            break
        g = unit[u]
        if device[u] == k and seen[g] != counter[0]:
            seen[g] = counter[0]
            if not _take(
                use, readers, memory, size, shared, weight_ptr, weight,
                possible, touched, target, count, g, k, to,
            ):  # fmt: skip
                break
            count += 1
        u += step
    return count
