"""A valid partition that changes node by node, and sweeps that pull it towards what is asked for.

Where memory is short a search seldom ends, but cuts of an order are valid, and from a valid
partition single nodes can move on: to chips drawn from their probabilities, or nearer to those of a
candidate, as long as every rule is kept. A sweep goes through all nodes once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.by_reference import by_reference
from solvers.repair.bits import lowest
from solvers.repair.problem import Problem
from solvers.repair.quotient import closure
from solvers.rng import uniform


@by_reference
class Partition(NamedTuple):
    """Chips of n nodes, and what they add up to on C chips.

    Attributes
    ----------
    place : int64 array, shape (n,)
    held, use : int64 arrays, shape (C,)
        Nodes and bytes of every chip.
    readers : int64 array, shape (T, C)
        Nodes on a chip that read a shared weight.
    edges : int64 array, shape (C, C)
        Edges from chip to chip.
    feeds, beyond, reach : int64 arrays, shape (C,)
        See :mod:`solvers.repair.quotient`.
    """

    place: np.ndarray
    held: np.ndarray
    use: np.ndarray
    readers: np.ndarray
    edges: np.ndarray
    feeds: np.ndarray
    beyond: np.ndarray
    reach: np.ndarray


def empty(problem: Problem) -> Partition:
    """Room for a partition; :func:`settle` fills it."""
    n, C, T = len(problem.bytes), problem.chips, len(problem.shared_bytes)
    shapes: tuple[tuple[int, ...], ...] = ((n,), (C,), (C,), (T, C), (C, C), (C,), (C,), (C,))
    return Partition(*(np.zeros(shape, np.int64) for shape in shapes))


@njit(cache=True)
def settle(p, t, place):  # type: ignore[no-untyped-def]
    """Take a partition of shape (n,) without edges that go backwards."""
    for array in (t.held, t.use, t.feeds):
        array[:] = 0
    t.readers[:] = 0
    t.edges[:] = 0
    t.place[:] = place
    for v in range(len(place)):
        _occupy(p, t, v, place[v], 1)
        for i in range(p.succ_ptr[v], p.succ_ptr[v + 1]):
            _edge(t, place[v], place[p.succ[i]], 1)


@njit(cache=True)
def shift(p, t, v, chip):  # type: ignore[no-untyped-def]
    """Move one node; edges may go backwards for as long as a move of several nodes takes.

    Returns whether edges of the quotient came or went on the way.
    """
    old, changed = t.place[v], False
    for i in range(p.succ_ptr[v], p.succ_ptr[v + 1]):
        to = t.place[p.succ[i]]
        changed |= _edge(t, chip, to, 1) | _edge(t, old, to, -1)
    for i in range(p.pred_ptr[v], p.pred_ptr[v + 1]):
        to = t.place[p.pred[i]]
        changed |= _edge(t, to, chip, 1) | _edge(t, to, old, -1)
    _occupy(p, t, v, old, -1)
    _occupy(p, t, v, chip, 1)
    t.place[v] = chip
    return changed


@njit(cache=True)
def keeps(p, t):  # type: ignore[no-untyped-def]
    """Whether C2, C3 and C4 hold; C1 is the mover's part."""
    empty = False
    for c in range(p.chips):
        if t.held[c] == 0:
            empty = True
        elif empty or t.use[c] > p.capacity[c]:
            return False
    return closure(t.feeds, t.beyond, t.reach)


@njit(cache=True)
def sweep(p, t, domain, likely, candidate, order, fix, stream):  # type: ignore[no-untyped-def]
    """Draw every node anew, or move it towards its candidate, and stay valid; returns moves.

    Parameters
    ----------
    domain : int64 array, shape (n,)
        Bits of the chips that a node may have.
    likely, candidate, order, fix, stream
        As for :func:`solvers.repair.search.run`.
    """
    moves = 0
    for v in order:
        low, high = 0, p.chips - 1
        for i in range(p.pred_ptr[v], p.pred_ptr[v + 1]):
            low = max(low, t.place[p.pred[i]])
        for i in range(p.succ_ptr[v], p.succ_ptr[v + 1]):
            high = min(high, t.place[p.succ[i]])
        now = t.place[v]
        if low == high or (fix and now == candidate[v]):
            continue
        left = domain[v] & ((1 << (high + 1)) - (1 << low))
        while True:
            chip = _toward(left, now, candidate[v]) if fix else draw(left, likely[v], stream)
            if chip < 0 or chip == now:
                break
            left &= ~(1 << chip)
            if not _fits(p, t, v, chip):
                continue
            same = t.held[chip] > 0 and t.held[now] > 1  # C2 as before
            changed = shift(p, t, v, chip)
            if keeps(p, t) if not same else not changed or closure(t.feeds, t.beyond, t.reach):
                moves += 1
                break
            shift(p, t, v, now)
    return moves


@njit(cache=True)
def _fits(p, t, v, chip):  # type: ignore[no-untyped-def]
    if not p.limited:
        return True
    use = t.use[chip] + p.bytes[v]
    for i in range(p.weight_ptr[v], p.weight_ptr[v + 1]):
        if t.readers[p.weight[i], chip] == 0:
            use += p.shared_bytes[p.weight[i]]
    return use <= p.capacity[chip]


@njit(cache=True)
def draw(left, likely, stream):  # type: ignore[no-untyped-def]
    """Draw one of the chips with these bits, by weights of shape (C,); -1 without one."""
    total, rest = 0.0, left
    while rest:
        total += likely[lowest(rest)]
        rest &= rest - 1
    mark, chosen = uniform(stream) * total, -1
    while left:
        c = lowest(left)
        left &= left - 1
        if likely[c] > 0.0:
            chosen = c
            mark -= likely[c]
            if mark < 0.0:
                break
    return chosen


@njit(cache=True)
def _toward(left, now, wanted):  # type: ignore[no-untyped-def]
    """The chip nearest to the wanted one on the way there; -1 without one."""
    step = 1 if now > wanted else -1
    for c in range(wanted, now, step):
        if (left >> c) & 1:
            return c
    return -1


@njit(cache=True)
def _edge(t, a, b, sign):  # type: ignore[no-untyped-def]
    """Count an edge in or out; returns whether it is the first or the last one of the quotient."""
    t.edges[a, b] += sign
    if a >= b or t.edges[a, b] != (1 if sign > 0 else 0):
        return False
    t.feeds[a] ^= 1 << b
    return True


@njit(cache=True)
def _occupy(p, t, v, chip, sign):  # type: ignore[no-untyped-def]
    t.held[chip] += sign
    t.use[chip] += sign * p.bytes[v]
    for i in range(p.weight_ptr[v], p.weight_ptr[v + 1]):
        weight = p.weight[i]
        if t.readers[weight, chip] == (0 if sign > 0 else 1):
            t.use[chip] += sign * p.shared_bytes[weight]
        t.readers[weight, chip] += sign
