"""Valid partitions into runs of consecutive nodes of one order: what is left when a search fails.

Runs of a topological order keep C1 and C2. If every edge stays in its run or goes to the next one,
they keep C3, and then a run that begins at cut i may not end before the last reader of what lies
before i. So cuts i -> j are those with ``reach[i] <= j <= fit[i]``, and both grow with i.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.repair.orders import orders
from solvers.repair.problem import Problem
from solvers.repair.valid import is_valid


def any_valid(problem: Problem) -> np.ndarray | None:
    """A valid partition, int64 array of shape (n,): all on chip 0, or runs of some order.

    None where these are not valid, which does not mean that there is none.
    """
    chip: np.ndarray = np.zeros(len(problem.bytes), np.int64)
    if is_valid(problem, chip):
        return chip
    for order in orders(problem):
        chip = some_runs(problem, order, reach(problem, order))
        if len(chip) and is_valid(problem, chip):
            return chip
    return None


@njit(cache=True)
def reach(p, order):  # type: ignore[no-untyped-def]
    """End of the shortest run that may follow a cut, int64 array of shape (n + 1,).

    ``reach[i]`` is the number of nodes up to the last reader of the first i nodes, i at least.
    """
    n = len(order)
    position, result = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    for i in range(n):
        position[order[i]] = i
    for i in range(n):
        v = order[i]
        furthest = max(result[i], i + 1)
        for j in range(p.succ_ptr[v], p.succ_ptr[v + 1]):
            furthest = max(furthest, position[p.succ[j]] + 1)
        result[i + 1] = furthest
    return result


@njit(cache=True)
def fit(p, order, capacity):  # type: ignore[no-untyped-def]
    """End of the longest run from each cut that holds `capacity` bytes, shape (n + 1,)."""
    n = len(order)
    result, end, use = np.full(n + 1, n, np.int64), 0, 0
    readers = np.zeros(len(p.shared_bytes), np.int64)
    for i in range(n):
        while end < n:
            v = order[end]
            more = p.bytes[v]
            for j in range(p.weight_ptr[v], p.weight_ptr[v + 1]):
                if readers[p.weight[j]] == 0:
                    more += p.shared_bytes[p.weight[j]]
            if use + more > capacity:
                break
            use += more
            for j in range(p.weight_ptr[v], p.weight_ptr[v + 1]):
                readers[p.weight[j]] += 1
            end += 1
        result[i] = end
        v = order[i]
        if end == i:
            end = i + 1  # not even one node
            continue
        use -= p.bytes[v]
        for j in range(p.weight_ptr[v], p.weight_ptr[v + 1]):
            readers[p.weight[j]] -= 1
            if readers[p.weight[j]] == 0:
                use -= p.shared_bytes[p.weight[j]]
    return result


@njit(cache=True)
def some_runs(p, order, reaches):  # type: ignore[no-untyped-def]
    """Fewest runs that fit, as chips of shape (n,); of shape (0,) where no cuts of the order do."""
    n, C = len(order), p.chips
    begin = np.full((C + 1, n + 1), -1, np.int64)
    begin[0, 0] = 0
    for c in range(C):
        ends = fit(p, order, p.capacity[c])
        i, last = 0, -1
        for j in range(1, n + 1):
            while i < j and reaches[i] <= j:
                if begin[c, i] >= 0:
                    last = i
                i += 1
            if last >= 0 and ends[last] >= j:
                begin[c + 1, j] = last
        if begin[c + 1, n] >= 0:
            chip, end = np.empty(n, np.int64), n
            for k in range(c, -1, -1):
                first = begin[k + 1, end]
                for i in range(first, end):
                    chip[order[i]] = k
                end = first
            return chip
    return np.empty(0, np.int64)
