"""What one device of a chain may take: every pair of ideals, and what it transfers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from solvers.ideals._arrays import Arrays
from solvers.ideals._bits import holds
from solvers.ideals._lattice import Lattice, OutOfTime, TooMany

FIRST = 1024
"""Pieces that there is room for before it is doubled."""
SLICE = 100_000
"""Pieces between two looks at the clock: some hundredths of a second."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """All pieces that some device runs and holds, by the ideal that they start from.

    Attributes
    ----------
    ptr : int64 array, shape (I + 1,)
    top : int32 array, shape (pieces,)
        The ideal that a piece ends at; what is in it and not in the one before is the piece. The
        first one from every ideal is empty.
    got, gave : float64 arrays, shape (pieces, rows)
        Seconds of receiving and sending over each of the links that differ.
    reads : bool array, shape (pieces, T)
        Weights that several items read, of which the piece has a reader.
    into, out : int64 arrays, shape (K,)
        The column of `got` and of `gave` of each device.
    """

    ptr: np.ndarray
    top: np.ndarray
    got: np.ndarray
    gave: np.ndarray
    reads: np.ndarray
    into: np.ndarray
    out: np.ndarray


def pieces(a: Arrays, lattice: Lattice, most: int, in_time: Callable[[], bool]) -> Pieces:
    """Enumerate them; every device is a class of its own in `a`.

    Raises
    ------
    TooMany
        If there are more than `most`.
    OutOfTime
        As soon as `in_time` says no.
    """
    seconds = np.concatenate([a.net_receive, a.net_send])
    links, number = np.unique(seconds, axis=0, return_inverse=True)
    into, out = np.split(number.ravel(), 2)
    T = len(a.shared_bytes)
    room = FIRST
    ptr = np.zeros(lattice.I + 1, np.int64)
    top = np.zeros(room, np.int32)
    got, gave = (np.zeros((room, len(links))) for _ in range(2))
    reads = np.zeros((room, T), np.bool_)
    mark = np.full(lattice.I, -1, np.int32)
    at = 0
    while at < lattice.I:
        if not in_time():
            raise OutOfTime(lattice.I)
        at, full = _grow(
            at, SLICE, ptr, top, got, gave, reads, mark, links, lattice.bits, lattice.ptr,
            lattice.item, lattice.target, a.supported, a.kept, a.limit, a.net_member,
            a.net_producer, a.on_ptr, a.on, a.share_ptr, a.share, a.shared_bytes,
        )  # fmt: skip
        if full:
            if room > most:
                raise TooMany(room, 4 + 16.0 * len(links) + T)
            room *= 2
            top, got, gave, reads = (_longer(each, room) for each in (top, got, gave, reads))
    found = int(ptr[-1])
    return Pieces(ptr, top[:found], got[:found], gave[:found], reads[:found], into, out)


def _longer(array: np.ndarray, room: int) -> np.ndarray:
    result = np.zeros((room, *array.shape[1:]), array.dtype)
    result[: len(array)] = array
    return result


@njit(cache=True)
def _grow(  # type: ignore[no-untyped-def]
    at, budget, ptr, top, got, gave, reads, mark, links, bits, step_ptr, item, target, supported,
    kept, limit, member, producer, on_ptr, on, share_ptr, share, shared_bytes,
):  # fmt: skip
    """Enumerate from ideal `at` on; (where it stopped, whether for want of room)."""
    K = supported.shape[1]
    inside = np.zeros(bits.shape[1], np.uint64)
    able, use = np.ones((len(top), K), np.bool_), np.zeros(len(top))
    stop = ptr[at] + budget
    while at < len(bits) and ptr[at] < stop:
        row, end = ptr[at], ptr[at] + 1
        if end > len(top):
            return at, True
        top[row], use[row] = at, 0.0
        for r in range(len(links)):
            got[row, r] = gave[row, r] = 0.0
        for t in range(len(shared_bytes)):
            reads[row, t] = False
        for k in range(K):
            able[row, k] = True
        while row < end:
            here = top[row]
            for w in range(len(inside)):
                inside[w] = bits[here, w] & ~bits[at, w]
            for s in range(step_ptr[here], step_ptr[here + 1]):
                v, there = item[s], target[s]
                if mark[there] == at:
                    continue
                if end == len(top):
                    for i in range(len(mark)):  # the pieces from this ideal are begun anew
                        mark[i] = -1
                    return at, True
                mark[there] = at
                use[end] = use[row] + kept[v]
                for t in range(len(shared_bytes)):
                    reads[end, t] = reads[row, t]
                for x in range(share_ptr[v], share_ptr[v + 1]):
                    if not reads[end, share[x]]:
                        reads[end, share[x]] = True
                        use[end] += shared_bytes[share[x]]
                fits = False
                for k in range(K):
                    able[end, k] = able[row, k] and supported[v, k]
                    fits |= able[end, k] and use[end] <= limit[k]
                if not fits:  # nor does what is larger
                    continue
                top[end] = there
                for r in range(len(links)):
                    got[end, r], gave[end, r] = got[row, r], gave[row, r]
                for x in range(on_ptr[v], on_ptr[v + 1]):
                    e = on[x]
                    receives, sends = _charged(inside, member, e, producer[e], v)
                    for r in range(len(links)):
                        got[end, r] += receives * links[r, e]
                        gave[end, r] += sends * links[r, e]
                end += 1
            row += 1
        at += 1
        ptr[at] = end
    return at, False


@njit(cache=True)
def _charged(inside, member, e, producer, v):  # type: ignore[no-untyped-def]
    """By how much a net is received and sent more often once member v is inside: -1, 0 or 1."""
    some = lacked = lacks = False
    for w in range(len(inside)):
        more = inside[w]
        if v >> 6 == w:
            more |= np.uint64(1) << np.uint64(v & 63)
        some |= (member[e, w] & inside[w]) != np.uint64(0)
        lacked |= (member[e, w] & ~inside[w]) != np.uint64(0)
        lacks |= (member[e, w] & ~more) != np.uint64(0)
    held = holds(inside, producer)
    holds_now = held or v == producer
    receives = (0 if holds_now else 1) - (1 if some and not held else 0)
    sends = (1 if holds_now and lacks else 0) - (1 if held and lacked else 0)
    return receives, sends
