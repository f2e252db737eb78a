"""`throughput`: the period after one unit has moved."""

from __future__ import annotations

import numpy as np
from numba import njit

from heuristics.shared import state as state_
from heuristics.shared.space import Space


class Moves:
    """A placement of units, and what every move of one of them gives."""

    def __init__(self, space: Space) -> None:
        self.space, self.state = space, state_.empty(space)
        self._position = np.empty(space.unit_time.shape[1], np.int64)
        self._touching = np.empty(len(space.unit_bytes), bool)

    def place(self, units: np.ndarray) -> float:
        """Start from a valid placement of units, shape (U,); returns its objective in seconds."""
        state_.set_all(self.space, self.state, units)
        _touch(self.space, self.state, self._touching)
        return float(state_.period(self.space, self.state))

    def values(self, first: int, last: int) -> np.ndarray:
        """Objective after each move of units first..last-1, float64 array, shape (., K).

        inf where it breaks a rule, and where it cannot lower the period: only a unit on a device
        of the largest load, or next to one, can.
        """
        result = np.full((last - first, self.space.unit_time.shape[1]), np.inf)
        _values(self.space, self.state, self._position, self._touching, first, result)
        return result

    def move(self, g: int, k: int) -> None:
        """Move a unit."""
        state_.move(self.space, self.state, g, k)
        _touch(self.space, self.state, self._touching)


@njit(cache=True)
def _touch(space, state, touching):  # type: ignore[no-untyped-def]
    """Mark the units on a device of the largest load (of some phase), or next to one."""
    K = space.unit_time.shape[1]
    busiest = np.zeros(K, np.bool_)
    load = np.empty(K)
    for f in range(2 if space.split else 1):
        for k in range(K):
            comp, into, out = state.parts[f, k, 0], state.parts[f, k, 1], state.parts[f, k, 2]
            if not space.split:
                comp += state.parts[1, k, 0]
                into += state.parts[1, k, 1]
                out += state.parts[1, k, 2]
            load[k] = comp + into + out
            if space.overlap == 1:
                load[k] = max(comp, into + out)
            elif space.overlap == 2:
                load[k] = max(comp, max(into, out))
        worst = load.max() * (1 - 1e-12)
        for k in range(K):
            busiest[k] |= load[k] >= worst
    for g in range(len(touching)):
        touching[g] = busiest[state.place[g]]
    for u in range(len(space.unit)):
        for i in range(space.succ_ptr[u], space.succ_ptr[u + 1]):
            v = space.succ[i]
            if busiest[state.device[v]]:
                touching[space.unit[u]] = True
            if busiest[state.device[u]]:
                touching[space.unit[v]] = True


@njit(cache=True)
def _values(space, state, position, touching, first, result):  # type: ignore[no-untyped-def]
    saved = state.parts.copy()
    for g in range(first, first + len(result)):
        if not touching[g]:
            continue
        back = state.place[g]
        for k in range(result.shape[1]):
            if k == back or space.unit_time[g, k] == np.inf:
                continue
            state_.move(space, state, g, k)
            if state.use[k] <= space.memory[k] and (
                not space.contiguous or state_.chain(state, position)
            ):
                result[g - first, k] = state_.period(space, state)
        state_.move(space, state, g, back)
        state.parts[:] = saved  # exactly as before: rounding cannot add up
