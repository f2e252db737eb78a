"""Greedy extension of a part of a schedule, compiled.

It is where the model of a module starts from, and what becomes of the rest where the clock ends.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from heuristics.shared import state as state_


@njit(cache=True)
def extend(space, state, sequence, start, free):  # type: ignore[no-untyped-def]
    """Place and time nodes as they follow in `sequence`, each at the end of a device.

    A node goes where it, with what its unit has to do besides, finishes first; one whose unit is
    placed goes there. Transfers are pure delays.

    Parameters
    ----------
    state : State
        Its memory and `place` follow; loads are not kept.
    start : float64 array, shape (n,)
        Starts in seconds; known for all producers that are not in `sequence`.
    free : float64 array, shape (K,)
        When each device is free.

    Returns
    -------
    bool
        False where memory leaves no device for a node; the work then is half done.
    """
    time, links, link_time = space.time, space.links, space.link_time
    pred_ptr, pred, place, unit = space.pred_ptr, space.pred, state.place, space.unit
    K = time.shape[1]
    for v in sequence:
        g = unit[v]
        was = place[g]
        best, least, best_begin = -1, np.inf, 0.0
        for k in range(K):
            if (was >= 0 and k != was) or space.unit_time[g, k] == np.inf:
                continue
            if was < 0:
                state_.shift(space, state, g, k)
                fits = state.use[k] <= space.memory[k]
                state_.shift(space, state, g, -1)
                if not fits:
                    continue
            begin = 0.0 if space.unlimited[k] else free[k]
            for i in range(pred_ptr[v], pred_ptr[v + 1]):
                u = pred[i]
                j = place[unit[u]]
                arrival = start[u] + time[u, j]
                if j != k:
                    arrival += link_time[links[j, k, 0], u] + link_time[links[j, k, 1], u]
                begin = max(begin, arrival)
            value = begin + (time[v, k] if was >= 0 else space.unit_time[g, k])
            if value < least:
                best, least, best_begin = k, value, begin
        if best < 0:
            return False
        if was < 0:
            state_.shift(space, state, g, best)
        start[v] = best_begin
        free[best] = max(free[best], best_begin + time[v, best])
    return True
