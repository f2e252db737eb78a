"""Number of ideals (down-sets) of an order: the states of a dynamic program over them.

The order is the one that such a program has to respect (Tarnawski et al. 2020, arXiv 2006.16423):
colocation groups as items, related by what ``contiguous`` orders
(:func:`problems.throughput.order_edges`); groups on a cycle go together.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

MOST = 1_000_000
_WIDE = 20  # 2**20 > MOST: so many incomparable items settle it


def ideals(pairs: np.ndarray, group: np.ndarray, most: int = MOST) -> int | None:
    """Count the ideals, the empty and the whole one included; None beyond `most`.

    Parameters
    ----------
    pairs : int64 array, shape (., 2)
        Pairs (u, v) of nodes: v's group is in no ideal without u's.
    group : int64 array, shape (n,)
        Colocation group of every node, 0..G-1.
    most : int
        At most :data:`MOST`.
    """
    size = int(group.max()) + 1
    between = group[pairs]
    matrix = csr_array((np.ones(len(pairs)), (between[:, 0], between[:, 1])), (size, size))
    count, item = connected_components(matrix, connection="strong")
    between = item[between].astype(np.int64)
    between = np.unique(between[between[:, 0] != between[:, 1]], axis=0)
    missing = np.bincount(between[:, 1], minlength=count)
    pointer = np.searchsorted(between[:, 0], np.arange(count + 1))
    found = _count(pointer, np.ascontiguousarray(between[:, 1]), missing, most)
    return None if found < 0 else int(found)


@njit(cache=True)
def _count(succ_ptr, succ, missing, most):  # type: ignore[no-untyped-def]
    """Visit every ideal once: -1 beyond `most`.

    A level of the stack holds the items that may be added next; taking one leaves those after it
    and adds what it sets free, so that those before it stay out for good.
    """
    n = len(missing)
    width = _WIDE + 1
    ready = np.empty((n + 1, width), np.int64)
    size, cursor = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    taken = np.empty(n + 1, np.int64)
    for v in range(n):
        if missing[v] == 0:
            if size[0] == width:
                return -1
            ready[0, size[0]] = v
            size[0] += 1
    found, depth = 1, 0
    while depth >= 0:
        if cursor[depth] == size[depth]:
            if depth > 0:
                v = taken[depth]
                for i in range(succ_ptr[v], succ_ptr[v + 1]):
                    missing[succ[i]] += 1
            depth -= 1
            continue
        v = ready[depth, cursor[depth]]
        cursor[depth] += 1
        found += 1
        if found > most:
            return -1
        below = depth + 1
        taken[below] = v
        cursor[below] = 0
        size[below] = 0
        for i in range(cursor[depth], size[depth]):
            ready[below, size[below]] = ready[depth, i]
            size[below] += 1
        for i in range(succ_ptr[v], succ_ptr[v + 1]):
            missing[succ[i]] -= 1
        for i in range(succ_ptr[v], succ_ptr[v + 1]):
            if missing[succ[i]] == 0:
                if size[below] == width:
                    return -1
                ready[below, size[below]] = succ[i]
                size[below] += 1
        depth = below
    return found
