"""Which units a window of a `throughput` mapping takes."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def at_cut(q, s, inside):  # type: ignore[no-untyped-def]
    """Units on the devices inside that send to, or receive from, another device inside."""
    G = len(s.device)
    result = np.zeros(G, np.bool_)
    for e in range(len(s.home)):
        a = s.home[e]
        for i in range(q.net_ptr[e], q.net_ptr[e + 1]):
            k = s.device[q.net_pin[i]]
            if k != a and inside[k] and inside[a]:
                result[q.net_pin[i]] = True
                result[q.net_source[e]] = True
    return result


@njit(cache=True)
def grow(q, within, seeds, size):  # type: ignore[no-untyped-def]
    """Up to `size` of the units `within`, breadth first along nets from the seeds."""
    G = len(within)
    seen = np.zeros(G, np.bool_)
    found = np.empty(min(size, G), np.int64)
    count, i = 0, 0
    for g in seeds:
        if count < len(found) and not seen[g]:
            seen[g] = True
            found[count] = g
            count += 1
    while i < count:
        g = found[i]
        i += 1
        for j in range(q.pin_ptr[g], q.pin_ptr[g + 1]):
            u = q.net_source[q.pin_net[j]]
            if count < len(found) and not seen[u] and within[u]:
                seen[u] = True
                found[count] = u
                count += 1
        for j in range(q.source_ptr[g], q.source_ptr[g + 1]):
            e = q.source_net[j]
            for m in range(q.net_ptr[e], q.net_ptr[e + 1]):
                u = q.net_pin[m]
                if count < len(found) and not seen[u] and within[u]:
                    seen[u] = True
                    found[count] = u
                    count += 1
    return np.sort(found[:count])
