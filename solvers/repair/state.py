"""The state of a repair: domains of all nodes, what they add up to, and the trail back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.by_reference import by_reference
from solvers.repair.bits import highest, lowest, single
from solvers.repair.problem import Problem
from solvers.repair.quotient import tables
from solvers.rng import uniform

# Positions in State.number.
HEAD, QUEUED, TRAIL, LEVEL, AT, FAILS, WORK, STALE, LOOSE, BROKEN = range(10)


@by_reference
class State(NamedTuple):
    """Domains of n nodes on C chips.

    Attributes
    ----------
    domain : int64 array, shape (n,)
        Bits of the chips that a node may still have.
    at_low, at_high : int64 arrays, shape (C,)
        Nodes whose least, or largest, chip it is.
    holes : int64 array, shape (C,)
        Nodes that may have a smaller chip and a larger one, but not this one.
    fixed : int64 array, shape (C,)
        Nodes that can have no other chip.
    span : int64 array, shape (C, C)
        Bytes of the nodes with this least and this largest chip.
    use : int64 array, shape (C,)
        Bytes of the fixed nodes, shared weights once.
    readers : int64 array, shape (T, C)
        Fixed nodes on a chip that read a shared weight.
    feeds, beyond, reach, into, out : int64 arrays, shape (C,)
        The quotient of the fixed nodes; see :mod:`solvers.repair.quotient`.
    tight : bool array, shape (m,)
        Edges that have to stay on a chip or go to the next one.
    queue, queued : int64 and bool arrays, shape (n,)
        Nodes whose domain has changed since their edges were looked at; a ring.
    trail_node, trail_domain : int64 arrays, shape (n * C,)
        What changed, and from what.
    level_trail, level_at, level_node, level_chip, level_feeds : int64 arrays, shapes (n + 1, ...)
        Length of the trail, position in the order, decision and quotient of every level.
    sums, before : int64 arrays, shape (C,), (2, C)
        Scratch.
    number : int64 array, shape (10,)
        Front and length of the queue, length of the trail, level, position in the order, failed
        decisions, edges looked at, whether the quotient is newer than its tables, whether some
        edge is not tight, whether the last propagation failed.

    Notes
    -----
    `span`, `use` and `readers` are kept where memory is limited only, the quotient where some edge
    is not tight: what they are for cannot be broken otherwise.
    """

    domain: np.ndarray
    at_low: np.ndarray
    at_high: np.ndarray
    holes: np.ndarray
    fixed: np.ndarray
    span: np.ndarray
    use: np.ndarray
    readers: np.ndarray
    feeds: np.ndarray
    beyond: np.ndarray
    reach: np.ndarray
    into: np.ndarray
    out: np.ndarray
    tight: np.ndarray
    queue: np.ndarray
    queued: np.ndarray
    trail_node: np.ndarray
    trail_domain: np.ndarray
    level_trail: np.ndarray
    level_at: np.ndarray
    level_node: np.ndarray
    level_chip: np.ndarray
    level_feeds: np.ndarray
    sums: np.ndarray
    before: np.ndarray
    number: np.ndarray


def empty(problem: Problem) -> State:
    """Room for the state of a problem; :func:`begin` fills it."""
    n, C, m = len(problem.bytes), problem.chips, len(problem.succ)

    def whole(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.int64)

    arrays = [whole(n)] + [whole(C) for _ in range(4)]
    arrays += [whole(C, C), whole(C), whole(len(problem.shared_bytes), C)]
    arrays += [whole(C) for _ in range(5)] + [np.zeros(m, np.bool_)]
    arrays += [whole(n), np.zeros(n, np.bool_), whole(n * C), whole(n * C)]
    arrays += [whole(n + 1) for _ in range(4)]
    arrays += [whole(n + 1, C), whole(C), whole(2, C), whole(10)]
    return State(*arrays)


@njit(cache=True)
def begin(p, s, domain):  # type: ignore[no-untyped-def]
    """Start anew from domains of shape (n,), none of them empty, with ``s.tight`` as it is."""
    n, C = len(p.bytes), p.chips
    for array in (s.at_low, s.at_high, s.holes, s.fixed, s.use, s.feeds):
        array[:] = 0
    s.span[:] = 0
    s.readers[:] = 0
    s.number[:] = 0
    s.number[STALE] = 1
    for i in range(len(s.tight)):
        if not s.tight[i]:
            s.number[LOOSE] = 1
            break
    at_low, at_high, holes, fixed = s.at_low, s.at_high, s.holes, s.fixed
    kept, queue, queued = s.domain, s.queue, s.queued
    for v in range(n):
        kept[v] = domain[v]
        count(at_low, at_high, holes, fixed, domain[v], 1)
        queue[v], queued[v] = v, True
    s.number[QUEUED] = n
    if p.limited:
        for v in range(n):
            store(p, s, v, domain[v], 1)
    for v in range(n if s.number[LOOSE] else 0):
        if single(domain[v]) and not link(p, s, v, domain):
            s.number[BROKEN] = 1
    for c in range(C):
        s.out[c] = -1
        s.into[c] = -1


@njit(cache=True)
def domains(allowed, likely):  # type: ignore[no-untyped-def]
    """Bits of the allowed chips that may be drawn, shape (n,); -1 at what is no probability.

    Parameters
    ----------
    allowed : bool array, shape (n, C)
    likely : float64 array, shape (n, C)
    """
    result = np.zeros(len(likely), np.int64)
    for v in range(len(likely)):
        for c in range(likely.shape[1]):
            if not 0.0 <= likely[v, c] < np.inf:
                result[v] = -1
                break
            if allowed[v, c] and likely[v, c] > 0.0:
                result[v] |= 1 << c
    return result


@njit(cache=True)
def permutes(order):  # type: ignore[no-untyped-def]
    """Whether an array of shape (n,) holds every number from 0 to n - 1."""
    seen = np.zeros(len(order), np.bool_)
    for v in order:
        if v < 0 or v >= len(order) or seen[v]:
            return False
        seen[v] = True
    return True


@njit(cache=True)
def chips(s):  # type: ignore[no-untyped-def]
    """Chips of all nodes once they are fixed, int64 array of shape (n,)."""
    result = np.empty(len(s.domain), np.int64)
    for v in range(len(result)):
        result[v] = lowest(s.domain[v])
    return result


@njit(cache=True)
def tighten(s, share, stream):  # type: ignore[no-untyped-def]
    """Make every edge tight with probability `share`; to be called before :func:`begin`."""
    if share <= 0.0 or share >= 1.0:
        s.tight[:] = share >= 1.0
        return
    for i in range(len(s.tight)):
        s.tight[i] = uniform(stream) < share


@njit(cache=True)
def count(at_low, at_high, holes, fixed, domain, sign):  # type: ignore[no-untyped-def]
    """Count a node with this domain in, or out with `sign` -1."""
    low, high = lowest(domain), highest(domain)
    at_low[low] += sign
    at_high[high] += sign
    if low == high:
        fixed[low] += sign
        return
    hole = ((1 << high) - (1 << low)) & ~domain
    while hole:
        holes[lowest(hole)] += sign
        hole &= hole - 1


@njit(cache=True)
def store(p, s, v, domain, sign):  # type: ignore[no-untyped-def]
    """Count the bytes of a node with this domain in, or out with `sign` -1."""
    chip, high = lowest(domain), highest(domain)
    s.span[chip, high] += sign * p.bytes[v]
    if chip != high:
        return
    s.use[chip] += sign * p.bytes[v]
    for i in range(p.weight_ptr[v], p.weight_ptr[v + 1]):
        w = p.weight[i]
        if s.readers[w, chip] == (0 if sign > 0 else 1):
            s.use[chip] += sign * p.shared_bytes[w]
        s.readers[w, chip] += sign


@njit(cache=True)
def link(p, s, v, domain):  # type: ignore[no-untyped-def]
    """Add the edges between a fixed node and its fixed neighbours to the quotient.

    Returns False where an edge goes backwards.
    """
    chip = lowest(domain[v])
    for i in range(p.succ_ptr[v], p.succ_ptr[v + 1]):
        to = domain[p.succ[i]]
        if single(to) and to != domain[v]:
            if to < domain[v]:
                return False
            if not s.feeds[chip] & to:
                s.feeds[chip] |= to
                s.number[STALE] = 1
    for i in range(p.pred_ptr[v], p.pred_ptr[v + 1]):
        to = domain[p.pred[i]]
        if single(to) and to != domain[v]:
            if to > domain[v]:
                return False
            if not s.feeds[lowest(to)] & domain[v]:
                s.feeds[lowest(to)] |= domain[v]
                s.number[STALE] = 1
    return True


@njit(cache=True)
def narrow(p, s, v, domain):  # type: ignore[no-untyped-def]
    """Reduce the domain of a node to a part of it that is not empty; False on a conflict."""
    t, old = s.number[TRAIL], s.domain[v]
    s.trail_node[t], s.trail_domain[t] = v, old
    s.number[TRAIL] = t + 1
    _set(p, s, v, domain)
    enqueue(s, v)
    if s.number[LOOSE] and single(domain):
        return link(p, s, v, s.domain)
    return True


@njit(cache=True)
def _set(p, s, v, domain):  # type: ignore[no-untyped-def]
    """Give a node a domain, forwards or backwards, and keep all sums."""
    old = s.domain[v]
    count(s.at_low, s.at_high, s.holes, s.fixed, old, -1)
    count(s.at_low, s.at_high, s.holes, s.fixed, domain, 1)
    if p.limited:
        store(p, s, v, old, -1)
        store(p, s, v, domain, 1)
    s.domain[v] = domain


@njit(cache=True)
def wrap(at, length):  # type: ignore[no-untyped-def]
    """A position in a ring, at most one round too far."""
    return at - length if at >= length else at


@njit(cache=True)
def enqueue(s, v):  # type: ignore[no-untyped-def]
    """Have the edges of a node looked at."""
    if not s.queued[v]:
        s.queued[v] = True
        s.queue[wrap(s.number[HEAD] + s.number[QUEUED], len(s.queue))] = v
        s.number[QUEUED] += 1


@njit(cache=True)
def decide(s, v, chip):  # type: ignore[no-untyped-def]
    """Open a level for the decision that node `v` goes to `chip`; the caller narrows."""
    level = s.number[LEVEL]
    s.level_trail[level] = s.number[TRAIL]
    s.level_at[level] = s.number[AT]
    s.level_node[level], s.level_chip[level] = v, chip
    if s.number[LOOSE]:
        s.level_feeds[level] = s.feeds
    s.number[LEVEL] = level + 1


@njit(cache=True)
def retreat(p, s):  # type: ignore[no-untyped-def]
    """Take the last decision back, with all that followed; returns its node and chip."""
    while s.number[QUEUED]:
        s.queued[s.queue[s.number[HEAD]]] = False
        s.number[HEAD] = wrap(s.number[HEAD] + 1, len(s.queue))
        s.number[QUEUED] -= 1
    level = s.number[LEVEL] - 1
    s.number[LEVEL] = level
    for t in range(s.number[TRAIL] - 1, s.level_trail[level] - 1, -1):
        _set(p, s, s.trail_node[t], s.trail_domain[t])
    s.number[TRAIL] = s.level_trail[level]
    s.number[AT] = s.level_at[level]
    if s.number[LOOSE]:
        # At once: later tables may only differ from older ones by edges that have come since.
        s.feeds[:] = s.level_feeds[level]
        tables(s.feeds, s.beyond, s.reach, s.into, s.out)
        s.number[STALE] = 0
    return s.level_node[level], s.level_chip[level]
