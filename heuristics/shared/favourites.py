"""Favourite children: which consumer, if any, an operator shares its device with.

Small communication times (Hanen and Munier 1995): on unlimited many devices each operator may
pass its output without delay to one consumer, and each consumer take one input so. Choosing these
pairs for the least makespan is an integer program; its relaxation is rounded at 1/2, which leaves
every operator in at most one pair on either side.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from heuristics.shared.space import Space

# Transfers above which pairs are matched greedily instead.
LIMIT = 20_000
SOLVER = "scipy.optimize"
# Seconds that its import takes on a busy machine: longer than most schedules to make.
IMPORT = 1.0


def favourite_children(
    space: Space, seconds: np.ndarray, between: np.ndarray, rank: np.ndarray, time_left: float
) -> np.ndarray:
    """Favourite child of every node, -1 without one, int64 array of shape (n,).

    By the linear program up to :data:`LIMIT` transfers that take time. Beyond that, or where time
    runs out, by a matching: pairs by falling transfer plus rank of the consumer, each node once on
    either side.

    Parameters
    ----------
    seconds, between : float64 arrays, shape (n,)
        Of every operator, and of its output on its way.
    rank : float64 array, shape (n,)
        Upward ranks.
    time_left : float
        Seconds that the program may take, with the import of its solver and the making of it.
    """
    until = time.monotonic() + time_left
    n = len(seconds)
    u = np.repeat(np.arange(n), np.diff(space.succ_ptr))
    v = space.succ
    apart = (space.unit[u] != space.unit[v]) & (between[u] > 0)
    least = 0.0 if SOLVER in sys.modules else IMPORT
    if apart.sum() <= LIMIT and time_left > least:
        delayed = _relaxation(seconds, between, u, v, np.flatnonzero(apart), until)
        if delayed is not None:
            child = np.full(n, -1, np.int64)
            kept = np.flatnonzero(apart)[delayed < 0.5]
            child[u[kept]] = v[kept]
            return child
    pairs = np.flatnonzero(apart)
    pairs = pairs[np.argsort(-(between[u] + rank[v])[pairs], kind="stable")]
    matched: np.ndarray = _match(n, u[pairs], v[pairs].astype(np.int64))
    return matched


def _relaxation(
    seconds: np.ndarray,
    between: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    apart: np.ndarray,
    until: float,
) -> np.ndarray | None:
    """Share of its delay that each transfer `apart` keeps, 0 for a favourite; None without one."""
    from scipy.optimize import linprog  # see IMPORT

    n, m, T = len(seconds), len(u), len(apart)
    if T == 0:
        return np.zeros(0)
    scale = seconds.max() + between.max()
    # Columns: delays, starts, makespan. Rows: edges, ends, one favourite child, one parent.
    edge, node, one = np.arange(m), np.arange(n), np.ones(T)
    rows = [edge, edge, np.searchsorted(edge, apart), m + node, m + node]
    columns = [T + u, T + v, np.arange(T), T + node, np.full(n, T + n)]
    values = [np.ones(m), -np.ones(m), between[u[apart]] / scale, np.ones(n), -np.ones(n)]
    limits = [-seconds[u] / scale, -seconds / scale]
    first = m + n
    for end in (u[apart], v[apart]):
        found, row, count = np.unique(end, return_inverse=True, return_counts=True)
        rows.append(first + row)
        columns.append(np.arange(T))
        values.append(-one)
        limits.append(1.0 - count)
        first += len(found)
    matrix = csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(first, T + n + 1),
    )
    goal = np.zeros(T + n + 1)
    goal[-1] = 1.0
    bounds = np.full((T + n + 1, 2), [0.0, np.inf])
    bounds[:T, 1] = 1.0
    left = until - time.monotonic()
    if left <= 0:
        return None
    result = linprog(  # type: ignore[call-overload] # sparse matrices are missing there
        goal, A_ub=matrix, b_ub=np.concatenate(limits), bounds=bounds, method="highs",
        options={"time_limit": min(left, 1e6)},
    )  # fmt: skip
    return None if result.status != 0 else result.x[:T]


@njit(cache=True)
def _match(n, u, v):  # type: ignore[no-untyped-def]
    child, taken = np.full(n, -1, np.int64), np.zeros(n, np.bool_)
    for i in range(len(u)):
        if child[u[i]] < 0 and not taken[v[i]]:
            child[u[i]] = v[i]
            taken[v[i]] = True
    return child
