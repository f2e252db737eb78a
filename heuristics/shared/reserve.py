"""Memory while units are placed one by one, with a way out kept open.

A list scheduler that fills a device may find no room for a later unit. Beside the memory in use
stands a *reservation*: a placement of all units, found beforehand, that agrees with what is placed.
A unit may only go where the reservation can follow: it moves there itself, and where that device
overflows, units that are not placed yet move on to where they fit. So nothing ever gets stuck.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.shared.space import Space
from heuristics.shared.timeline import inner

# Units looked at in one attempt to make room.
LOOK = 1000


class Memory(NamedTuple):
    """What is placed where.

    Attributes
    ----------
    place : int64 array, shape (U,)
        Device of every unit, -1 without one.
    use : float64 array, shape (K,)
        Bytes held.
    readers : int32 array, shape (T, K)
        Units that read each shared weight on each device.
    """

    place: np.ndarray
    use: np.ndarray
    readers: np.ndarray


def empty(space: Space) -> Memory:
    """No unit is placed."""
    U, K = space.unit_time.shape
    return Memory(
        np.full(U, -1, np.int64), np.zeros(K), np.zeros((len(space.shared_bytes), K), np.int32)
    )


def of(space: Space, place: np.ndarray) -> Memory:
    """All units are placed as in `place`, shape (U,)."""
    memory = empty(space)
    _fill(space, memory, place)
    return memory


@njit(cache=True)
def _fill(space, memory, place):  # type: ignore[no-untyped-def]
    unit_bytes, weight_ptr, weight = space.unit_bytes, space.weight_ptr, space.weight
    shared_bytes = space.shared_bytes
    for g in range(len(place)):
        shift(unit_bytes, weight_ptr, weight, shared_bytes, memory, g, place[g])


@inner
def need(unit_bytes, weight_ptr, weight, shared_bytes, readers, g, k):  # type: ignore[no-untyped-def]
    """Bytes that unit g would add to device k."""
    total = unit_bytes[g]
    for i in range(weight_ptr[g], weight_ptr[g + 1]):
        if readers[weight[i], k] == 0:
            total += shared_bytes[weight[i]]
    return total


@inner
def shift(unit_bytes, weight_ptr, weight, shared_bytes, memory, g, to):  # type: ignore[no-untyped-def]
    """Move unit g to device `to`."""
    place, use, readers = memory.place, memory.use, memory.readers
    k = place[g]
    if k >= 0:
        use[k] -= unit_bytes[g]
        for i in range(weight_ptr[g], weight_ptr[g + 1]):
            readers[weight[i], k] -= 1
            if readers[weight[i], k] == 0:
                use[k] -= shared_bytes[weight[i]]
    use[to] += need(unit_bytes, weight_ptr, weight, shared_bytes, readers, g, to)
    for i in range(weight_ptr[g], weight_ptr[g + 1]):
        readers[weight[i], to] += 1
    place[g] = to


@inner
def follow(space, placed, reserved, cursor, g, k):  # type: ignore[no-untyped-def]
    """Whether the reservation can follow unit g to device k; it is changed only if so.

    `placed`, shape (U,), tells which units may not move; `cursor`, shape (K,), where the last
    search for room on each device ended.
    """
    unit_bytes, weight_ptr, weight = space.unit_bytes, space.weight_ptr, space.weight
    shared_bytes, limit, unit_time = space.shared_bytes, space.memory, space.unit_time
    place, use, readers = reserved.place, reserved.use, reserved.readers
    old = place[g]
    if old == k:
        return True
    shift(unit_bytes, weight_ptr, weight, shared_bytes, reserved, g, k)
    if use[k] <= limit[k]:
        return True
    U, K = unit_time.shape
    moved = [(g, old)]
    h = cursor[k]
    for _ in range(min(U, LOOK)):
        if use[k] <= limit[k]:
            break
        h = h - 1 if h > 0 else U - 1
        if h == g or place[h] != k or placed[h] >= 0:
            continue
        for offset in range(K):
            j = (old + offset) % K  # what g leaves is the likeliest room
            if j == k or unit_time[h, j] == np.inf:
                continue
            if (
                use[j] + need(unit_bytes, weight_ptr, weight, shared_bytes, readers, h, j)
                > limit[j]
            ):
                continue
            moved.append((h, k))
            shift(unit_bytes, weight_ptr, weight, shared_bytes, reserved, h, j)
            break
    cursor[k] = h
    if use[k] <= limit[k]:
        return True
    for i in range(len(moved) - 1, -1, -1):
        shift(unit_bytes, weight_ptr, weight, shared_bytes, reserved, moved[i][0], moved[i][1])
    return False
