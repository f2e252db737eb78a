"""What is summed up once: by ideal, and by item and all after it."""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.ideals._bits import holds, state


@njit(cache=True)
def sums(  # type: ignore[no-untyped-def]
    start, end, done, cuts, remaining, least, bits, ptr, item, target, member, producer, into, out,
    receive, send, on_ptr, on,
):  # fmt: skip
    """Fill in cuts, shape (I, C, R), and remaining, shape (I, L), by steps from smaller ideals.

    The transfers of the nets cut at an ideal, where its members would be charged, and the least
    load of what it lacks.
    """
    C = cuts.shape[1]
    for i in range(start, end):
        for s in range(ptr[i], ptr[i + 1]):
            j, v = target[s], item[s]
            if done[j]:
                continue
            done[j] = True
            cuts[j] = cuts[i]
            for x in range(len(least)):
                remaining[j, x] = remaining[i, x] - least[x, v]
            for x in range(on_ptr[v], on_ptr[v + 1]):
                e = on[x]
                inside, _ = state(bits[i], member, e)
                _, outside = state(bits[j], member, e)
                was = producer[e] >= 0 and holds(bits[i], producer[e])
                now = producer[e] >= 0 and holds(bits[j], producer[e])
                for c in range(C):
                    if inside:  # it was cut: v was missing
                        if was:
                            cuts[j, c, out[e]] -= send[c, e]
                        else:
                            cuts[j, c, into[e]] -= receive[c, e]
                    if outside:
                        if now:
                            cuts[j, c, out[e]] += send[c, e]
                        else:
                            cuts[j, c, into[e]] += receive[c, e]


@njit(cache=True)
def closure(least, succ_ptr, succ):  # type: ignore[no-untyped-def]
    """Least load of every item and all items after it, shape (L, N)."""
    L, N = least.shape
    result = np.zeros((L, N))
    mark = np.full(N, -1, np.int64)
    stack = np.zeros(N, np.int64)
    for v in range(N):
        depth, stack[0], mark[v] = 1, v, v
        while depth > 0:
            depth -= 1
            u = stack[depth]
            for j in range(L):
                result[j, v] += least[j, u]
            for x in range(succ_ptr[u], succ_ptr[u + 1]):
                if mark[succ[x]] != v:
                    mark[succ[x]] = v
                    stack[depth] = succ[x]
                    depth += 1
    return result
