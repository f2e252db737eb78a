"""Whether a partition keeps C1 to C4: the compiled definition that `repair` answers to."""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.repair.quotient import closure


@njit(cache=True)
def is_valid(p, chip):  # type: ignore[no-untyped-def]
    """Whether chips of shape (n,), each 0..C-1, are forward, gapless, without detour and fit."""
    n, C = len(p.bytes), p.chips
    feeds, used = np.zeros(C, np.int64), np.zeros(C, np.int64)
    use, last = np.zeros(C, np.int64), 0
    holds = np.zeros((len(p.shared_bytes), C), np.bool_)
    for v in range(n):
        c = chip[v]
        if c < 0 or c >= C:
            return False
        used[c] = 1
        last = max(last, c)
        use[c] += p.bytes[v]
        for i in range(p.weight_ptr[v], p.weight_ptr[v + 1]):
            w = p.weight[i]
            if not holds[w, c]:
                holds[w, c] = True
                use[c] += p.shared_bytes[w]
        for i in range(p.succ_ptr[v], p.succ_ptr[v + 1]):
            to = chip[p.succ[i]]
            if to < c:
                return False
            if to > c and to < C:
                feeds[c] |= 1 << to
    for c in range(C):
        if use[c] > p.capacity[c] or (c <= last and used[c] == 0):
            return False
    return closure(feeds, np.zeros(C, np.int64), np.zeros(C, np.int64))


@njit(cache=True)
def steps(p, chip):  # type: ignore[no-untyped-def]
    """Whether every edge stays on its chip or goes to the next one."""
    for v in range(len(chip)):
        for i in range(p.succ_ptr[v], p.succ_ptr[v + 1]):
            if not 0 <= chip[p.succ[i]] - chip[v] <= 1:
                return False
    return True
