"""List scheduling with insertion, aware of memory and of colocation groups (`latency`).

Two departures from plain HEFT, none of which touches a graph without groups and zero-time sources:
the first node of a group to be placed chooses the device for the time of the whole group, and a
source that takes no time (a weight, an input) waits for its first consumer instead of dragging its
group to device 0.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from heuristics.shared import state as state_
from heuristics.shared.best import Best
from heuristics.shared.space import Space
from problems.answer import Answer
from problems.instance import Instance


def mean_rank(instance: Instance, space: Space) -> np.ndarray:
    """Upward rank by mean times, seconds, shape (n,).

    The mean of an operator is over the devices that support it, the mean of a transfer over all
    ordered pairs of devices.
    """
    supported = np.isfinite(instance.time)
    mean = np.where(supported, instance.time, 0.0).sum(axis=1) / supported.sum(axis=1)
    K = instance.K
    share = np.zeros(len(instance.link_time))
    if K > 1:
        apart = space.links[~np.eye(K, dtype=bool)]
        share = np.bincount(apart.ravel(), minlength=len(share)) / (K * (K - 1))
    rank: np.ndarray = _rank(mean, share @ instance.link_time, space.succ_ptr, space.succ)
    return rank


def offer_schedule(
    instance: Instance, space: Space, best: Best, priority: np.ndarray, insertion: bool = True
) -> bool:
    """Schedule nodes by falling `priority`, shape (n,), ties by index, and offer the answer.

    Along an edge the priority must not rise. Where memory leaves no device for a node, the mapping
    of the best answer so far is scheduled instead.
    """
    sequence = np.argsort(-priority, kind="stable").astype(np.int64)
    state = state_.empty(space)
    free = np.full(len(space.unit_bytes), -1, np.int64)
    done, count, slots = schedule(space, state, sequence, insertion, free)
    if not done:
        if best.answer is None:
            return False
        place = best.answer.device[space.unit_node[space.unit_ptr[:-1]]]
        state_.clear(state)
        done, count, slots = schedule(space, state, sequence, insertion, place)
        assert done, "a valid mapping can be scheduled"
    order = [slots[k, : count[k]] for k in range(instance.K)]
    return best.offer(Answer.of(state.place[space.unit], order))


@njit(cache=True)
def _rank(mean, comm, succ_ptr, succ):  # type: ignore[no-untyped-def]
    n = len(mean)
    rank = np.zeros(n)
    for u in range(n - 1, -1, -1):
        longest = 0.0
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            longest = max(longest, comm[u] + rank[succ[i]])
        rank[u] = mean[u] + longest
    return rank


@njit(cache=True)
def schedule(space, state, sequence, insertion, fixed):  # type: ignore[no-untyped-def]
    """Place and order all nodes as they follow in `sequence`, each where it finishes first.

    `fixed`, shape (U,), prescribes devices; -1 leaves one open. Returns whether every node found
    a device, and count, shape (K,), and nodes, shape (K, n), of each device in order.
    """
    n, K = space.time.shape
    count = np.zeros(K, np.int64)
    node, begin, end = np.empty((K, n), np.int64), np.empty((K, n)), np.empty((K, n))
    finish = np.full(n, -1.0)  # negative: not placed
    for v in sequence:
        unit = space.unit[v]
        outside = space.succ_ptr[v + 1] > space.succ_ptr[v]
        if outside and state.place[unit] < 0 and fixed[unit] < 0 and _is_free_source(space, v):
            continue  # waits for its first consumer
        for i in range(space.pred_ptr[v], space.pred_ptr[v + 1]):
            u = space.pred[i]
            if finish[u] >= 0 or space.unit[u] == unit or _is_light(space, space.unit[u]):
                continue
            if not _put(space, state, u, True, fixed, finish, count, node, begin, end):
                return False, count, node
        if not _put(space, state, v, insertion, fixed, finish, count, node, begin, end):
            return False, count, node
    return True, count, node


@njit(cache=True)
def _is_free_source(space, v):  # type: ignore[no-untyped-def]
    if space.pred_ptr[v + 1] > space.pred_ptr[v]:
        return False
    for k in range(space.time.shape[1]):
        if space.time[v, k] > 0 and space.time[v, k] < np.inf:
            return False
    return True


@njit(cache=True)
def _is_light(space, g):  # type: ignore[no-untyped-def]
    """Whether unit g takes no time anywhere."""
    for k in range(space.time.shape[1]):
        if space.unit_time[g, k] > 0 and space.unit_time[g, k] < np.inf:
            return False
    return True


@njit(cache=True)
def _put(space, state, v, insertion, fixed, finish, count, node, begin, end):  # type: ignore[no-untyped-def]
    """Place v where it finishes first; False where it fits nowhere."""
    g = space.unit[v]
    best, least, best_start, best_slot = -1, np.inf, 0.0, 0
    for k in range(space.time.shape[1]):
        was = state.place[g]
        if (was >= 0 and k != was) or (fixed[g] >= 0 and k != fixed[g]):
            continue
        if space.unit_time[g, k] == np.inf:
            continue
        if was < 0:
            state_.shift(space, state, g, k)
        if was >= 0 or state.use[k] <= space.memory[k]:
            ready = _ready(space, state, v, k, finish)
            start, slot = _slot(space, k, ready, space.time[v, k], insertion, count, begin, end)
            value = start + space.time[v, k]
            if was < 0:  # the rest of the group will run here as well
                value += space.unit_time[g, k] - space.time[v, k]
            if value < least:
                best, least, best_start, best_slot = k, value, start, slot
        if was < 0:
            state_.shift(space, state, g, -1)
    if best < 0:
        return False
    if state.place[g] < 0:
        state_.shift(space, state, g, best)
    # The sources that waited for v come with it.
    waited = False
    for i in range(space.pred_ptr[v], space.pred_ptr[v + 1]):
        u = space.pred[i]
        if finish[u] >= 0:
            continue
        waited = True
        k = _source_device(space, state, u, best, fixed)
        if k < 0:
            return False
        if state.place[space.unit[u]] < 0:
            state_.shift(space, state, space.unit[u], k)
        start, slot = _slot(space, k, 0.0, 0.0, True, count, begin, end)
        _insert(u, k, slot, start, start, count, node, begin, end)
        finish[u] = start
    if waited:
        ready = _ready(space, state, v, best, finish)
        best_start, best_slot = _slot(
            space, best, ready, space.time[v, best], insertion, count, begin, end
        )
    finish[v] = best_start + space.time[v, best]
    _insert(v, best, best_slot, best_start, finish[v], count, node, begin, end)
    return True


@njit(cache=True)
def _ready(space, state, v, k, finish):  # type: ignore[no-untyped-def]
    """When all inputs of v can be on device k; sources that still wait count as there."""
    ready = 0.0
    for i in range(space.pred_ptr[v], space.pred_ptr[v + 1]):
        u = space.pred[i]
        if finish[u] >= 0:
            ready = max(ready, finish[u] + _delay(space, u, state.place[space.unit[u]], k))
        elif space.unit_time[space.unit[u], k] == np.inf:
            nearest = np.inf
            for j in range(space.time.shape[1]):
                if space.unit_time[space.unit[u], j] < np.inf:
                    nearest = min(nearest, _delay(space, u, j, k))
            ready = max(ready, nearest)
    return ready


@njit(cache=True)
def _source_device(space, state, u, k, fixed):  # type: ignore[no-untyped-def]
    """Device nearest to k that takes source u; -1 where none does."""
    g = space.unit[u]
    if state.place[g] >= 0:
        return state.place[g]
    best, least = -1, np.inf
    for j in range(space.time.shape[1]):
        if space.unit_time[g, j] == np.inf or (fixed[g] >= 0 and fixed[g] != j):
            continue
        state_.shift(space, state, g, j)
        fits = state.use[j] <= space.memory[j]
        state_.shift(space, state, g, -1)
        delay = _delay(space, u, j, k)
        if fits and (delay < least or (delay == least and j == k)):
            best, least = j, delay
    return best


@njit(cache=True)
def _delay(space, u, k, to):  # type: ignore[no-untyped-def]
    if k == to:
        return 0.0
    links = space.links
    return space.link_time[links[k, to, 0], u] + space.link_time[links[k, to, 1], u]


@njit(cache=True)
def _slot(space, k, ready, seconds, insertion, count, begin, end):  # type: ignore[no-untyped-def]
    """Start and position of the first gap on device k from `ready` on that takes `seconds`."""
    low, high = 0, count[k]
    if space.unlimited[k]:
        return ready, high
    if not insertion:
        return max(ready, end[k, high - 1]) if high > 0 else ready, high
    while low < high:  # first interval that ends after `ready`: what v waits for lies before it
        middle = (low + high) // 2
        if end[k, middle] > ready:
            high = middle
        else:
            low = middle + 1
    while low < count[k]:
        start = max(ready, end[k, low - 1]) if low > 0 else ready
        if start + seconds <= begin[k, low]:
            return start, low
        low += 1
    return max(ready, end[k, low - 1]) if low > 0 else ready, low


@njit(cache=True)
def _insert(v, k, slot, start, finish, count, node, begin, end):  # type: ignore[no-untyped-def]
    for i in range(count[k], slot, -1):
        node[k, i], begin[k, i], end[k, i] = node[k, i - 1], begin[k, i - 1], end[k, i - 1]
    node[k, slot], begin[k, slot], end[k, slot] = v, start, finish
    count[k] += 1
