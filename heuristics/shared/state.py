"""A placement that changes unit by unit: memory, chain and loads kept up to date, compiled.

Units may be unplaced (device -1). A move costs the degrees of the unit's nodes plus K each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.shared.space import Space
from solvers.by_reference import by_reference

COMPUTE, RECEIVE, SEND = 0, 1, 2
# No literal: the compiler would make a version of a function for it.
NOWHERE = np.int64(-1)


@by_reference
class State(NamedTuple):
    """A (partial) placement.

    Attributes
    ----------
    place : int64 array, shape (U,)
        Device of every unit; -1 where it has none.
    device : int64 array, shape (n,)
        Device of every node, likewise.
    consumers : int32 array, shape (n, K)
        Consumers of each node on each device.
    parts : float64 array, shape (2, K, 3)
        See :func:`problems.throughput.parts`; consumers without a device are no transfers.
    use : float64 array, shape (K,)
        Bytes held.
    readers : int32 array, shape (T, K)
        Units that read each shared weight on each device.
    flow : int64 array, shape (K, K)
        Ordered pairs of units that lead from one device to another.
    """

    place: np.ndarray
    device: np.ndarray
    consumers: np.ndarray
    parts: np.ndarray
    use: np.ndarray
    readers: np.ndarray
    flow: np.ndarray


def empty(space: Space) -> State:
    """A state in which no unit is placed."""
    n, K = space.time.shape
    return State(
        np.full(len(space.unit_bytes), -1, np.int64),
        np.full(n, -1, np.int64),
        np.zeros((n, K), np.int32),
        np.zeros((2, K, 3)),
        np.zeros(K),
        np.zeros((len(space.shared_bytes), K), np.int32),
        np.zeros((K, K), np.int64),
    )


def of(space: Space, place: np.ndarray) -> State:
    """The state of a placement of units, shape (U,)."""
    state = empty(space)
    set_all(space, state, place.astype(np.int64))
    return state


@njit(cache=True)
def clear(state):  # type: ignore[no-untyped-def]
    """Take every unit off its device."""
    state.place.fill(-1)
    state.device.fill(-1)
    state.consumers.fill(0)
    state.parts.fill(0.0)
    state.use.fill(0.0)
    state.readers.fill(0)
    state.flow.fill(0)


@njit(cache=True)
def set_all(space, state, place):  # type: ignore[no-untyped-def]
    """Place all units afresh: nothing of earlier rounding is left."""
    clear(state)
    for g in range(len(place)):
        move(space, state, g, place[g])


@njit(cache=True)
def move(space, state, g, to):  # type: ignore[no-untyped-def]
    """Move unit g to device `to` (-1: take it off); its loads, memory and flow follow."""
    unit_node, time, phase = space.unit_node, space.time, space.phase
    pred_ptr, pred, host, staged = space.pred_ptr, space.pred, space.host, space.staged
    link_time, port = space.link_time, space.port
    device, consumers, parts = state.device, state.consumers, state.parts
    first, last = space.unit_ptr[g], space.unit_ptr[g + 1]
    K = time.shape[1]
    for a in range(first, last):
        v = unit_node[a]
        k, f = device[v], phase[v]
        for sign in (-1.0, 1.0):
            at = k if sign < 0 else to
            if at < 0:
                continue
            parts[f, at, COMPUTE] += sign * time[v, at]
            away = False
            for j in range(K):
                if j != at and consumers[v, j] > 0:
                    _transfer(space, parts, v, f, at, j, sign)
                    away = True
            if staged and away and not host[at]:
                parts[f, at, SEND] += sign * link_time[port[at], v]
        device[v] = to
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            u = pred[i]
            j, f = device[u], phase[u]
            if k >= 0:
                consumers[u, k] -= 1
                if j >= 0 and k != j and consumers[u, k] == 0:
                    _transfer(space, parts, u, f, j, k, -1.0)
                    if staged and not host[j] and not _is_sent(consumers, u, j, K):
                        parts[f, j, SEND] -= link_time[port[j], u]
            if to >= 0:
                consumers[u, to] += 1
                if j >= 0 and to != j and consumers[u, to] == 1:
                    _transfer(space, parts, u, f, j, to, 1.0)
                    consumers[u, to] = 0
                    if staged and not host[j] and not _is_sent(consumers, u, j, K):
                        parts[f, j, SEND] += link_time[port[j], u]
                    consumers[u, to] = 1
    shift(space, state, g, to)


@njit(cache=True)
def shift(space, state, g, to):  # type: ignore[no-untyped-def]
    """Move unit g with its memory and flow only, loads and node devices left behind."""
    place, use = state.place, state.use
    k = place[g]
    if k >= 0:
        use[k] -= space.unit_bytes[g]
    if to >= 0:
        use[to] += space.unit_bytes[g]
    if space.weight_ptr[g] < space.weight_ptr[g + 1]:
        readers, weight, shared_bytes = state.readers, space.weight, space.shared_bytes
        for i in range(space.weight_ptr[g], space.weight_ptr[g + 1]):
            w = weight[i]
            if k >= 0:
                readers[w, k] -= 1
                if readers[w, k] == 0:
                    use[k] -= shared_bytes[w]
            if to >= 0:
                readers[w, to] += 1
                if readers[w, to] == 1:
                    use[to] += shared_bytes[w]
    if space.contiguous:
        after, before, flow = space.after, space.before, state.flow
        for i in range(space.after_ptr[g], space.after_ptr[g + 1]):
            other = place[after[i]]
            if other >= 0:
                if k >= 0:
                    flow[k, other] -= 1
                if to >= 0:
                    flow[to, other] += 1
        for i in range(space.before_ptr[g], space.before_ptr[g + 1]):
            other = place[before[i]]
            if other >= 0:
                if k >= 0:
                    flow[other, k] -= 1
                if to >= 0:
                    flow[other, to] += 1
    place[g] = to


@njit(cache=True)
def _is_sent(consumers, u, k, K):  # type: ignore[no-untyped-def]
    """Whether u, on device k, has a consumer elsewhere."""
    for j in range(K):  # noqa: SIM110 - compiled
        if j != k and consumers[u, j] > 0:
            return True
    return False


@njit(cache=True)
def _transfer(space, parts, u, f, k, to, sign):  # type: ignore[no-untyped-def]
    """Add or remove the transfer of u from k to another device, a staged port's sending apart."""
    host, link_time, port = space.host, space.link_time, space.port
    if space.staged:
        if not host[to]:
            parts[f, to, RECEIVE] += sign * link_time[port[to], u]
        return
    seconds = sign * link_time[space.wire[k, to], u]
    if not host[to]:
        parts[f, to, RECEIVE] += seconds
    if not host[k]:
        parts[f, k, SEND] += seconds


@njit(cache=True)
def objectives(space, state):  # type: ignore[no-untyped-def]
    """Period of the placed units, and the sum of all loads, in seconds."""
    parts, overlap, split = state.parts, space.overlap, space.split
    period, total = 0.0, 0.0
    for phase in range(2 if split else 1):
        worst = 0.0
        for k in range(parts.shape[1]):
            comp, into, out = parts[phase, k, 0], parts[phase, k, 1], parts[phase, k, 2]
            if not split:
                comp += parts[1, k, 0]
                into += parts[1, k, 1]
                out += parts[1, k, 2]
            if overlap == 0:
                load = comp + into + out
            elif overlap == 1:
                load = max(comp, into + out)
            else:
                load = max(comp, max(into, out))
            worst = max(worst, load)
            total += load
        period += worst
    return period, total


@njit(cache=True)
def period(space, state):  # type: ignore[no-untyped-def]
    """Objective of the placed units in seconds."""
    return objectives(space, state)[0]


@njit(cache=True)
def fits(space, state):  # type: ignore[no-untyped-def]
    """Whether every device holds what is on it."""
    use, memory = state.use, space.memory
    for k in range(len(use)):  # noqa: SIM110 - compiled
        if use[k] > memory[k]:
            return False
    return True


@njit(cache=True)
def chain(state, position):  # type: ignore[no-untyped-def]
    """Whether the flow between devices has no cycle; `position`, shape (K,), gets their order."""
    K, flow = len(position), state.flow
    position[:] = -1
    for rank in range(K):
        found = -1
        for k in range(K):
            if position[k] >= 0:
                continue
            free = True
            for j in range(K):
                if j != k and position[j] < 0 and flow[j, k] > 0:
                    free = False
                    break
            if free:
                found = k
                break
        if found < 0:
            return False
        position[found] = rank
    return True
