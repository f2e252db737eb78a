"""Compiled draws of proposals."""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.rng import uniform


@njit(cache=True)
def draw(cumulative, place, batch, stream):  # type: ignore[no-untyped-def]
    """Draw places from running sums of probabilities, shape (U, C); int64 array, shape (batch, U).

    A sum that rounding has left below 1 stays where it is.
    """
    U, C = cumulative.shape
    result = np.empty((batch, U), np.int64)
    for b in range(batch):
        for v in range(U):
            x = uniform(stream)
            result[b, v] = place[v]
            for c in range(C):
                if x < cumulative[v, c]:
                    result[b, v] = c
                    break
    return result


@njit(cache=True)
def keys(stream, n):  # type: ignore[no-untyped-def]
    """Draw n random keys to sort by."""
    keys = np.empty(n)
    for i in range(n):
        keys[i] = uniform(stream)
    return keys
