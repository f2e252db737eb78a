"""A walk over valid partitions: moves of units with what they drag along, evaluated by changes.

A move sends a unit to another chip. What the move makes impossible is repaired at once, as FIX does
for a whole candidate: units that it reads or that read it follow as far as C1 asks (a *loose* move)
or as far as the difference system 0 <= f(v) - f(u) <= 1 asks (a *tight* one, which on graphs of
long paths is nearly always valid). Then C2, C3 and memory are checked, and the move is taken back
where they fail.

The energy is a power mean of the loads, which sees the second largest load, too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.chips.lines import load_of
from heuristics.chips.units import Units
from solvers.by_reference import by_reference
from solvers.repair.partition import keeps, settle, shift
from solvers.rng import below, uniform

DRAGGED = 400
"""Units of one move at most."""
SQUARINGS = 4
"""The power of the mean is 2**SQUARINGS."""
TIGHT = 0.5
"""Share of tight moves."""
NEAR = 0.8
"""Share of moves to a neighbouring chip."""


@by_reference
class Walk(NamedTuple):
    """What moves of U units on C chips need besides the partition.

    Attributes
    ----------
    best : int64 array, shape (U,)
        The best partition so far.
    parts : float64 array, shape (C, 3)
        Seconds that every chip computes, receives and sends.
    before : float64 array, shape (C, 3)
        Those before the move.
    moved, origin : int64 arrays, shape (U,)
        Units of the move, and where they come from.
    target : int64 array, shape (U,)
        Chip of every unit of the move; -1 for others.
    nets : int64 array, shape (J,)
        Payloads that the move changes.
    stamp : int64 array, shape (J + 1,)
        Move that a payload was last changed by, and the number of moves.
    energy : float64 array, shape (3,)
        Energy of the partition, its largest load, and that of the best one.
    stream : uint64 array, shape (1,)
    """

    best: np.ndarray
    parts: np.ndarray
    before: np.ndarray
    moved: np.ndarray
    origin: np.ndarray
    target: np.ndarray
    nets: np.ndarray
    stamp: np.ndarray
    energy: np.ndarray
    stream: np.ndarray


def walk(units: Units, stream: np.ndarray) -> Walk:
    """A walk that :func:`restart` gives a partition."""
    U, C, J = len(units.nets.time), units.problem.chips, len(units.nets.owner)

    def whole(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.int64)

    return Walk(
        best=whole(U), parts=np.zeros((C, 3)), before=np.zeros((C, 3)), moved=whole(U),
        origin=whole(U), target=np.full(U, -1, np.int64), nets=whole(J), stamp=whole(J + 1),
        energy=np.full(3, math.inf), stream=stream,
    )  # fmt: skip


@njit(cache=True)
def restart(p, q, t, w, place):  # type: ignore[no-untyped-def]
    """Go on from a valid partition, shape (U,), of problem `p` with nets `q`."""
    settle(p, t, place)
    w.parts[:] = 0.0
    for v in range(len(place)):
        w.parts[place[v], 0] += q.time[v]
    for j in range(len(q.owner)):
        _pay(q, t, w, j, 1.0)
    _measure(q, w)
    _remember(t, w)


@njit(cache=True)
def anneal(p, q, t, w, first, moves, hot, cooling, step):  # type: ignore[no-untyped-def]
    """Try moves first..first+moves-1 of a round; temperatures are hot * cooling**(move // step)."""
    U, C = len(t.place), p.chips
    for move in range(first, first + moves):
        heat = hot * cooling ** (move // step)
        v = below(w.stream, U)
        a = t.place[v]
        if uniform(w.stream) < NEAR:
            b = a + 1 if uniform(w.stream) < 0.5 else a - 1
        else:
            b = below(w.stream, C)
        tight = uniform(w.stream) < TIGHT
        chance = uniform(w.stream)
        if b < 0 or b >= C or b == a:
            continue
        k = _drag(p, t, w, v, b, tight)
        if k == 0:
            continue
        w.before[:] = w.parts
        energy, largest = w.energy[0], w.energy[1]
        _make(p, q, t, w, k)
        if keeps(p, t):
            _measure(q, w)
            worse = w.energy[0] - energy
            if worse <= 0.0 or chance < math.exp(-worse / heat):
                if w.energy[1] < w.energy[2]:
                    _remember(t, w)
                continue
        _take_back(p, t, w, k)
        w.parts[:] = w.before
        w.energy[0], w.energy[1] = energy, largest


@njit(cache=True)
def _remember(t, w):  # type: ignore[no-untyped-def]
    if w.energy[1] < w.energy[2]:
        w.energy[2] = w.energy[1]
        w.best[:] = t.place


@njit(cache=True)
def _drag(p, t, w, v, b, tight):  # type: ignore[no-untyped-def]
    """Fill `moved` and `target` with the move of `v` to chip `b`; 0 where it is too large."""
    slack = 1 if tight else p.chips
    up = b > t.place[v]
    w.moved[0], w.target[v] = v, b
    k, again = 1, True
    while again and k <= DRAGGED:
        again, at = False, 0
        while at < k <= DRAGGED:
            u = w.moved[at]
            at += 1
            to = w.target[u]
            # Up: readers stand at `to` at least, and what `u` reads at `to - slack` at least.
            for i in range(p.succ_ptr[u], p.succ_ptr[u + 1]):
                k, more = _follow(t, w, p.succ[i], to if up else to + slack, up, k)
                again = again or more
            for i in range(p.pred_ptr[u], p.pred_ptr[u + 1]):
                k, more = _follow(t, w, p.pred[i], to - slack if up else to, up, k)
                again = again or more
    if k <= DRAGGED:
        return k
    for i in range(k):
        w.target[w.moved[i]] = -1
    return 0


@njit(cache=True)
def _follow(t, w, x, bound, up, k):  # type: ignore[no-untyped-def]
    """Have `x` at `bound` or beyond; returns units moved, and whether one of them has to go on."""
    asked = w.target[x] >= 0
    now = w.target[x] if asked else t.place[x]
    if now >= bound if up else now <= bound:
        return k, False
    w.target[x] = bound
    if asked:
        return k, True
    w.moved[k] = x
    return k + 1, False


@njit(cache=True)
def _make(p, q, t, w, k):  # type: ignore[no-untyped-def]
    """Make the move; payloads that it changes are paid anew."""
    J = len(q.owner)
    w.stamp[J] += 1
    touched = 0
    for i in range(k):
        v = w.moved[i]
        for j in range(q.own_ptr[v], q.own_ptr[v + 1]):
            touched = _touch(w, j, touched)
        for r in range(q.read_ptr[v], q.read_ptr[v + 1]):
            touched = _touch(w, q.read[r], touched)
    for i in range(touched):
        _pay(q, t, w, w.nets[i], -1.0)
    for i in range(k):
        v = w.moved[i]
        w.origin[i] = t.place[v]
        w.parts[t.place[v], 0] -= q.time[v]
        w.parts[w.target[v], 0] += q.time[v]
        shift(p, t, v, w.target[v])
        w.target[v] = -1
    for i in range(touched):
        _pay(q, t, w, w.nets[i], 1.0)


@njit(cache=True)
def _take_back(p, t, w, k):  # type: ignore[no-untyped-def]
    for i in range(k):
        shift(p, t, w.moved[i], w.origin[i])


@njit(cache=True)
def _touch(w, j, touched):  # type: ignore[no-untyped-def]
    if w.stamp[j] == w.stamp[-1]:
        return touched
    w.stamp[j] = w.stamp[-1]
    w.nets[touched] = j
    return touched + 1


@njit(cache=True)
def _pay(q, t, w, j, sign):  # type: ignore[no-untyped-def]
    """Add a payload's seconds to the chips, or take them off."""
    a = t.place[q.owner[j]]
    if q.through:
        last = a
        for r in range(q.reader_ptr[j], q.reader_ptr[j + 1]):
            last = max(last, t.place[q.reader[r]])
        for c in range(a, last):
            w.parts[c, 2] += sign * q.hop[c, j]
            w.parts[c + 1, 1] += sign * q.hop[c, j]
        return
    seen = 0
    for r in range(q.reader_ptr[j], q.reader_ptr[j + 1]):
        b = t.place[q.reader[r]]
        if b > a and not (seen >> b) & 1:
            seen |= 1 << b
            w.parts[a, 2] += sign * q.hop[a, j]
            w.parts[b, 1] += sign * q.hop[b - 1, j]


@njit(cache=True)
def _measure(q, w):  # type: ignore[no-untyped-def]
    largest = 0.0
    for c in range(len(w.parts)):
        largest = max(largest, load_of(q.overlap, w.parts[c, 0], w.parts[c, 1], w.parts[c, 2]))
    w.energy[1] = largest
    if largest <= 0.0:
        w.energy[0] = 0.0
        return
    total = 0.0
    for c in range(len(w.parts)):
        share = load_of(q.overlap, w.parts[c, 0], w.parts[c, 1], w.parts[c, 2]) / largest
        share = max(share, 0.0)
        for _ in range(SQUARINGS):
            share *= share
        total += share
    w.energy[0] = largest * total ** (1.0 / 2**SQUARINGS)
