"""Metrics of one run or of one list of runs; the definitions are tests (tests/bench).

z is a checked objective, z* the best known one, b a valid lower bound, all in seconds and never
negative; T is the time limit. A run without a valid answer has z = None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

# The shift of the geometric means of gaps: one percentage point. Gaps far below it count as none.
GAP_SHIFT = 0.01
# The shift of the geometric means of times, in seconds.
TIME_SHIFT = 1.0


def gap_to_bound(z: float | None, b: float) -> float:
    """(z - b) / z, in [0, 1]; 1 without an answer.

    Raises
    ------
    ValueError
        If the bound lies above the objective by more than rounding: then one of them is wrong.
    """
    if z is None:
        return 1.0
    if not compatible(z, b):
        raise ValueError(f"bound {b!r} above the checked objective {z!r}")
    return max(0.0, (z - b) / z) if z > 0 else 0.0


def compatible(z: float, b: float) -> bool:
    """Whether the bound does not lie above the objective by more than rounding."""
    return b <= z * (1 + 1e-9)


def quality_gap(z: float | None, best: float | None) -> float:
    """(z - z*) / z*: negative for a new best; infinite without an answer, or where z* = 0 < z."""
    if z is None or best is None:
        return math.inf
    if best == 0:
        return 0.0 if z == 0 else math.inf
    return (z - best) / best


def primal_gap(z: float | None, best: float | None) -> float:
    """|z - z*| / max(|z|, |z*|), in [0, 1]; 1 without an answer (Berthold 2013)."""
    if z is None or best is None:
        return 1.0
    largest = max(abs(z), abs(best))
    return abs(z - best) / largest if largest > 0 else 0.0


def primal_integral(
    trace: Iterable[tuple[float, float]], best: float | None, limit: float
) -> float:
    """Area P(T) under the primal gap from 0 to `limit`, in seconds (Berthold 2013).

    Parameters
    ----------
    trace : iterable of (seconds, objective)
        Incumbents in the order of time; the gap is 1 before the first. What comes after the limit
        does not count.

    Raises
    ------
    ValueError
        If the times decrease, or one is negative.
    """
    area, since, gamma = 0.0, 0.0, 1.0
    for t, z in trace:
        if t < since:
            raise ValueError(f"trace goes back in time: {t} after {since}")
        if t > limit:
            break
        area += gamma * (t - since)
        since, gamma = t, primal_gap(z, best)
    return area + gamma * (limit - since)


def shifted_geometric_mean(values: Sequence[float] | np.ndarray, shift: float) -> float:
    """exp(mean(ln(v + shift))) - shift; NaN of nothing.

    Raises
    ------
    ValueError
        If a value lies at or below -shift.
    """
    array = np.asarray(values, float)
    if not array.size:
        return math.nan
    if not (array + shift > 0).all():
        raise ValueError(f"values must lie above -{shift}")
    return float(math.exp(np.log(array + shift).mean()) - shift)


def time_to_target(
    trace: Iterable[tuple[float, float]], target: float | None, tolerance: float = 1e-6
) -> float | None:
    """Seconds until the objective was within `tolerance` (relative) of a target; None if never.

    "Solved" in the sense of :func:`penalized_average`, where the target is the best known answer.

    Parameters
    ----------
    trace : iterable of (seconds, objective)
        Incumbents in the order of time.
    """
    if target is None:
        return None
    return next((t for t, z in trace if z <= target * (1 + tolerance)), None)


def penalized_average(times: Sequence[float | None], limit: float, k: int = 2) -> float:
    """PAR-k: mean time in seconds where a run that did not solve (None) counts k times the limit.

    What "solved" means is the caller's to state: :func:`time_to_target` says it of an answer,
    the seconds of a run that proved optimality would say it of a proof.
    """
    if not times:
        return math.nan
    return sum(k * limit if t is None else t for t in times) / len(times)


def profile(values: Sequence[float] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ECDF: the share of all values that are at most x; infinite ones count in the denominator.

    Returns
    -------
    x, share : float64 arrays
        Distinct finite values, ascending, and the share reached at each.
    """
    array = np.asarray(values, float)
    x, counts = np.unique(array[np.isfinite(array)], return_counts=True)
    return x, np.cumsum(counts) / max(array.size, 1)


def performance_profile(costs: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Dolan and More 2002: ECDF of the ratio to the best entry of each instance, one an entry.

    Parameters
    ----------
    costs : float array, shape (instances, entries)
        Not negative; inf where there is no answer.

    Returns
    -------
    list of (x, share)
        As :func:`profile`, in the order of the entries; instances that nobody answered count in
        the denominator.
    """
    best = costs.min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(np.isfinite(costs), np.where(costs == best, 1.0, costs / best), np.inf)
    return [profile(ratio[:, j]) for j in range(costs.shape[1])]
