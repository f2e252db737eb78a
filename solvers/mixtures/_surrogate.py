"""Groups on devices at a cost, in one common memory: dynamic programming over what fits.

    minimise  sum cost[g, k(g)]   subject to   sum weight[g, k(g)] <= room

A label is a cost and a weight of the groups that are placed; of two, the one with less of both
stays. What is to be placed costs at least its cheapest place at weight 1 a unit, less the room
that is left: labels whose sum is above a level are dropped. Levels rise until one has a solution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

MOST = 200_000
"""Labels at a time, beyond which it ends with the last level."""
FIRST, STEP = 1e-4, 2.0
"""The first level, a share of the bound that it starts from above it, and the growth of shares."""
ROUNDING = 1e-12
"""Relative, of sums."""


def surrogate(
    cost: np.ndarray,
    weight: np.ndarray,
    number: np.ndarray,
    room: float,
    enough: float,
    time_left: Callable[[], float],
) -> float:
    """A lower bound on the least cost, and the least cost where it is found in time.

    Parameters
    ----------
    cost, weight : float64 arrays, shape (kinds, K)
        Of one group, weights in units of cost; an infinite cost is no place.
    number : int array, shape (kinds,)
        Groups of a kind.
    enough : float
        Levels from there on are not tried.
    """
    start = float(number @ (cost + weight).min(axis=1)) - room
    order = np.argsort(-weight.max(axis=1), kind="stable")
    proved, share = start, FIRST
    while proved < enough and time_left() > 0:
        level = min(start + share * abs(start), enough)
        value = _below(cost[order], weight[order], number[order], room, level, time_left)
        if value is None:
            break
        if value <= level:
            return max(proved, value * (1 - ROUNDING))
        proved, share = level, share * STEP
    return proved


def _below(
    cost: np.ndarray,
    weight: np.ndarray,
    number: np.ndarray,
    room: float,
    level: float,
    time_left: Callable[[], float],
) -> float | None:
    """The least cost if it is up to a level, and else more; None where it takes too much."""
    least = (cost + weight).min(axis=1)
    left = float(number @ least)
    slack = ROUNDING * (abs(left) + room + abs(level))
    spent, used = np.zeros(1), np.zeros(1)
    for t in np.repeat(np.arange(len(number)), number).tolist():
        if time_left() <= 0:
            return None
        left -= least[t]
        places = np.flatnonzero(np.isfinite(cost[t]))
        spent = (spent + cost[t, places, None]).ravel()
        used = (used + weight[t, places, None]).ravel()
        fine = (used <= room + slack) & (spent + used + left - room <= level + slack)
        order = np.lexsort((spent[fine], used[fine]))
        spent, used = spent[fine][order], used[fine][order]
        less = np.ones(len(spent), bool)
        less[1:] = spent[1:] < np.minimum.accumulate(spent)[:-1]
        spent, used = spent[less], used[less]
        if len(spent) > MOST:
            return None
    return float(spent.min(initial=np.inf))
