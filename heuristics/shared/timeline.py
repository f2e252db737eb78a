"""Idle time of devices and ports: gaps between what is booked, and the open end.

Only gaps are kept, not what lies between them: a resource that is never idle takes no search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

# For functions that compiled code alone calls: a way in from Python takes longer to compile than
# they do. Numbers are given to them as np.int64(-1) or np.bool_(True): a literal is a type of its
# own, and so another compilation.
inner = njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


class Timeline(NamedTuple):
    """Idle time of R resources.

    Attributes
    ----------
    gaps : int64 array, shape (R,)
        How many each has.
    begin, end : float64 arrays, shape (R, .)
        Its gaps in order, seconds.
    free : float64 array, shape (R,)
        From when on it is idle for good.
    """

    gaps: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    free: np.ndarray


def empty(resources: int, bookings: int) -> Timeline:
    """Nothing is booked; room for so many bookings a resource."""
    # Never filled: pages that no gap touches cost nothing.
    shape = resources, bookings + 1
    return Timeline(
        np.zeros(resources, np.int64), np.empty(shape), np.empty(shape), np.zeros(resources)
    )


@inner
def find(count, begin, end, free, r, ready, seconds):  # type: ignore[no-untyped-def]
    """Earliest start from `ready` on for so many seconds, and the gap; the count for the end."""
    high = count[r]
    if high == 0 or end[r, high - 1] < ready:
        return max(ready, free[r]), high
    low = 0
    while low < high:
        middle = (low + high) // 2
        if end[r, middle] >= ready:
            high = middle
        else:
            low = middle + 1
    while low < count[r]:
        start = max(ready, begin[r, low])
        if start + seconds <= end[r, low]:
            return start, low
        low += 1
    return max(ready, free[r]), low


@inner
def book(count, begin, end, free, r, gap, start, finish):  # type: ignore[no-untyped-def]
    """Take `start` to `finish` out of a gap that :func:`find` gave.

    What takes no time splits the gap all the same: nothing may run across it.
    """
    if gap == count[r]:
        if start > free[r]:
            begin[r, gap], end[r, gap] = free[r], start
            count[r] += 1
        free[r] = finish
        return
    before, after = start > begin[r, gap], finish < end[r, gap]
    if before and after:
        for i in range(count[r], gap, -1):
            begin[r, i], end[r, i] = begin[r, i - 1], end[r, i - 1]
        count[r] += 1
        end[r, gap], begin[r, gap + 1] = start, finish
    elif before:
        end[r, gap] = start
    elif after:
        begin[r, gap] = finish
    else:
        for i in range(gap, count[r] - 1):
            begin[r, i], end[r, i] = begin[r, i + 1], end[r, i + 1]
        count[r] -= 1
