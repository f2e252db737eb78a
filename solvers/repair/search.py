"""The compiled loop of both modes: decide, propagate, and take back what fails."""

from __future__ import annotations

from numba import njit

from solvers.repair.bits import highest, lowest, single
from solvers.repair.partition import draw
from solvers.repair.propagate import propagate
from solvers.repair.state import AT, BROKEN, FAILS, LEVEL, WORK, decide, narrow, retreat

FOUND, NONE, GIVEN_UP, PAUSED = 1, 0, 2, 3


@njit(cache=True)
def run(p, s, likely, candidate, order, fix, stream, work, fails):  # type: ignore[no-untyped-def]
    """Go on with a repair for about `work` edges looked at.

    Parameters
    ----------
    likely : float64 array, shape (n, C)
        SAMPLE draws a chip with a probability proportional to it.
    candidate : int64 array, shape (n,)
        FIX keeps it where it can; other nodes get the nearest chip, of two the lower one.
    order : int64 array, shape (n,)
        Order of decisions.
    fix : bool
        Which mode it is.
    fails : int
        Failed decisions after which to give up.

    Returns
    -------
    int
        :data:`FOUND` (all nodes are fixed), :data:`NONE` (there is no partition with these domains
        and tight edges), :data:`GIVEN_UP` or :data:`PAUSED`.
    """
    n, domain = len(order), s.domain
    end = s.number[WORK] + work
    while True:
        if s.number[BROKEN]:
            if s.number[LEVEL] == 0:
                return NONE
            if s.number[FAILS] >= fails:
                return GIVEN_UP
            s.number[FAILS] += 1
            v, chip = retreat(p, s)
            _narrow(p, s, v, domain[v] & ~(1 << chip))
            s.number[WORK] += 10  # so that a loop of failures ends, too
        else:
            at = s.number[AT]
            while at < n:
                v = order[at]
                left = domain[v]
                if not single(left) and (not fix or (left >> candidate[v]) & 1):
                    break
                at += 1
            while fix and n <= at < 2 * n:
                v = order[at - n]
                if not single(domain[v]):
                    break
                at += 1
            s.number[AT] = at
            if at == (2 * n if fix else n):
                return FOUND
            s.number[WORK] += p.chips  # what looking at all chips costs, about
            room = _with_room(p, s, v) if p.limited else domain[v]
            if room != domain[v]:
                _narrow(p, s, v, room)
            else:
                if fix:
                    chip = _nearest(domain[v], candidate[v])
                else:
                    chip = draw(domain[v], likely[v], stream)
                decide(s, v, chip)
                _narrow(p, s, v, 1 << chip)
        if s.number[WORK] >= end:
            return PAUSED


@njit(cache=True)
def root(p, s):  # type: ignore[no-untyped-def]
    """Propagate the domains that :func:`solvers.repair.state.begin` has set."""
    if not s.number[BROKEN] and not propagate(p, s):
        s.number[BROKEN] = 1


@njit(cache=True)
def _narrow(p, s, v, domain):  # type: ignore[no-untyped-def]
    kept = domain != 0 and narrow(p, s, v, domain) and propagate(p, s)
    s.number[BROKEN] = 0 if kept else 1


@njit(cache=True)
def _with_room(p, s, v):  # type: ignore[no-untyped-def]
    """The chips of a node's domain that the fixed nodes leave room on."""
    domain = s.domain[v]
    for c in range(lowest(domain), highest(domain) + 1):
        if (domain >> c) & 1:
            more = p.bytes[v]
            for i in range(p.weight_ptr[v], p.weight_ptr[v + 1]):
                if s.readers[p.weight[i], c] == 0:
                    more += p.shared_bytes[p.weight[i]]
            if s.use[c] + more > p.capacity[c]:
                domain &= ~(1 << c)
    return domain


@njit(cache=True)
def _nearest(domain, wanted):  # type: ignore[no-untyped-def]
    below, above = domain & ((2 << wanted) - 1), domain >> wanted << wanted
    if below == 0:
        return lowest(above)
    if above == 0 or wanted - highest(below) <= lowest(above) - wanted:
        return highest(below)
    return lowest(above)
