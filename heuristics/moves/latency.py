"""`latency`: the makespan of the dispatched mapping after one unit has moved."""

from __future__ import annotations

import numpy as np
from numba import njit

from heuristics.moves.units import place_all, put
from heuristics.shared import state as state_
from heuristics.shared.space import Space
from problems.latency import sequence_starts_compiled, upward_rank_compiled


class Moves:
    """A placement of units, and what every move of one of them gives.

    Transfers are pure delays: under ``contention: ports`` these are lower bounds of the objective.
    """

    def __init__(self, space: Space) -> None:
        self.space, self.state = space, state_.empty(space)
        self._device = np.empty(len(space.unit), np.int64)

    def place(self, units: np.ndarray) -> float:
        """Start from a valid placement of units, shape (U,); returns its makespan in seconds."""
        place_all(self.space, self.state, self._device, units)
        return float(_makespan(self.space, self._device))

    def values(self, first: int, last: int) -> np.ndarray:
        """Makespan after each move of units first..last-1, float64 array, shape (., K).

        inf where it breaks a rule.
        """
        result = np.full((last - first, self.space.unit_time.shape[1]), np.inf)
        _values(self.space, self.state, self._device, first, result)
        return result

    def move(self, g: int, k: int) -> None:
        """Move a unit."""
        put(self.space, self.state, self._device, g, k)


@njit(cache=True)
def _makespan(space, device):  # type: ignore[no-untyped-def]
    """As :func:`problems.latency.dispatch` completes the mapping."""
    time = space.time
    rank = upward_rank_compiled(
        device, time, space.succ_ptr, space.succ, space.link_time, space.links
    )
    sequence = np.argsort(-rank, kind="mergesort")  # stable: ties by node
    start = sequence_starts_compiled(
        device, sequence, time, space.pred_ptr, space.pred, space.unlimited, space.link_time,
        space.links,
    )  # fmt: skip
    worst = 0.0
    for v in range(len(device)):
        worst = max(worst, start[v] + time[v, device[v]])
    return worst


@njit(cache=True)
def _values(space, state, device, first, result):  # type: ignore[no-untyped-def]
    for g in range(first, first + len(result)):
        back = state.place[g]
        for k in range(result.shape[1]):
            if k == back or space.unit_time[g, k] == np.inf:
                continue
            put(space, state, device, g, k)
            if state.use[k] <= space.memory[k]:
                result[g - first, k] = _makespan(space, device)
        put(space, state, device, g, back)
