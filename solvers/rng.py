"""A small random generator for compiled code: xorshift64* (Vigna 2016).

Its state is an array of one word, so that a compiled loop can be left and entered again without
changing the stream.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_MULTIPLIER = np.uint64(0x2545F4914F6CDD1D)
_SCALE = 2.0**-53


def seeded(rng: np.random.Generator) -> np.ndarray:
    """State of a new stream, uint64 array of shape (1,), drawn from `rng`."""
    return rng.integers(1, 2**63, 1, dtype=np.uint64)


@njit(cache=True)
def uniform(state):  # type: ignore[no-untyped-def]
    """Next number of the stream in [0, 1)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return float((x * _MULTIPLIER) >> np.uint64(11)) * _SCALE


@njit(cache=True)
def below(state, n):  # type: ignore[no-untyped-def]
    """Next whole number of the stream in 0..n-1."""
    return min(int(uniform(state) * n), n - 1)


@njit(cache=True)
def shuffle(state, values):  # type: ignore[no-untyped-def]
    """Shuffle an array in place (Fisher-Yates)."""
    for i in range(len(values) - 1, 0, -1):
        j = below(state, i + 1)
        values[i], values[j] = values[j], values[i]
