"""Topological orders of the nodes, as lines to cut, with readers near what they read."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np
from numba import njit

from solvers.repair.problem import Problem


def orders(problem: Problem) -> Iterator[np.ndarray]:
    """Topological orders, int64 arrays of shape (n,), the most promising ones first.

    By node number, by the number of edges before a node, by that after it, by both, and depth
    first.
    """
    n = len(problem.bytes)
    before = _before(problem.pred_ptr, problem.pred)
    after = _after(problem.succ_ptr, problem.succ)
    number = np.arange(n, dtype=float)
    yield topological(problem.succ_ptr, problem.succ, number)
    for key in (-after, before, before - after):
        # Among equals the earliest producer first, so that readers stay near.
        yield topological(problem.succ_ptr, problem.succ, key * float(n) + number)
    yield _depth_first(problem.succ_ptr, problem.succ)


@njit(cache=True)
def topological(ptr, after, key):  # type: ignore[no-untyped-def]
    """Order nodes so that v comes before ``after[ptr[v]:ptr[v + 1]]``, small keys first."""
    n = len(ptr) - 1
    missing = np.zeros(n, np.int64)
    for i in range(len(after)):
        missing[after[i]] += 1
    ready = [(key[v], v) for v in range(n) if missing[v] == 0]
    heapq.heapify(ready)
    order, filled = np.empty(n, np.int64), 0
    while len(ready) > 0:
        _, v = heapq.heappop(ready)
        order[filled] = v
        filled += 1
        for i in range(ptr[v], ptr[v + 1]):
            missing[after[i]] -= 1
            if missing[after[i]] == 0:
                heapq.heappush(ready, (key[after[i]], after[i]))
    return order


@njit(cache=True)
def _depth_first(ptr, after):  # type: ignore[no-untyped-def]
    n = len(ptr) - 1
    missing, stack, top = np.zeros(n, np.int64), np.empty(n, np.int64), 0
    for i in range(len(after)):
        missing[after[i]] += 1
    for v in range(n - 1, -1, -1):
        if missing[v] == 0:
            stack[top] = v
            top += 1
    order = np.empty(n, np.int64)
    for filled in range(n):
        top -= 1
        v = stack[top]
        order[filled] = v
        for i in range(ptr[v + 1] - 1, ptr[v] - 1, -1):
            missing[after[i]] -= 1
            if missing[after[i]] == 0:
                stack[top] = after[i]
                top += 1
    return order


@njit(cache=True)
def _before(pred_ptr, pred):  # type: ignore[no-untyped-def]
    depth = np.zeros(len(pred_ptr) - 1)
    for v in range(len(depth)):
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            depth[v] = max(depth[v], depth[pred[i]] + 1)
    return depth


@njit(cache=True)
def _after(succ_ptr, succ):  # type: ignore[no-untyped-def]
    depth = np.zeros(len(succ_ptr) - 1)
    for v in range(len(depth) - 1, -1, -1):
        for i in range(succ_ptr[v], succ_ptr[v + 1]):
            depth[v] = max(depth[v], depth[succ[i]] + 1)
    return depth
