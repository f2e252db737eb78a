"""The way back through the values, by the definition of a load."""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.ideals._bits import combine, holds, state


@njit(cache=True)
def block_loads(  # type: ignore[no-untyped-def]
    block, c, load, work, supported, member, producer, into, out, receive, send, held, limit,
    share_ptr, share, shared_bytes, overlap, Q,
):  # fmt: skip
    """Fill in the loads of a set of items on class c, by phase; False if it cannot be there."""
    N, P, _ = work.shape
    spent, charged, size = np.zeros(P), np.zeros(P * Q), 0.0
    shares = np.zeros(len(shared_bytes), np.bool_)
    for v in range(N):
        if holds(block, v):
            if not supported[v, c]:
                return False
            size += held[v]
            for p in range(P):
                spent[p] += work[v, p, c]
            for x in range(share_ptr[v], share_ptr[v + 1]):
                if not shares[share[x]]:
                    size += shared_bytes[share[x]]
                    shares[share[x]] = True
    for e in range(len(out)):
        inside, outside = state(block, member, e)
        if inside and outside:
            if producer[e] >= 0 and holds(block, producer[e]):
                charged[out[e]] += send[c, e]
            else:
                charged[into[e]] += receive[c, e]
    for p in range(P):
        gave = charged[p * Q + 1] if Q == 2 else 0.0
        load[p] = combine(spent[p], charged[p * Q], gave, overlap)
    return size <= limit[c]


@njit(cache=True)
def back(  # type: ignore[no-untyped-def]
    top, vector, most, cap, value, used, bits, work, supported, stride, member, producer, into,
    out, receive, send, held, limit, share_ptr, share, shared_bytes, overlap, Q,
):  # fmt: skip
    """The ideal and class before state (top, vector) with the least value; (-1, -1) without."""
    _, P, C = work.shape
    W = bits.shape[1]
    block, load = np.zeros(W, np.uint64), np.zeros(P)
    best, best_c, best_value = -1, -1, np.inf
    for j in range(top):
        wanted = False
        for c in range(C):
            if used[vector, c] > 0 and value[j, vector - stride[c]] <= most:
                wanted = True
        if not wanted:
            continue
        for w in range(W):
            block[w] = bits[top, w] & ~bits[j, w]
            if bits[j, w] & ~bits[top, w]:
                wanted = False
                break
        if not wanted:
            continue
        for c in range(C):
            if used[vector, c] == 0 or value[j, vector - stride[c]] > most:
                continue
            if not block_loads(
                block, c, load, work, supported, member, producer, into, out, receive, send, held,
                limit, share_ptr, share, shared_bytes, overlap, Q,
            ):  # fmt: skip
                continue
            fits = True
            for p in range(P):
                fits &= load[p] <= cap[p]
            worst = max(value[j, vector - stride[c]], load[P - 1])
            if fits and worst <= most and worst < best_value:
                best, best_c, best_value = j, c, worst
    return best, best_c
