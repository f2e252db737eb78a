"""Propagation of the rules C1 to C4 on the domains of all nodes.

It is sound: what it removes can be no part of a valid partition that agrees with the decisions made
and with all tight edges.

* Edges: along an edge u -> v the least chip of v is not below that of u, and the largest of u not
  above that of v (C1). From a fixed end the other one may only go where the quotient's edge would
  not break the triangle rule (C3). Along a *tight* edge f(v) - f(u) is 0 or 1, which alone is
  enough for C1 and C3; if all edges are tight and domains are without holes, no decision that
  survives propagation is ever taken back for these two rules.
* No gaps (C2): every chip up to the largest that is certainly used needs a node that may have it,
  every run of such chips as many nodes as chips (Hall), and nothing lies beyond a chip that no
  node may have.
* Memory (C4): the nodes that cannot leave a run of chips fit into it.
"""

from __future__ import annotations

from numba import njit

from solvers.repair.quotient import tables
from solvers.repair.state import HEAD, LOOSE, QUEUED, STALE, WORK, enqueue, narrow

_FAILED, _DONE, _CHANGED = 0, 1, 2


@njit(cache=True)
def propagate(p, s):  # type: ignore[no-untyped-def]
    """Narrow all domains to a fixed point; False where no valid partition is left."""
    while True:
        while s.number[QUEUED]:
            u = s.queue[s.number[HEAD]]
            s.queued[u] = False
            s.number[HEAD] = (s.number[HEAD] + 1) % len(s.queue)
            s.number[QUEUED] -= 1
            if not _edges(p, s, u):
                return False
        if s.number[STALE] and s.number[LOOSE]:
            s.number[STALE] = 0
            if not tables(s.feeds, s.beyond, s.reach, s.into, s.out):
                return False
            for v in range(len(s.domain)):
                if s.low[v] == s.high[v]:
                    enqueue(s, v)
            continue
        if p.limited and not _memory(p, s):
            return False
        ended = _no_gap(p, s)
        if ended != _CHANGED:
            return ended == _DONE


@njit(cache=True)
def _edges(p, s, u):  # type: ignore[no-untyped-def]
    # Both ends are looked at once more whenever either changes, so that the order is no matter.
    domain, low, high = s.domain[u], s.low[u], s.high[u]
    s.number[WORK] += p.succ_ptr[u + 1] - p.succ_ptr[u] + p.pred_ptr[u + 1] - p.pred_ptr[u]
    # A stale table is of an older quotient with fewer edges, or of a later one that was taken back:
    # in the first case it is weaker, in the second it must not be used.
    fixed = low == high and not s.number[STALE]
    for i in range(p.succ_ptr[u], p.succ_ptr[u + 1]):
        v = p.succ[i]
        left = s.domain[v] & -(1 << low)
        if s.tight[i]:
            left &= domain | (domain << 1)
        elif fixed:
            left &= s.out[low]
        if left != s.domain[v] and (left == 0 or not narrow(p, s, v, left)):
            return False
    for i in range(p.pred_ptr[u], p.pred_ptr[u + 1]):
        v = p.pred[i]
        left = s.domain[v] & ((1 << (high + 1)) - 1)
        if s.tight[p.pred_edge[i]]:
            left &= domain | (domain >> 1)
        elif fixed:
            left &= s.into[low]
        if left != s.domain[v] and (left == 0 or not narrow(p, s, v, left)):
            return False
    return True


@njit(cache=True)
def _memory(p, s):  # type: ignore[no-untyped-def]
    C = p.chips
    s.sums[:] = 0
    for a in range(C - 1, -1, -1):
        if s.use[a] > p.capacity[a]:
            return False
        inside, room = 0, 0
        for b in range(a, C):
            inside += s.span[a, b]
            room += p.capacity[b]
            s.sums[b] += inside
            if s.sums[b] > room:
                return False
    return True


@njit(cache=True)
def _no_gap(p, s):  # type: ignore[no-untyped-def]
    C, n = p.chips, len(s.domain)
    last = C - 1
    while s.at_low[last] == 0:
        last -= 1
    entered, left, spare = 0, 0, -n - C
    for b in range(last + 1):
        # Nodes that may have a chip of a..b = nodes of least chip <= b - nodes of largest chip < a.
        spare = max(spare, left - b)
        left += s.at_high[b]
        entered += s.at_low[b]
        if entered - b - 1 < spare:
            return _FAILED
    changed = False
    for c in range(last + 1):
        if s.supporters[c] == 0:
            return _FAILED
        if s.supporters[c] == 1 and s.fixed[c] == 0:
            for v in range(n):
                if (s.domain[v] >> c) & 1:
                    if not narrow(p, s, v, 1 << c):
                        return _FAILED
                    break
            changed = True
            if s.number[QUEUED]:  # the counts are new: look at the edges first
                return _CHANGED
    end = last + 1
    while end < C and s.supporters[end] > 0:
        end += 1
    for c in range(end + 1, C):
        if s.supporters[c] > 0:
            for v in range(n):
                # Not empty: the least chip of every node is `last` at most.
                if s.high[v] > end and not narrow(p, s, v, s.domain[v] & ((1 << end) - 1)):
                    return _FAILED
            return _CHANGED
    return _CHANGED if changed else _DONE
