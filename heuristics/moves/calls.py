"""`calls`: the latency of the dispatched mapping after one unit has moved."""

from __future__ import annotations

import numpy as np
from numba import njit

from heuristics.moves.units import place_all, put
from heuristics.shared import state as state_
from heuristics.shared.space import Space
from problems.calls import changes, entries, most_slots, part_finishes
from problems.instance import Instance


class Moves:
    """A placement of units, and what every move of one of them gives."""

    def __init__(self, space: Space, instance: Instance) -> None:
        self.space, self.state = space, state_.empty(space)
        self._device = np.empty(len(space.unit), np.int64)
        self._slots = most_slots(instance)

    def place(self, units: np.ndarray) -> float:
        """Start from a placement of units, shape (U,); its objective in seconds, or inf."""
        place_all(self.space, self.state, self._device, units)
        return float(_makespan(self.space, self._device, self._slots))

    def values(self, first: int, last: int) -> np.ndarray:
        """Objective after each move of units first..last-1, float64 array, shape (., K).

        inf where it breaks a rule.
        """
        result = np.full((last - first, self.space.unit_time.shape[1]), np.inf)
        _values(self.space, self.state, self._device, self._slots, first, result)
        return result

    def move(self, g: int, k: int) -> None:
        """Move a unit."""
        put(self.space, self.state, self._device, g, k)


@njit(cache=True)
def _makespan(space, device, slots):  # type: ignore[no-untyped-def]
    """As :func:`problems.calls.dispatch` completes the mapping; inf with too many calls."""
    n, K = space.time.shape
    part = np.empty(n, np.int64)
    after = np.full(n, -1, np.int64)
    level = np.zeros(n, np.int64)
    for attempt in range(2):
        count = 0
        for k in range(K):
            if space.host[k]:
                continue
            inside = device == k
            if attempt == 0:
                level[:] = entries(inside, space.pred_ptr, space.pred)
            # Parts follow each other by level; levels without a node are no part.
            number = np.full(n + 1, -1, np.int64)
            for v in range(n):
                if inside[v]:
                    number[level[v]] = 0
            begin = count
            for x in range(n + 1):
                if number[x] == 0:
                    number[x] = count
                    after[count] = count + 1
                    count += 1
            if count - begin > slots:
                return np.inf
            if count > begin:
                after[count - 1] = -1
            for v in range(n):
                if inside[v]:
                    part[v] = number[level[v]]
        for v in range(n):
            if space.host[device[v]]:
                part[v] = count
                after[count] = -1
                count += 1
        able, finish = part_finishes(
            device, part, after[:count].copy(), space.time, space.succ_ptr, space.succ,
            space.pred_ptr, space.pred, space.host, space.link_time, space.port,
        )  # fmt: skip
        if able:
            return finish.max()
        level = changes(device, space.pred_ptr, space.pred)
    return np.inf


@njit(cache=True)
def _values(space, state, device, slots, first, result):  # type: ignore[no-untyped-def]
    for g in range(first, first + len(result)):
        back = state.place[g]
        for k in range(result.shape[1]):
            if k == back or space.unit_time[g, k] == np.inf:
                continue
            put(space, state, device, g, k)
            if state.use[k] <= space.memory[k]:
                result[g - first, k] = _makespan(space, device, slots)
        put(space, state, device, g, back)
