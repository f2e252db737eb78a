"""Calls along a chain of nodes: the cheapest cut of a longest path into calls and host nodes.

Let c_0, ..., c_{m-1} be nodes each of which depends on the one before, directly or through others,
and take any answer. A call is convex, so what it holds of the chain is a run c_i, ..., c_{j-1}. Of
two such runs, or nodes on hosts, one after the other, the later one starts after the earlier one
has finished: a path leads from one to the other and enters the later call from outside. So the
latency is at least the sum of their durations. A call lasts at least the compute of its run, plus
each payload of the chain that the run reads from outside of it, and each that another node of the
chain reads from it: all are parts of in, comp and out. A node on a host takes at least its time on
the fastest one. An accelerator makes at most so many calls as it has slots, and holds at least the
run's bytes. Hence the least sum over all ways to cut the chain under these limits is a bound.

For the weights that several nodes read, see :func:`problems.bounds.chain_costs.cases`: one of the
cases holds for the answer, so that the least of their bounds is one. The limits of memory are
relaxed: for any multipliers, none negative, the least sum of durations plus the price of bytes,
less the price of the limits, is no more than any sum within the limits. A dynamic program over the
chain and the calls left finds it, cutting planes the multipliers. Own derivation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.optimize import linprog

from problems.bounds.chain_costs import PIECE, Case, Chain, cases, chain_of
from problems.bounds.registry import bound, slack
from problems.instance import Instance

LARGEST = 1_000
"""Nodes of a chain at most; of a longer one those that take longest on the hosts."""
STEPS, WORK = (8, 60), 200_000_000
"""Steps of the multipliers, at least and at most, and what they may look at in all."""
ENOUGH = 1e-5
"""How near, relatively, the bound comes to the best one of its kind."""


class Relaxed(NamedTuple):
    """What the multipliers found in one case.

    Attributes
    ----------
    bound : float
        Seconds; inf where the case has no answer.
    multiplier : float64 array, shape (A,)
        Seconds a byte.
    value : float64 array, shape (m + 1, S)
        Least seconds, bytes priced, from every place of the chain with so many calls left.
    best : float
        Least seconds of a cut within the limits; inf without one.
    cut : list of (int, int, int)
        That cut: accelerator or -1, first node, node behind the last.
    """

    bound: float
    multiplier: np.ndarray
    value: np.ndarray
    best: float
    cut: list[tuple[int, int, int]]


@bound("chain", problems=["calls"], rules=("slots", "memory", "colocate_tied"))
def chain(instance: Instance) -> tuple[float, str]:
    """The largest bound of two heaviest paths, in seconds."""
    hosts = instance.time[:, instance.host]
    fastest = instance.time.min(axis=1)
    slow = hosts.min(axis=1) if hosts.shape[1] else fastest
    slow = np.where(np.isfinite(slow), slow, fastest)
    paths = {
        path.tobytes(): path for path in (_heaviest(instance, slow), _heaviest(instance, fastest))
    }
    found = [_bound(instance, _shortened(path, slow)) for path in paths.values()]
    return max(found)


def _bound(instance: Instance, path: np.ndarray) -> tuple[float, str]:
    line = chain_of(instance, path)
    value = min((relax(line, case).bound for case in cases(line)[0]), default=math.inf)
    if not math.isfinite(value):
        return 0.0, "no answer at all"
    return value, f"chain of {len(path)} nodes"


def relax(line: Chain, case: Case) -> Relaxed:
    """Find multipliers of memory by cutting planes, as far as :data:`WORK` allows."""
    found = relax_in_time(line, case, lambda: False)
    assert found is not None
    return found


def relax_in_time(line: Chain, case: Case, done: Callable[[], bool]) -> Relaxed | None:
    """The same, or None where `done`, asked every some milliseconds, says so before the end.

    Each cut of the chain that the dynamic program finds gives a plane that no bound is above; the
    next multipliers are those at which the planes found so far allow most.
    """
    m, (A, S) = line.m, line.before.shape
    work = S * int(np.maximum(case.end - np.arange(m), 0).sum() + m)
    steps = int(min(max(WORK // max(work, 1), STEPS[0]), STEPS[1]))
    priced = np.isfinite(case.limit)
    limit = np.where(priced, case.limit, 0.0)
    scale = np.maximum(limit, 1.0)
    multiplier, kept = np.zeros(A), np.zeros(A)
    value, choice = np.zeros((m + 1, S)), np.zeros((m, S), np.int64)
    bound, best = -math.inf, math.inf
    cut: list[tuple[int, int, int]] = []
    planes: list[np.ndarray] = []
    for _ in range(steps):
        if not _fill(line, case, multiplier, value, choice, done):
            return None
        found = float(value[0, -1] - multiplier @ limit)
        if found == math.inf:
            return Relaxed(math.inf, multiplier, value, math.inf, [])
        found -= slack(float(value[0, -1] + multiplier @ limit), 8 * m + 8)
        runs = trace(line, choice)
        use, seconds = np.zeros(A), 0.0
        for a, i, j in runs:
            seconds += line.cost[a, i, j] if a >= 0 else line.alone[i]
            if a >= 0:
                use[a] += case.total[j] - case.total[i]
        if (use <= case.limit).all() and seconds < best:
            best, cut = seconds, runs
        if found > bound:
            bound, kept = found, multiplier
        excess = np.where(priced, use - limit, 0.0) / scale
        if not excess.any() or seconds <= 0.0:
            break
        planes.append(np.concatenate([[1.0], -excess, [seconds]]))
        most, point = _highest(np.array(planes), float(line.alone[np.isfinite(line.alone)].sum()))
        if most <= bound * (1 + ENOUGH):
            break
        multiplier = point / scale
    if not _fill(line, case, kept, value, choice, done):
        return None
    return Relaxed(bound, kept, value, best, cut)


def _fill(
    line: Chain,
    case: Case,
    multiplier: np.ndarray,
    value: np.ndarray,
    choice: np.ndarray,
    done: Callable[[], bool],
) -> bool:
    """Fill the tables of :func:`table`; whether that came to its end."""
    m, (A, S) = line.m, line.before.shape
    rows = max(1, PIECE // max(A * S * m, 1))
    for until in range(m, 0, -rows):
        if done():
            return False
        table(
            line.cost, case.end, line.alone, case.total, multiplier, line.before, value, choice,
            max(until - rows, 0), until,
        )  # fmt: skip
    return True


def _highest(planes: np.ndarray, reach: float) -> tuple[float, np.ndarray]:
    """Where the least of some planes is largest, within a box; the value and the place, (A,)."""
    unit = planes[:, -1].max()
    A = planes.shape[1] - 2
    found = linprog(
        [-1.0] + [0.0] * A, planes[:, :-1], planes[:, -1] / unit,
        bounds=[(None, None)] + [(0.0, 10.0 + reach / unit)] * A, method="highs",
    )  # fmt: skip
    if found.x is None:
        return math.inf, np.zeros(A)
    return float(found.x[0] * unit), np.maximum(found.x[1:], 0.0) * unit


def trace(line: Chain, choice: np.ndarray) -> list[tuple[int, int, int]]:
    """The cut that a table of choices stands for; see :attr:`Relaxed.cut`."""
    runs, i, s = [], 0, line.before.shape[1] - 1
    while i < line.m:
        a, j = divmod(int(choice[i, s]), line.m + 1)
        runs.append((a - 1, i, j))
        if a > 0:
            s = int(line.before[a - 1, s])
        i = j
    return runs


def _heaviest(instance: Instance, weight: np.ndarray) -> np.ndarray:
    """A path of the largest sum of weights, none of them negative, shape (m,)."""
    length, before = _lengths(np.array(weight), instance.pred_ptr, instance.pred)
    path = [int(length.argmax())]
    while before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    return np.array(path[::-1])


def _shortened(path: np.ndarray, weight: np.ndarray) -> np.ndarray:
    most = np.argsort(-weight[path], kind="stable")[:LARGEST]
    return path[np.sort(most)]


@njit(cache=True)
def _lengths(weight, pred_ptr, pred):  # type: ignore[no-untyped-def]
    """Heaviest path to each node, its own weight included, and the node before on it."""
    n = weight.shape[0]
    length, before = weight.copy(), np.full(n, -1, np.int64)
    for v in range(n):
        for e in range(pred_ptr[v], pred_ptr[v + 1]):
            u = pred[e]
            # At equal weights the path with more nodes: some of them weigh nothing.
            if before[v] < 0 or length[u] > length[before[v]]:
                before[v] = u
        if before[v] >= 0:
            length[v] += length[before[v]]
    return length, before


@njit(cache=True)
def table(  # type: ignore[no-untyped-def]
    cost, end, alone, total, multiplier, before, value, choice, first, until
):
    """Fill `value`, shape (m + 1, S), and `choice`, shape (m, S), from `until` - 1 down to `first`.

    A choice is (accelerator + 1, 0 for a host) times (m + 1), plus the place behind its last node.
    """
    A, S = before.shape
    m = alone.shape[0]
    if until == m:
        for s in range(S):
            value[m, s] = 0.0
    for i in range(until - 1, first - 1, -1):
        for s in range(S):
            value[i, s] = alone[i] + value[i + 1, s]
            choice[i, s] = i + 1
        for a in range(A):
            for j in range(i + 1, end[a, i] + 1):
                seconds = cost[a, i, j] + multiplier[a] * (total[j] - total[i])
                for s in range(S):
                    p = before[a, s]
                    if p >= 0 and seconds + value[j, p] < value[i, s]:
                        value[i, s] = seconds + value[j, p]
                        choice[i, s] = (a + 1) * (m + 1) + j
