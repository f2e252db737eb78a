"""Sets of items as bits, and how parts of a load make one."""

from __future__ import annotations

import numpy as np
from numba import njit


def members(bits: np.ndarray, count: int) -> np.ndarray:
    """The items of a set, ascending, of `count` items that there are."""
    i = np.arange(count)
    return np.flatnonzero((bits[i // 64] >> (i % 64).astype(np.uint64)) & np.uint64(1))


@njit(cache=True)
def holds(bits, v):  # type: ignore[no-untyped-def]
    """Whether item v is in the set."""
    return (bits[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != np.uint64(0)


@njit(cache=True)
def ones(word):  # type: ignore[no-untyped-def]
    """Number of bits that are set."""
    result = 0
    while word != np.uint64(0):
        word &= word - np.uint64(1)
        result += 1
    return result


@njit(cache=True)
def state(bits, member, e):  # type: ignore[no-untyped-def]
    """(some members are in, some are out) of net e."""
    inside = outside = False
    for w in range(len(bits)):
        m = member[e, w]
        inside |= (m & bits[w]) != np.uint64(0)
        outside |= (m & ~bits[w]) != np.uint64(0)
    return inside, outside


@njit(cache=True)
def combine(work, receive, send, overlap):  # type: ignore[no-untyped-def]
    """Load of a device from its compute and transfers in seconds."""
    if overlap == 0:
        return work + receive + send
    if overlap == 1:
        return max(work, receive + send)
    return max(work, max(receive, send))
