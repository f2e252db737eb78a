"""The state of a repair: domains of all nodes, what they add up to, and the trail back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.by_reference import by_reference
from solvers.repair.problem import Problem
from solvers.rng import uniform

# Positions in State.number.
HEAD, QUEUED, TRAIL, LEVEL, AT, FAILS, WORK, STALE, LOOSE, BROKEN = range(10)


@by_reference
class State(NamedTuple):
    """Domains of n nodes on C chips.

    Attributes
    ----------
    domain, low, high : int64 arrays, shape (n,)
        Bits of the chips that a node may still have, the least and the largest of them.
    supporters, fixed : int64 arrays, shape (C,)
        Nodes that may have a chip, and nodes that can have no other.
    at_low, at_high : int64 arrays, shape (C,)
        Nodes whose least, or largest, chip it is.
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
    sums : int64 array, shape (C,)
        Scratch.
    number : int64 array, shape (10,)
        Front and length of the queue, length of the trail, level, position in the order, failed
        decisions, edges looked at, whether the quotient is newer than its tables, whether some
        edge is not tight, whether the last propagation failed.
    """

    domain: np.ndarray
    low: np.ndarray
    high: np.ndarray
    supporters: np.ndarray
    fixed: np.ndarray
    at_low: np.ndarray
    at_high: np.ndarray
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
    number: np.ndarray


def empty(problem: Problem) -> State:
    """Room for the state of a problem; :func:`begin` fills it."""
    n, C, m = len(problem.bytes), problem.chips, len(problem.succ)

    def whole(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.int64)

    arrays = [whole(n) for _ in range(3)] + [whole(C) for _ in range(4)]
    arrays += [whole(C, C), whole(C), whole(len(problem.shared_bytes), C)]
    arrays += [whole(C) for _ in range(5)] + [np.zeros(m, np.bool_)]
    arrays += [whole(n), np.zeros(n, np.bool_), whole(n * C), whole(n * C)]
    arrays += [whole(n + 1) for _ in range(4)] + [whole(n + 1, C), whole(C), whole(10)]
    return State(*arrays)


@njit(cache=True)
def begin(p, s, domain):  # type: ignore[no-untyped-def]
    """Start anew from domains of shape (n,), none of them empty, with ``s.tight`` as it is."""
    n, C = len(p.bytes), p.chips
    for array in (s.supporters, s.fixed, s.at_low, s.at_high, s.use, s.feeds):
        array[:] = 0
    s.span[:] = 0
    s.readers[:] = 0
    s.number[:] = 0
    s.number[STALE] = 1
    for i in range(len(s.tight)):
        if not s.tight[i]:
            s.number[LOOSE] = 1
    for v in range(n):
        s.domain[v] = 0
        _set(p, s, v, domain[v])
        s.queue[v] = v
        s.queued[v] = True
        if s.low[v] == s.high[v] and not link(p, s, v, v):
            s.number[BROKEN] = 1
    s.number[QUEUED] = n
    for c in range(C):
        s.out[c] = -1
        s.into[c] = -1


@njit(cache=True)
def tighten(s, share, stream):  # type: ignore[no-untyped-def]
    """Make every edge tight with probability `share`; to be called before :func:`begin`."""
    for i in range(len(s.tight)):
        s.tight[i] = share >= 1.0 or (share > 0.0 and uniform(stream) < share)


@njit(cache=True)
def lowest(bits):  # type: ignore[no-untyped-def]
    """Number of the lowest bit that is set; 63 without one."""
    low = 0
    for width in (32, 16, 8, 4, 2, 1):
        if not (bits >> low) & ((1 << width) - 1):
            low += width
    return low


@njit(cache=True)
def highest(bits):  # type: ignore[no-untyped-def]
    """Number of the highest bit that is set; 0 without one."""
    high = 0
    for width in (32, 16, 8, 4, 2, 1):
        if bits >> (high + width):
            high += width
    return high


@njit(cache=True)
def _set(p, s, v, domain):  # type: ignore[no-untyped-def]
    """Give a node a domain, forwards or backwards, and keep all sums."""
    old = s.domain[v]
    if old != 0:
        low, high = s.low[v], s.high[v]
        s.at_low[low] -= 1
        s.at_high[high] -= 1
        s.span[low, high] -= p.bytes[v]
        if low == high:
            _occupy(p, s, v, low, -1)
    change = old ^ domain
    c = lowest(change)
    change >>= c
    while change:
        if change & 1:
            s.supporters[c] += 1 if (domain >> c) & 1 else -1
        change >>= 1
        c += 1
    low, high = lowest(domain), highest(domain)
    s.domain[v], s.low[v], s.high[v] = domain, low, high
    s.at_low[low] += 1
    s.at_high[high] += 1
    s.span[low, high] += p.bytes[v]
    if low == high:
        _occupy(p, s, v, low, 1)


@njit(cache=True)
def _occupy(p, s, v, chip, sign):  # type: ignore[no-untyped-def]
    s.fixed[chip] += sign
    s.use[chip] += sign * p.bytes[v]
    for i in range(p.weight_ptr[v], p.weight_ptr[v + 1]):
        w = p.weight[i]
        if s.readers[w, chip] == (0 if sign > 0 else 1):
            s.use[chip] += sign * p.shared_bytes[w]
        s.readers[w, chip] += sign


@njit(cache=True)
def link(p, s, v, below):  # type: ignore[no-untyped-def]
    """Add the edges between a fixed node and its fixed neighbours to the quotient.

    Neighbours numbered `below` or more are left out: at the start they have no domain yet. Returns
    False where an edge goes backwards.
    """
    chip = s.low[v]
    for i in range(p.succ_ptr[v], p.succ_ptr[v + 1]):
        to = p.succ[i]
        if to < below and s.low[to] == s.high[to] and s.low[to] != chip:
            if s.low[to] < chip:
                return False
            if not (s.feeds[chip] >> s.low[to]) & 1:
                s.feeds[chip] |= 1 << s.low[to]
                s.number[STALE] = 1
    for i in range(p.pred_ptr[v], p.pred_ptr[v + 1]):
        u = p.pred[i]
        if u < below and s.low[u] == s.high[u] and s.low[u] != chip:
            if s.low[u] > chip:
                return False
            if not (s.feeds[s.low[u]] >> chip) & 1:
                s.feeds[s.low[u]] |= 1 << chip
                s.number[STALE] = 1
    return True


@njit(cache=True)
def narrow(p, s, v, domain):  # type: ignore[no-untyped-def]
    """Reduce the domain of a node to a part of it that is not empty; False on a conflict."""
    t = s.number[TRAIL]
    s.trail_node[t], s.trail_domain[t] = v, s.domain[v]
    s.number[TRAIL] = t + 1
    _set(p, s, v, domain)
    enqueue(s, v)
    if s.low[v] == s.high[v] and s.number[LOOSE]:
        return link(p, s, v, len(p.bytes))
    return True


@njit(cache=True)
def enqueue(s, v):  # type: ignore[no-untyped-def]
    """Have the edges of a node looked at."""
    if not s.queued[v]:
        s.queued[v] = True
        s.queue[(s.number[HEAD] + s.number[QUEUED]) % len(s.queue)] = v
        s.number[QUEUED] += 1


@njit(cache=True)
def decide(s, v, chip):  # type: ignore[no-untyped-def]
    """Open a level for the decision that node `v` goes to `chip`; the caller narrows."""
    level = s.number[LEVEL]
    s.level_trail[level] = s.number[TRAIL]
    s.level_at[level] = s.number[AT]
    s.level_node[level], s.level_chip[level] = v, chip
    s.level_feeds[level] = s.feeds
    s.number[LEVEL] = level + 1


@njit(cache=True)
def retreat(p, s):  # type: ignore[no-untyped-def]
    """Take the last decision back, with all that followed; returns its node and chip."""
    while s.number[QUEUED]:
        s.queued[s.queue[s.number[HEAD]]] = False
        s.number[HEAD] = (s.number[HEAD] + 1) % len(s.queue)
        s.number[QUEUED] -= 1
    level = s.number[LEVEL] - 1
    s.number[LEVEL] = level
    for t in range(s.number[TRAIL] - 1, s.level_trail[level] - 1, -1):
        _set(p, s, s.trail_node[t], s.trail_domain[t])
    s.number[TRAIL] = s.level_trail[level]
    s.number[AT] = s.level_at[level]
    s.feeds[:] = s.level_feeds[level]
    s.number[STALE] = 1
    return s.level_node[level], s.level_chip[level]
