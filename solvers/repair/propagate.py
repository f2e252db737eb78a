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

from solvers.repair.bits import highest, lowest, single
from solvers.repair.quotient import tables
from solvers.repair.state import (
    HEAD,
    LOOSE,
    QUEUED,
    STALE,
    TRAIL,
    WORK,
    count,
    enqueue,
    link,
    narrow,
    store,
    wrap,
)

_FAILED, _DONE, _CHANGED = 0, 1, 2


@njit(cache=True)
def propagate(p, s):  # type: ignore[no-untyped-def]
    """Narrow all domains to a fixed point; False where no valid partition is left."""
    while True:
        if s.number[QUEUED] and not _edges(p, s):
            return False
        if s.number[STALE] and s.number[LOOSE]:
            if not _triangles(s):
                return False
            continue
        if p.limited and not _memory(p, s):
            return False
        ended = _no_gap(p, s)
        if ended != _CHANGED:
            return ended == _DONE


@njit(cache=True)
def _edges(p, s):  # type: ignore[no-untyped-def]
    """Look at the edges of all nodes in the queue, and of those that come into it by that."""
    # Taken out of their bundles once: each access there counts a reference.
    domain, tight, queue, queued = s.domain, s.tight, s.queue, s.queued
    at_low, at_high, holes, fixed = s.at_low, s.at_high, s.holes, s.fixed
    trail_node, trail_domain, out, into = s.trail_node, s.trail_domain, s.out, s.into
    succ_ptr, succ, pred_ptr, pred, pred_edge = p.succ_ptr, p.succ, p.pred_ptr, p.pred, p.pred_edge
    number, loose, limited = s.number, s.number[LOOSE] != 0, p.limited
    head, waiting, t, work = number[HEAD], number[QUEUED], number[TRAIL], number[WORK]
    kept = True
    while waiting and kept:
        u = queue[head]
        queued[u] = False
        head = wrap(head + 1, len(queue))
        waiting -= 1
        mine = domain[u]
        after, before = succ_ptr[u + 1] - succ_ptr[u], pred_ptr[u + 1] - pred_ptr[u]
        work += after + before
        # Both ends are looked at once more whenever either changes: the order is no matter.
        for k in range(after + before):
            if k < after:
                i = succ_ptr[u] + k
                v = succ[i]
                left = mine | mine << 1
                if loose and not tight[i]:
                    left = -(mine & -mine)
                    if single(mine):
                        left &= out[lowest(mine)]
            else:
                i = pred_ptr[u] + k - after
                v = pred[i]
                left = mine | mine >> 1
                if loose and not tight[pred_edge[i]]:
                    left = (1 << (highest(mine) + 1)) - 1
                    if single(mine):
                        left &= into[lowest(mine)]
            old = domain[v]
            left &= old
            if left == old:
                continue
            if left == 0:
                kept = False
                break
            # As `narrow` does, on the arrays at hand.
            trail_node[t], trail_domain[t] = v, old
            t += 1
            domain[v] = left
            count(at_low, at_high, holes, fixed, old, -1)
            count(at_low, at_high, holes, fixed, left, 1)
            if limited:
                store(p, s, v, old, -1)
                store(p, s, v, left, 1)
            if not queued[v]:
                queued[v] = True
                queue[wrap(head + waiting, len(queue))] = v
                waiting += 1
            if loose and single(left) and not link(p, s, v, domain):
                kept = False
                break
    number[HEAD], number[QUEUED], number[TRAIL], number[WORK] = head, waiting, t, work
    return kept


@njit(cache=True)
def _triangles(s):  # type: ignore[no-untyped-def]
    """Bring the tables up to date, and have nodes looked at that they say more about now."""
    s.number[STALE] = 0
    s.before[0] = s.out
    s.before[1] = s.into
    if not tables(s.feeds, s.beyond, s.reach, s.into, s.out):
        return False
    changed = 0
    for c in range(len(s.out)):
        if s.out[c] != s.before[0, c] or s.into[c] != s.before[1, c]:
            changed |= 1 << c
    domain = s.domain
    for v in range(len(domain) if changed else 0):
        if domain[v] & changed and single(domain[v]):
            enqueue(s, v)
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
    C, n, supporters, domain = p.chips, len(s.domain), s.sums, s.domain
    last = C - 1
    while s.at_low[last] == 0:
        last -= 1
    entered, left, spare = 0, 0, -n - C
    for b in range(C):
        # Nodes that may have a chip of a..b = nodes of least chip <= b - nodes of largest chip < a.
        spare = max(spare, left - b)
        entered += s.at_low[b]
        supporters[b] = entered - left - s.holes[b]
        left += s.at_high[b]
        if b <= last and (entered - b - 1 < spare or supporters[b] == 0):
            return _FAILED
    for c in range(last + 1):
        if supporters[c] == 1 and s.fixed[c] == 0:
            for v in range(n):
                if (domain[v] >> c) & 1:
                    if not narrow(p, s, v, 1 << c):
                        return _FAILED
                    break
            return _CHANGED  # the counts are new: look at the edges first
    end = last + 1
    while end < C and supporters[end] > 0:
        end += 1
    for c in range(end + 1, C):
        if supporters[c] > 0:
            for v in range(n):
                # Not empty: the least chip of every node is `last` at most.
                if domain[v] >> end and not narrow(p, s, v, domain[v] & ((1 << end) - 1)):
                    return _FAILED
            return _CHANGED
    return _DONE
