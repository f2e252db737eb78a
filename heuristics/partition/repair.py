"""From parts on devices to a placement that keeps the rules, compiled.

Units that their device does not support, and units of devices that are too full, go one by one
where they cost least: the seconds that the device has already, their own, and the transfers to
neighbours elsewhere. Under `contiguous` only moves that keep the chain count, so parts are first
projected onto it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from heuristics.shared import state as state_

PASSES = 6


@njit(cache=True)
def repair(space, state, place, ptr, neighbour, seconds):  # type: ignore[no-untyped-def]
    """Make `place`, shape (U,), valid in `state`; False where that fails.

    `ptr`, `neighbour` and `seconds` are the rows of :class:`~heuristics.partition.network.Network`.
    Loads in ``state.parts`` are not kept.
    """
    U, K = space.unit_time.shape
    state_.clear(state)
    busy = np.zeros(K)
    pull = np.zeros(K)
    position = np.empty(K, np.int64)
    for g in range(U):
        _shift(space, state, g, place[g])
        if space.unit_time[g, place[g]] < np.inf:
            busy[place[g]] += space.unit_time[g, place[g]]
    if space.contiguous and not state_.chain(state, position):
        return False
    for turn in range(PASSES):
        broken = False
        for i in range(U):
            g = i if turn % 2 == 0 else U - 1 - i
            k = state.place[g]
            able = space.unit_time[g, k] < np.inf
            if able and state.use[k] <= space.memory[k]:
                continue
            pull[:] = 0
            total = 0.0
            for a in range(ptr[g], ptr[g + 1]):
                pull[state.place[neighbour[a]]] += seconds[a]
                total += seconds[a]
            best, least = -1, np.inf
            was = state.use[k]
            for c in range(K):
                if c == k or space.unit_time[g, c] == np.inf:
                    continue
                # At first only what lies at a border leaves for lack of memory.
                if able and turn < 2 and pull[c] == 0 and pull[k] > 0:
                    continue
                value = busy[c] + space.unit_time[g, c] + total - pull[c]
                if value >= least:
                    continue
                _shift(space, state, g, c)
                fits = state.use[c] <= space.memory[c] and (not able or state.use[k] < was)
                if fits and (not space.contiguous or state_.chain(state, position)):
                    best, least = c, value
                _shift(space, state, g, k)
            if best < 0:
                broken = True
                continue
            _shift(space, state, g, best)
            if able:
                busy[k] -= space.unit_time[g, k]
            busy[best] += space.unit_time[g, best]
        if not broken:
            break
    for g in range(U):
        if space.unit_time[g, state.place[g]] == np.inf:
            return False
    return state_.fits(space, state)


@njit(cache=True)
def _shift(space, state, g, to):  # type: ignore[no-untyped-def]
    state_.shift(space, state, g, to)


@njit(cache=True)
def project(ptr, neighbours, rank, forward):  # type: ignore[no-untyped-def]
    """Move ranks, shape (U,), no further than an order that never falls along edges asks.

    `ptr` and `neighbours` are the predecessors of topologically numbered units where units are
    pushed `forward`, their successors where they are pulled back.
    """
    U = len(rank)
    result = rank.copy()
    for i in range(U):
        g = i if forward else U - 1 - i
        for a in range(ptr[g], ptr[g + 1]):
            if forward:
                result[g] = max(result[g], result[neighbours[a]])
            else:
                result[g] = min(result[g], result[neighbours[a]])
    return result
