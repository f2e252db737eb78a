"""A placement that changes unit by unit: memory, chain and loads kept up to date, compiled.

Units may be unplaced (device -1). A move costs the degrees of the unit's nodes plus K each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.shared.space import Space

COMPUTE, RECEIVE, SEND = 0, 1, 2


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
    state.place[:] = -1
    state.device[:] = -1
    state.consumers[:] = 0
    state.parts[:] = 0
    state.use[:] = 0
    state.readers[:] = 0
    state.flow[:] = 0


@njit(cache=True)
def set_all(space, state, place):  # type: ignore[no-untyped-def]
    """Place all units afresh: nothing of earlier rounding is left."""
    clear(state)
    for g in range(len(place)):
        move(space, state, g, place[g])


@njit(cache=True)
def move(space, state, g, to):  # type: ignore[no-untyped-def]
    """Move unit g to device `to` (-1: take it off); its loads, memory and flow follow."""
    for i in range(space.unit_ptr[g], space.unit_ptr[g + 1]):
        _move_node(space, state, space.unit_node[i], to)
    shift(space, state, g, to)


@njit(cache=True)
def shift(space, state, g, to):  # type: ignore[no-untyped-def]
    """Move unit g with its memory and flow only, loads and node devices left behind."""
    k = state.place[g]
    for i in range(space.weight_ptr[g], space.weight_ptr[g + 1]):
        w = space.weight[i]
        if k >= 0:
            state.readers[w, k] -= 1
            if state.readers[w, k] == 0:
                state.use[k] -= space.shared_bytes[w]
        if to >= 0:
            state.readers[w, to] += 1
            if state.readers[w, to] == 1:
                state.use[to] += space.shared_bytes[w]
    if k >= 0:
        state.use[k] -= space.unit_bytes[g]
    if to >= 0:
        state.use[to] += space.unit_bytes[g]
    for i in range(space.after_ptr[g], space.after_ptr[g + 1]):
        other = state.place[space.after[i]]
        if other >= 0:
            if k >= 0:
                state.flow[k, other] -= 1
            if to >= 0:
                state.flow[to, other] += 1
    for i in range(space.before_ptr[g], space.before_ptr[g + 1]):
        other = state.place[space.before[i]]
        if other >= 0:
            if k >= 0:
                state.flow[other, k] -= 1
            if to >= 0:
                state.flow[other, to] += 1
    state.place[g] = to


@njit(cache=True)
def _move_node(space, state, v, to):  # type: ignore[no-untyped-def]
    k, phase, K = state.device[v], space.phase[v], space.time.shape[1]
    if k >= 0:
        state.parts[phase, k, 0] -= space.time[v, k]
        _sends(space, state, v, k, -1.0)
    if to >= 0:
        state.parts[phase, to, 0] += space.time[v, to]
        _sends(space, state, v, to, 1.0)
    state.device[v] = to
    for i in range(space.pred_ptr[v], space.pred_ptr[v + 1]):
        u = space.pred[i]
        j = state.device[u]
        if j < 0:
            if k >= 0:
                state.consumers[u, k] -= 1
            if to >= 0:
                state.consumers[u, to] += 1
            continue
        if k >= 0:
            state.consumers[u, k] -= 1
            if state.consumers[u, k] == 0 and k != j:
                _transfer(space, state, u, j, k, -1.0)
                if space.staged and not space.host[j] and _away(state, u, j, K) == 0:
                    state.parts[space.phase[u], j, 2] -= space.link_time[space.port[j], u]
        if to >= 0:
            if space.staged and to != j and not space.host[j] and _away(state, u, j, K) == 0:
                state.parts[space.phase[u], j, 2] += space.link_time[space.port[j], u]
            state.consumers[u, to] += 1
            if state.consumers[u, to] == 1 and to != j:
                _transfer(space, state, u, j, to, 1.0)


@njit(cache=True)
def _away(state, u, k, K):  # type: ignore[no-untyped-def]
    """Number of devices other than k that consume u."""
    count = 0
    for j in range(K):
        if j != k and state.consumers[u, j] > 0:
            count += 1
    return count


@njit(cache=True)
def _transfer(space, state, u, k, to, sign):  # type: ignore[no-untyped-def]
    """Add or remove the transfer of u from k to another device, a staged port's sending apart."""
    phase = space.phase[u]
    if space.staged:
        if not space.host[to]:
            state.parts[phase, to, 1] += sign * space.link_time[space.port[to], u]
        return
    seconds = sign * space.link_time[space.wire[k, to], u]
    if not space.host[to]:
        state.parts[phase, to, 1] += seconds
    if not space.host[k]:
        state.parts[phase, k, 2] += seconds


@njit(cache=True)
def _sends(space, state, u, k, sign):  # type: ignore[no-untyped-def]
    """Add or remove all transfers of u from device k."""
    away = False
    for to in range(space.time.shape[1]):
        if to != k and state.consumers[u, to] > 0:
            _transfer(space, state, u, k, to, sign)
            away = True
    if space.staged and away and not space.host[k]:
        state.parts[space.phase[u], k, 2] += sign * space.link_time[space.port[k], u]


@njit(cache=True)
def load(space, state, phase, k):  # type: ignore[no-untyped-def]
    """Load of device k in seconds: of one phase under `split_phases`, else of both."""
    comp, into, out = state.parts[phase, k, 0], state.parts[phase, k, 1], state.parts[phase, k, 2]
    if not space.split:
        other = 1 - phase
        comp += state.parts[other, k, 0]
        into += state.parts[other, k, 1]
        out += state.parts[other, k, 2]
    if space.overlap == 0:
        return comp + into + out
    if space.overlap == 1:
        return max(comp, into + out)
    return max(comp, max(into, out))


@njit(cache=True)
def period(space, state):  # type: ignore[no-untyped-def]
    """Objective of the placed units in seconds."""
    total = 0.0
    for phase in range(2 if space.split else 1):
        worst = 0.0
        for k in range(space.time.shape[1]):
            worst = max(worst, load(space, state, phase, k))
        total += worst
    return total


@njit(cache=True)
def fits(space, state):  # type: ignore[no-untyped-def]
    """Whether every device holds what is on it."""
    for k in range(len(state.use)):  # noqa: SIM110 - compiled
        if state.use[k] > space.memory[k]:
            return False
    return True


@njit(cache=True)
def chain(state, position):  # type: ignore[no-untyped-def]
    """Whether the flow between devices has no cycle; `position`, shape (K,), gets their order."""
    K = len(position)
    position[:] = -1
    for rank in range(K):
        found = -1
        for k in range(K):
            if position[k] >= 0:
                continue
            free = True
            for j in range(K):
                if j != k and position[j] < 0 and state.flow[j, k] > 0:
                    free = False
                    break
            if free:
                found = k
                break
        if found < 0:
            return False
        position[found] = rank
    return True
