"""Unit by unit onto the device that keeps the period least."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from heuristics.shared import state as state_
from heuristics.shared.space import Space
from heuristics.shared.state import State

# Pairs of devices looked at between two looks at the clock: hundredths of a second.
PIECE = 200_000


def balance(
    space: Space,
    state: State,
    order: np.ndarray,
    devices: np.ndarray,
    done: Callable[[], bool] = lambda: False,
) -> bool:
    """Place units in `order`, each where the period of what is placed grows least.

    Ties go to the least total load, then to the device that comes first in `devices`. False where
    a unit fits nowhere, or `done` says to stop; later units are then unplaced.
    """
    state_.clear(state)
    piece = max(1, PIECE // len(devices) ** 2)
    for at in range(0, len(order), piece):
        if done() or not _extend(space, state, order[at : at + piece], devices):
            return False
    return True


@njit(cache=True)
def _extend(space, state, order, devices):  # type: ignore[no-untyped-def]
    K = len(devices)
    position = np.empty(K, np.int64)
    for g in order:
        best, least, least_total = -1, np.inf, np.inf
        for k in devices:
            if space.unit_time[g, k] == np.inf:
                continue
            state_.move(space, state, g, k)
            if state.use[k] > space.memory[k]:
                continue
            if space.contiguous and not state_.chain(state, position):
                continue
            value, total = state_.objectives(space, state)
            if value < least or (value == least and total < least_total):
                best, least, least_total = k, value, total
        state_.move(space, state, g, best)
        if best < 0:
            return False
    return True
