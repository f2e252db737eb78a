"""Placing one operator after another: ready times, transfers, the choice of a device, compiled.

Shared by all list schedulers; which operator is next is theirs to say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heuristics.shared import reserve, timeline
from heuristics.shared.receiving import nearest, receive
from heuristics.shared.reserve import Memory, follow, need, shift
from heuristics.shared.space import Space
from heuristics.shared.timeline import Timeline, book, find, inner
from problems import ports
from problems.answer import Answer
from problems.instance import Instance


class Work(NamedTuple):
    """A schedule that grows.

    Attributes
    ----------
    memory, reserved : Memory
        What is placed, and the placement of everything that keeps a way out; the latter is empty
        where none is known.
    cursor : int64 array, shape (K,)
        See :func:`heuristics.shared.reserve.follow`.
    waits : bool array, shape (n,)
        Sources that take no time on any device.
    light : bool array, shape (U,)
        Units that take no time on any device.
    start, finish : float64 arrays, shape (n,)
        Seconds; negative while a node is not placed.
    number : int64 array, shape (n,)
        When each node was placed, to order what takes no time.
    delay : float64 array, shape (n, links)
        Seconds of every output on every link.
    lanes : Timeline
        K devices; with ports also K sending and K receiving ports.
    arrival : float64 array, shape (n, K)
        With ports: when an output is on another device; negative where it is not sent.
    transfer, send, receive : arrays, shape (m,)
        With ports: the transfers so far, and when their legs begin.
    sent : int64 array, shape (2,)
        Transfers and nodes so far.
    ready, local, value : float64 arrays, shape (K,)
        Of the node at hand: when its inputs are on each device, the last of those made there,
        and what placing it there would cost.
    busy : float64 array, shape (K,)
        Scratch: when each sender is through with the node's inputs.
    """

    memory: Memory
    reserved: Memory
    cursor: np.ndarray
    waits: np.ndarray
    light: np.ndarray
    start: np.ndarray
    finish: np.ndarray
    number: np.ndarray
    delay: np.ndarray
    lanes: Timeline
    arrival: np.ndarray
    transfer: np.ndarray
    send: np.ndarray
    receive: np.ndarray
    sent: np.ndarray
    ready: np.ndarray
    local: np.ndarray
    value: np.ndarray
    busy: np.ndarray


def start(instance: Instance, space: Space, known: Answer | None) -> Work:
    """Nothing is placed; the mapping of a `known` answer shows a way out where memory is short."""
    n, K = space.time.shape
    with_ports = ports.has_ports(instance)
    m = len(space.succ) if with_ports else 0
    one_of = space.unit_node[space.unit_ptr[:-1]]
    idle = ((space.time == 0) | np.isinf(space.time)).all(axis=1)
    return Work(
        reserve.empty(space),
        reserve.empty(space) if known is None else reserve.of(space, known.device[one_of]),
        np.zeros(K, np.int64),
        idle & (np.diff(space.pred_ptr) == 0),
        ((space.unit_time == 0) | np.isinf(space.unit_time)).all(axis=1),
        np.full(n, -1.0),
        np.full(n, -1.0),
        np.zeros(n, np.int64),
        np.ascontiguousarray(space.link_time.T),
        timeline.empty(3 * K if with_ports else K, max(n, m)),
        np.full((n if with_ports else 0, K), -1.0),
        np.zeros(m, np.int64),
        np.zeros(m),
        np.zeros(m),
        np.zeros(2, np.int64),
        np.zeros(K),
        np.zeros(K),
        np.zeros(K),
        np.zeros(K),
    )


@inner
def put(space, work, v, insertion, bias):  # type: ignore[no-untyped-def]
    """Place v where it finishes first; False where it fits nowhere.

    `bias`, shape (n, K) or (0, K), is added to its finish.
    """
    time, unit_time, limit, unlimited = space.time, space.unit_time, space.memory, space.unlimited
    unit_bytes, weight_ptr, weight = space.unit_bytes, space.weight_ptr, space.weight
    shared_bytes, use, readers = space.shared_bytes, work.memory.use, work.memory.readers
    ready, local, value, lanes = work.ready, work.local, work.value, work.lanes
    count, begin, end, free = lanes.gaps, lanes.begin, lanes.end, lanes.free
    g = space.unit[v]
    was = work.memory.place[g]
    K = time.shape[1]
    arrivals(space, work, v, was)
    for k in range(K):
        value[k] = np.inf
        if (was >= 0 and k != was) or unit_time[g, k] == np.inf:
            continue
        seconds = time[v, k]
        if was < 0 and (
            use[k] + need(unit_bytes, weight_ptr, weight, shared_bytes, readers, g, k) > limit[k]
        ):
            continue
        begins, _ = _slot(
            unlimited, count, begin, end, free, k, ready[k], local[k], seconds, insertion
        )
        value[k] = begins + seconds
        if was < 0:  # the rest of the group will run here as well
            value[k] += unit_time[g, k] - seconds
        if len(bias) > 0:
            value[k] += bias[v, k]
    while True:
        best = np.int64(-1)
        for k in range(K):
            if value[k] < np.inf and (best < 0 or value[k] < value[best]):
                best = np.int64(k)
        if best < 0:
            return False
        if claim(space, work, g, best):
            return commit(space, work, v, best, insertion)
        value[best] = np.inf


@inner
def claim(space, work, g, k):  # type: ignore[no-untyped-def]
    """Put unit g on device k, whose memory holds it, unless that leaves no room for the rest."""
    memory, reserved = work.memory, work.reserved
    if memory.place[g] >= 0:
        return memory.place[g] == k
    if reserved.place[g] >= 0 and not follow(space, memory.place, reserved, work.cursor, g, k):
        return False
    shift(space.unit_bytes, space.weight_ptr, space.weight, space.shared_bytes, memory, g, k)
    return True


@inner
def commit(space, work, v, k, insertion):  # type: ignore[no-untyped-def]
    """Run v on k, where its unit is; False where a source that waited for it fits nowhere."""
    pred_ptr, pred, unit = space.pred_ptr, space.pred, space.unit
    start, finish, sent, lanes = work.start, work.finish, work.sent, work.lanes
    count, begin, end, free = lanes.gaps, lanes.begin, lanes.end, lanes.free
    with_ports, ready = len(work.arrival) > 0, work.ready
    for i in range(pred_ptr[v], pred_ptr[v + 1]):
        u = pred[i]
        if finish[u] < 0:
            if not _bring(space, work, u, k):
                return False
            # What takes no time fits in at the beginning of everything.
            start[u] = finish[u] = 0.0
            work.number[u] = sent[1]
            sent[1] += 1
            j = work.memory.place[unit[u]]
            if j != k and not with_ports:
                links, delay = space.links, work.delay
                ready[k] = max(ready[k], delay[u, links[j, k, 0]] + delay[u, links[j, k, 1]])
    if with_ports:
        ready[k], work.local[k] = receive(space, work, v, k, np.bool_(True))
    seconds = space.time[v, k]
    begins, gap = _slot(
        space.unlimited, count, begin, end, free, k, work.ready[k], work.local[k], seconds,
        insertion,
    )  # fmt: skip
    start[v], finish[v] = begins, begins + seconds
    if gap >= 0:
        book(count, begin, end, free, k, gap, begins, begins + seconds)
        if not insertion:
            count[k] = 0
    work.number[v] = sent[1]
    sent[1] += 1
    return True


@inner
def _slot(unlimited, count, begin, end, free, k, ready, local, seconds, insertion):  # type: ignore[no-untyped-def]
    """Earliest start on device k, and the gap to book; -1 for none."""
    if unlimited[k]:
        return ready, -1
    if not insertion:
        return max(ready, free[k]), count[k]
    if seconds == 0 and (ready <= 0 or ready == local):
        return ready, -1  # right behind what it waits for, which is no gap
    return find(count, begin, end, free, k, ready, seconds)


@inner
def arrivals(space, work, v, was):  # type: ignore[no-untyped-def]
    """When the inputs of v can be on each device, or on `was` alone (-1: all).

    Sources that still wait count as there, or as on the nearest device that supports them.
    """
    unit, pred_ptr, pred, links = space.unit, space.pred_ptr, space.pred, space.links
    unit_time, place, finish, delay = space.unit_time, work.memory.place, work.finish, work.delay
    ready, local = work.ready, work.local
    K = unit_time.shape[1]
    first, last = (0, K) if was < 0 else (was, was + 1)
    if len(work.arrival) > 0:
        for k in range(first, last):
            ready[k], local[k] = receive(space, work, v, k, np.bool_(False))
        return
    ready[first:last] = 0.0
    local[first:last] = 0.0
    for i in range(pred_ptr[v], pred_ptr[v + 1]):
        u = pred[i]
        if finish[u] < 0:
            for k in range(first, last):
                if unit_time[unit[u], k] == np.inf:
                    ready[k] = max(ready[k], nearest(unit_time, links, delay, u, unit[u], k))
            continue
        j = place[unit[u]]
        for k in range(first, last):
            if k == j:
                local[k] = max(local[k], finish[u])
                ready[k] = max(ready[k], finish[u])
            else:
                after = delay[u, links[j, k, 0]] + delay[u, links[j, k, 1]]
                ready[k] = max(ready[k], finish[u] + after)


@inner
def _bring(space, work, u, k):  # type: ignore[no-untyped-def]
    """Place the unit of source u as near to k as can be; False where it fits nowhere."""
    g = space.unit[u]
    if work.memory.place[g] >= 0:
        return True
    links, delay, unit_time = space.links, work.delay, space.unit_time
    refused = np.zeros(unit_time.shape[1], np.bool_)
    while True:
        best, least = np.int64(-1), np.inf
        for j in range(unit_time.shape[1]):
            if refused[j] or unit_time[g, j] == np.inf:
                continue
            if work.memory.use[j] + need(
                space.unit_bytes, space.weight_ptr, space.weight, space.shared_bytes,
                work.memory.readers, g, j,
            ) > space.memory[j]:  # fmt: skip
                continue
            after = delay[u, links[j, k, 0]] + delay[u, links[j, k, 1]] if j != k else 0.0
            if after < least or (after == least and j == k):
                best, least = np.int64(j), after
        if best < 0:
            return False
        if claim(space, work, g, best):
            return True
        refused[best] = True
