"""Earliest operator and device first: the pair that may start soonest is placed next (`latency`).

A ready operator stands in two heaps a device: by the time its inputs are there, and, once the
device is free later than that, by priority. Entries that are out of date are dropped or put back
where they come up, so every pair is looked at about once instead of at every step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.shared import placing
from heuristics.shared.best import Best
from heuristics.shared.lists import in_pieces, offer_work
from heuristics.shared.placing import arrivals, claim, commit
from heuristics.shared.reserve import need
from heuristics.shared.space import Space
from heuristics.shared.timeline import inner
from problems.instance import Instance


class Queue(NamedTuple):
    """Ready operators.

    Attributes
    ----------
    order : int64 array, shape (n,)
        Position of every node by priority: breaks ties.
    cost : float64 array, shape (n, K) or (0, K)
        Added to the start where pairs are compared.
    favourite : int64 array, shape (n,)
        Favourite child of every node, or -1.
    key, node, size : arrays, shapes (2 K, 2 n), (2 K, 2 n), (2 K,)
        Two heaps a device: k by the time of the inputs, K + k of what they have reached.
    parked, parked_size : int64 arrays, shapes (K, n), (K,)
        Entries that wait for a favourite child to leave the device free.
    missing : int64 array, shape (n,)
        Producers of every node that are not placed.
    last : int64 array, shape (K,)
        What each device ran last, or -1.
    latest : float64 array, shape (n,)
        When the inputs of a ready node can be on any device.
    """

    order: np.ndarray
    cost: np.ndarray
    favourite: np.ndarray
    key: np.ndarray
    node: np.ndarray
    size: np.ndarray
    parked: np.ndarray
    parked_size: np.ndarray
    missing: np.ndarray
    last: np.ndarray
    latest: np.ndarray


def offer_earliest(
    instance: Instance,
    space: Space,
    best: Best,
    priority: np.ndarray,
    by_finish: bool = False,
    favourite: np.ndarray | None = None,
) -> bool:
    """Schedule by earliest start (or finish), ties by falling `priority`, and offer the answer.

    Parameters
    ----------
    priority : float64 array, shape (n,)
    by_finish : bool
        Compare when pairs finish instead of when they start.
    favourite : int64 array, shape (n,), optional
        A child of every node, -1 for none, that its device is kept free for once the child is
        ready and the device is the earliest for it; what is urgent, i.e. could start at once on any
        device, may go before (Hanen and Munier 1995).

    Returns
    -------
    bool
        Whether the answer is better than what was there.
    """
    n, K = space.time.shape
    work = placing.start(instance, space, best.answer)
    order = np.empty(n, np.int64)
    order[np.argsort(-priority, kind="stable")] = np.arange(n)
    queue = Queue(
        order,
        space.time if by_finish else np.zeros((0, K)),
        np.full(n, -1) if favourite is None else favourite.astype(np.int64),
        # Never filled: pages that no entry touches cost nothing.
        np.empty((2 * K, 2 * n)),
        np.empty((2 * K, 2 * n), np.int64),
        np.zeros(2 * K, np.int64),
        np.empty((K, 0 if favourite is None else n), np.int64),
        np.zeros(K, np.int64),
        np.zeros(n, np.int64),
        np.full(K, -1, np.int64),
        np.zeros(n),
    )
    begin(space, work, queue)
    # Sources that wait for a consumer come along with it.
    total = n - int((work.waits & (np.diff(space.succ_ptr) > 0)).sum())

    def some(at: int, count: int) -> int:
        done: int = advance(space, work, queue, count)
        return done

    return in_pieces(best, total, some) and offer_work(instance, best, work)


@njit(cache=True)
def begin(space, work, queue):  # type: ignore[no-untyped-def]
    """Count what every node waits for, and enter those that wait for nothing."""
    n = len(queue.order)
    for v in range(n):
        for i in range(space.pred_ptr[v], space.pred_ptr[v + 1]):
            queue.missing[v] += not work.waits[space.pred[i]]
    for v in range(n):
        deferred = work.waits[v] and space.succ_ptr[v + 1] > space.succ_ptr[v]
        if queue.missing[v] == 0 and not deferred:
            _enter(space, work, queue, v)


@njit(cache=True)
def advance(space, work, queue, count):  # type: ignore[no-untyped-def]
    """Place `count` nodes more; returns how many it could."""
    finish, place, unit, free = work.finish, work.memory.place, space.unit, work.lanes.free
    key, node, size, order, cost = queue.key, queue.node, queue.size, queue.order, queue.cost
    unit_bytes, weight_ptr, weight = space.unit_bytes, space.weight_ptr, space.weight
    shared_bytes, use, readers = space.shared_bytes, work.memory.use, work.memory.readers
    missing, last, parked_size = queue.missing, queue.last, queue.parked_size
    succ_ptr, succ, limit, ready = space.succ_ptr, space.succ, space.memory, work.ready
    K = len(ready)
    done = 0
    while done < count:
        v, at, value = np.int64(-1), np.int64(-1), np.inf
        for row in range(2 * K):
            k = row % K
            while size[row] > 0:
                u = node[row, 0]
                held = place[unit[u]]
                if finish[u] >= 0 or (held >= 0 and held != k):
                    _pop(key, node, size, order, row)
                    continue
                extra = cost[u, k] if len(cost) > 0 else 0.0
                if row < K and key[row, 0] <= free[k] + extra:
                    _pop(key, node, size, order, row)
                    _push(key, node, size, order, K + k, extra, u)
                    continue
                break
            if size[row] > 0:
                u, soon = node[row, 0], key[row, 0]
                if row >= K:
                    soon += free[k]
                tied = soon == value and (order[u] < order[v] or (u == v and k < at % K))
                if soon < value or tied:
                    v, at, value = np.int64(u), np.int64(row), soon
        if v < 0:
            return done
        k, g = int(at % K), unit[v]
        _pop(key, node, size, order, at)
        if last[k] >= 0 and queue.favourite[last[k]] >= 0:
            child = queue.favourite[last[k]]
            if child != v and queue.latest[v] > value and _awaits(space, work, queue, child, k):
                queue.parked[k, parked_size[k]] = v
                parked_size[k] += 1
                continue
        arrivals(space, work, v, k)
        extra = cost[v, k] if len(cost) > 0 else 0.0
        if max(free[k], ready[k]) + extra > value:  # a port or a source has been taken since
            _push(key, node, size, order, k, ready[k] + extra, v)
            continue
        fits = place[g] >= 0 or (
            use[k] + need(unit_bytes, weight_ptr, weight, shared_bytes, readers, g, k) <= limit[k]
        )
        if not fits or not claim(space, work, g, k):
            if last[k] >= 0 and queue.favourite[last[k]] == v:
                _release(queue, k)
            # The way out that is kept open for it may lie where it has been refused before.
            way = work.reserved.place[g]
            if way >= 0:
                if size[way] == key.shape[1]:
                    return done
                _push(key, node, size, order, way, 0.0, v)
            continue
        if not commit(space, work, v, k, np.bool_(False)):
            return done
        done += 1
        for j in range(K):  # what was kept back for v, or behind what ran last
            if parked_size[j] > 0 and (j == k or queue.favourite[last[j]] == v):
                _release(queue, j)
        last[k] = -1 if space.unlimited[k] else v
        for i in range(succ_ptr[v], succ_ptr[v + 1]):
            missing[succ[i]] -= 1
            if missing[succ[i]] == 0:
                _enter(space, work, queue, succ[i])
    return done


@inner
def _enter(space, work, queue, v):  # type: ignore[no-untyped-def]
    """Enter a ready node on every device that it may go to."""
    arrivals(space, work, v, np.int64(-1))
    g = space.unit[v]
    latest = 0.0
    for k in range(len(work.ready)):
        latest = max(latest, work.ready[k])
        if space.unit_time[g, k] < np.inf and work.memory.place[g] in (-1, k):
            extra = queue.cost[v, k] if len(queue.cost) > 0 else 0.0
            _push(queue.key, queue.node, queue.size, queue.order, k, work.ready[k] + extra, v)
    queue.latest[v] = latest


@inner
def _awaits(space, work, queue, child, k):  # type: ignore[no-untyped-def]
    """Whether device k is kept free for a child: ready, not placed, and nowhere earlier."""
    g = space.unit[child]
    held = work.memory.place[g]
    if work.finish[child] >= 0 or queue.missing[child] > 0 or held not in (-1, k):
        return False
    if space.unit_time[g, k] == np.inf:
        return False
    if held == k:
        return True
    if space.memory[k] < work.memory.use[k] + need(
        space.unit_bytes, space.weight_ptr, space.weight, space.shared_bytes,
        work.memory.readers, g, k,
    ):  # fmt: skip
        return False
    ready, free = work.ready, work.lanes.free
    arrivals(space, work, child, np.int64(-1))
    for j in range(len(ready)):
        if space.unit_time[g, j] < np.inf and max(free[j], ready[j]) < max(free[k], ready[k]):
            return False
    return True


@inner
def _release(queue, k):  # type: ignore[no-untyped-def]
    """Enter what was parked at device k again; its child is no longer waited for."""
    # They were available when they were parked, and the device has not become free earlier.
    for i in range(queue.parked_size[k]):
        _push(queue.key, queue.node, queue.size, queue.order, k, 0.0, queue.parked[k, i])
    queue.parked_size[k] = 0
    queue.favourite[queue.last[k]] = -1


@inner
def _push(key, node, size, order, row, seconds, v):  # type: ignore[no-untyped-def]
    """Put v into a heap, sorted by seconds and then by order."""
    i = size[row]
    size[row] += 1
    while i > 0:
        up = (i - 1) // 2
        w = node[row, up]
        if key[row, up] < seconds or (key[row, up] == seconds and order[w] <= order[v]):
            break
        key[row, i], node[row, i] = key[row, up], w
        i = up
    key[row, i], node[row, i] = seconds, v


@inner
def _pop(key, node, size, order, row):  # type: ignore[no-untyped-def]
    """Drop the first of a heap."""
    size[row] -= 1
    count = size[row]
    seconds, v = key[row, count], node[row, count]
    i = 0
    while True:
        down = 2 * i + 1
        if down >= count:
            break
        a, b = node[row, down], node[row, min(down + 1, count - 1)]
        if down + 1 < count and (
            key[row, down + 1] < key[row, down]
            or (key[row, down + 1] == key[row, down] and order[b] < order[a])
        ):
            down += 1
        w = node[row, down]
        if seconds < key[row, down] or (seconds == key[row, down] and order[v] < order[w]):
            break
        key[row, i], node[row, i] = key[row, down], w
        i = down
    key[row, i], node[row, i] = seconds, v
