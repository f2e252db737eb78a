"""The triangle rule (C3) on the quotient graph, one word of bits a chip.

``feeds[a]`` has bit b where some edge goes from chip a to chip b > a. The rule: no such edge beside
a longer path from a to b. Equivalently the quotient is its own transitive reduction.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def closure(feeds, beyond, reach):  # type: ignore[no-untyped-def]
    """Fill `reach` (paths of edges) and `beyond` (two edges or more); False if C3 is broken."""
    C = len(feeds)
    kept = True
    for a in range(C - 1, -1, -1):
        direct = feeds[a]
        far = 0
        for b in range(a + 1, C):
            if (direct >> b) & 1:
                far |= reach[b]
        beyond[a] = far
        reach[a] = direct | far
        if direct & far:
            kept = False
    return kept


@njit(cache=True)
def tables(feeds, beyond, reach, into, out):  # type: ignore[no-untyped-def]
    """Which edges of the quotient may be there or may yet be added, one at a time.

    ``out[a]`` gets the bits of the chips b >= a such that an edge from a to b is there or would not
    break the rule, ``into[b]`` those of the chips a. Returns False if the rule is broken already.
    """
    if not closure(feeds, beyond, reach):
        return False
    C = len(feeds)
    for a in range(C):
        into[a] = 0  # for now: what chips before a feed
    for a in range(C):
        for b in range(a + 1, C):
            if (feeds[a] >> b) & 1:
                into[b] |= into[a] | feeds[a]
    for a in range(C):
        allowed = 1 << a
        before, direct = into[a], feeds[a]
        for b in range(a + 1, C):
            # A longer path from a to b; an edge from before a to b or beyond; one from a to beyond.
            if not ((beyond[a] >> b) & 1 or before & ((1 << b) | reach[b]) or direct & reach[b]):
                allowed |= 1 << b
        out[a] = allowed
    for b in range(C):
        into[b] = 0
        for a in range(b + 1):
            if (out[a] >> b) & 1:
                into[b] |= 1 << a
    return True
