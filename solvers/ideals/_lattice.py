"""All ideals of the order, each once, smallest first, with the step to every larger neighbour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from solvers.ideals._arrays import Arrays

SLICE = 20_000
"""Ideals between two looks at the clock."""
ROOM, STEPS = 1, 2
"""What the next ideal lacks."""


class TooMany(Exception):  # noqa: N818 - a statement about an instance, not a failure
    """More ideals than allowed: at least `found`, of `size` bytes each."""

    def __init__(self, found: int, size: float) -> None:
        super().__init__(f"more than {found} ideals")
        self.found, self.size = found, size


class OutOfTime(Exception):  # noqa: N818 - an ordinary end
    """The clock ended the enumeration; `found` ideals are there at least."""

    def __init__(self, found: int) -> None:
        super().__init__(f"{found} ideals and more")
        self.found = found


@dataclass(frozen=True, eq=False)
class Lattice:
    """I ideals; number 0 is empty, the last one holds everything.

    Attributes
    ----------
    bits : uint64 array, shape (I, W)
    ptr : int64 array, shape (I + 1,)
    item, target : int32 arrays, shape (steps,)
        Items that may be added to an ideal, ascending, and the ideals that this gives.
    """

    bits: np.ndarray
    ptr: np.ndarray
    item: np.ndarray
    target: np.ndarray

    @property
    def I(self) -> int:  # noqa: E743, N802 - the field's symbol
        """Number of ideals."""
        return len(self.bits)


def bytes_an_ideal(a: Arrays, steps: float) -> float:
    """Bytes that an ideal takes, with `steps` larger neighbours: lattice, cuts and values."""
    W = a.before.shape[1]
    table = 32.0  # four bytes a slot, an eighth of them used right after growing
    floats = len(a.count) * a.R + a.V + len(a.rate)
    return float(8 * W + 16 + table + 8 * steps + 8 * floats)


def lattice(a: Arrays, most_bytes: float, in_time: Callable[[], bool]) -> Lattice:
    """Enumerate the ideals.

    Parameters
    ----------
    most_bytes : float
        What they may take, values and cuts of the program included.
    in_time : callable
        Asked every now and then whether to go on.

    Raises
    ------
    TooMany
        If they take more: at once where some ideal has so many larger neighbours, independent
        items all of them, that this tells.
    OutOfTime
        As soon as `in_time` says no.
    """
    W = a.before.shape[1]
    room, steps_room = 1024, 4096
    rng = np.random.default_rng(0)
    code = rng.integers(0, 2**63, a.N).astype(np.uint64)
    bits = np.zeros((room, W), np.uint64)
    hashed = np.zeros(room, np.uint64)
    ptr = np.zeros(room + 1, np.int64)
    item, target = np.zeros(steps_room, np.int32), np.zeros(steps_room, np.int32)
    table = np.full(4 * room, -1, np.int32)
    sources = np.flatnonzero(~a.before.any(axis=1))
    while steps_room < len(sources):
        steps_room *= 2
        item, target = np.zeros(steps_room, np.int32), np.zeros(steps_room, np.int32)
    item[: len(sources)] = sources
    ptr[1] = len(sources)
    table[0] = 0
    at, found, looked = 0, 1, 0
    while at < found:
        size = bytes_an_ideal(a, float(ptr[found]) / found)
        most = int(min(most_bytes / size, 2**31 - 1))  # numbers of ideals are int32
        widest = int(np.diff(ptr[looked : found + 1]).max(initial=0))
        if found > most or 2**widest > most:
            raise TooMany(max(found, 2**widest), size)
        if not in_time():
            raise OutOfTime(found)
        before, looked = at, found
        at, found, lacks = _grow(
            at, found, bits, hashed, ptr, item, target, table, code, a.before, a.succ_ptr, a.succ,
            SLICE, most,
        )  # fmt: skip
        if at > before:
            continue
        if lacks == STEPS:
            steps_room *= 2
            item, target = _longer(item, steps_room), _longer(target, steps_room)
        elif lacks == ROOM:
            room *= 2
            bits, hashed, ptr = _longer(bits, room), _longer(hashed, room), _longer(ptr, room + 1)
            table = np.full(4 * room, -1, np.int32)
            _rehash(table, hashed, found)
    steps = int(ptr[found])
    # Views: memory that was never written to is none.
    return Lattice(bits[:found], ptr[: found + 1], item[:steps], target[:steps])


def _longer(array: np.ndarray, room: int) -> np.ndarray:
    result = np.zeros((room, *array.shape[1:]), array.dtype)
    result[: len(array)] = array
    return result


@njit(cache=True)
def _rehash(table, hashed, found):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(table) - 1)
    for i in range(found):
        at = hashed[i] & mask
        while table[np.int64(at)] >= 0:
            at = (at + np.uint64(1)) & mask
        table[np.int64(at)] = i


@njit(cache=True)
def _grow(  # type: ignore[no-untyped-def]
    at, found, bits, hashed, ptr, item, target, table, code, before, succ_ptr, succ, slice_, most
):  # fmt: skip
    """Extend ideals from number `at` on; stops for want of room, time or beyond `most`."""
    W = bits.shape[1]
    mask = np.uint64(len(table) - 1)
    one = np.uint64(1)
    new = np.empty(W, np.uint64)
    stop = at + slice_
    while at < found and at < stop:
        width = ptr[at + 1] - ptr[at]
        # Each new ideal has at most the old items and all successors of the one that was added.
        if found > most:
            break
        if found + width >= len(hashed):
            return at, found, ROOM
        needed = 0
        for s in range(ptr[at], ptr[at + 1]):
            v = item[s]
            needed += width + succ_ptr[v + 1] - succ_ptr[v]
        if ptr[found] + needed > len(item):
            return at, found, STEPS
        for s in range(ptr[at], ptr[at + 1]):
            v = item[s]
            for w in range(W):
                new[w] = bits[at, w]
            new[v >> 6] |= one << np.uint64(v & 63)
            h = hashed[at] ^ code[v]
            slot = h & mask
            known = -1
            while table[np.int64(slot)] >= 0:
                j = table[np.int64(slot)]
                if hashed[j] == h:
                    same = True
                    for w in range(W):
                        if bits[j, w] != new[w]:
                            same = False
                            break
                    if same:
                        known = j
                        break
                slot = (slot + one) & mask
            if known < 0:
                known = found
                table[np.int64(slot)] = found
                hashed[found] = h
                for w in range(W):
                    bits[found, w] = new[w]
                end = ptr[found]
                for r in range(ptr[at], ptr[at + 1]):
                    if item[r] != v:
                        item[end] = item[r]
                        end += 1
                for i in range(succ_ptr[v], succ_ptr[v + 1]):
                    x = succ[i]
                    ready = True
                    for w in range(W):
                        if before[x, w] & ~new[w]:
                            ready = False
                            break
                    if ready:  # keep them ascending
                        place = end
                        while place > ptr[found] and item[place - 1] > x:
                            item[place] = item[place - 1]
                            place -= 1
                        item[place] = x
                        end += 1
                found += 1
                ptr[found] = end
            target[s] = known
        at += 1
    return at, found, 0
