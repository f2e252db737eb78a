"""Seconds in whole units, so that no sum of a CP-SAT model leaves 64 bits.

CP-SAT refuses a model in which the least or largest value of a sum passes 2^63, whether or not it
can be taken. Times may lie 18 orders of magnitude apart (a transfer of a second beside operators of
a picosecond), so a bound on the answer alone does not bound what stands in the rows.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from solvers.formulations._windows import SAFETY

PRECISION = 22
"""Rounding loses less than a part in two to this power of the horizon, if the terms allow it."""
SUM = 60
"""No sum exceeds two to this power; what CP-SAT adds to it in presolve has the bits above."""


def unit_of(horizon: float, terms: int, finest: int) -> float:
    """Seconds of a unit.

    Parameters
    ----------
    horizon : float
        Seconds, finite: no answer that is asked for has a larger objective.
    terms : int
        Most terms of a sum. Each loses less than a unit by rounding, and has at most what
        :func:`whole` leaves of it.
    finest : int
        At most two to this power units make the horizon.
    """
    log = math.ceil(math.log2(terms + 1))
    return max(horizon / 2.0 ** min(finest, PRECISION + log, SUM - 2 - log), sys.float_info.min)


def whole(seconds: np.ndarray, unit: float, end: int) -> np.ndarray:
    """Whole units, rounded down, at most two horizons of `end` units; 0 for an infinite time.

    Beyond the horizon it does not matter how far: no answer can have it. For an infinite time there
    is no literal to charge it.
    """
    finite = np.where(np.isfinite(seconds), seconds, 0.0)
    # Divided last: a quotient may leave even the range of floats.
    capped = np.minimum(finite, 2.0 * end * unit)
    result: np.ndarray = np.floor(capped / unit * SAFETY).astype(np.int64)
    return result
