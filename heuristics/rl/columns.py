"""The compiled part of :mod:`heuristics.rl.features`."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def depths(edges, n):  # type: ignore[no-untyped-def]
    """Edges of the longest path to and from every node; nodes are numbered topologically."""
    before, after = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for i in range(len(edges)):
        before[edges[i, 1]] = max(before[edges[i, 1]], before[edges[i, 0]] + 1)
    for i in range(len(edges) - 1, -1, -1):
        after[edges[i, 0]] = max(after[edges[i, 0]], after[edges[i, 1]] + 1)
    return before, after


@njit(cache=True)
def fill(edges, time, held, room, place, load, top, use, chain, rest):  # type: ignore[no-untyped-def]
    """Columns of the units and of the pairs, float32 arrays, shapes (U, 9) and (U, C, 9).

    `load`, shape (C,), are parts of `top` seconds; `rest`, shape (3,), are columns that all units
    share.
    """
    U, C = time.shape
    unit, pair = np.zeros((U, 9), np.float32), np.zeros((U, C, 9), np.float32)
    producers, readers = np.zeros(U), np.zeros(U)
    for i in range(len(edges)):
        producers[edges[i, 1]] += 1.0
        readers[edges[i, 0]] += 1.0
    for i in range(len(edges)):
        u, v = edges[i, 0], edges[i, 1]
        pair[v, place[u], 3] += 1.0 / producers[v]
        pair[u, place[v], 4] += 1.0 / readers[u]
    for v in range(U):
        k = place[v]
        least = np.inf
        for c in range(C):
            least = min(least, time[v, c])
        unit[v, 0] = load[k]
        unit[v, 1] = 1.0 if load[k] >= 1.0 else 0.0
        unit[v, 2] = rest[0]
        unit[v, 3] = min(10.0 * time[v, k] / top, 4.0)
        unit[v, 4] = 1.0 - pair[v, k, 3] if producers[v] > 0 else 0.0
        unit[v, 5] = 1.0 - pair[v, k, 4] if readers[v] > 0 else 0.0
        unit[v, 6] = k / max(1, C - 1) if chain else 0.0
        unit[v, 7] = rest[1]
        unit[v, 8] = rest[2]
        for c in range(C):
            seconds = time[v, c]
            pair[v, c, 0] = 1.0 if c == k else 0.0
            if chain:
                pair[v, c, 1] = 1.0 if c == k + 1 else 0.0
                pair[v, c, 2] = 1.0 if c == k - 1 else 0.0
            pair[v, c, 5] = load[c]
            with_it = use[c] + (0.0 if c == k else held[v])
            pair[v, c, 7] = min(with_it / max(room[c], 1.0), 2.0)
            if seconds < np.inf:
                pair[v, c, 6] = min(load[c] + (0.0 if c == k else seconds / top), 2.0)
                pair[v, c, 8] = min(np.log((seconds + 1e-3 * top) / (least + 1e-3 * top)), 4.0)
    return unit, pair
