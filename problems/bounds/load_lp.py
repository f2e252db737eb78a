"""Both problems: the largest load when groups may be split between devices (the load LP).

    minimise  sum over phases f of L_f
    sum_g p_fk(g) x_gk <= L_f                                   every phase f and limited device k
    sum_g m(g) x_gk + sum_i b_i y_ik <= M_k                     every device with a memory limit
    x_gk <= y_ik                                                every group g that reads weight i
    sum_k x_gk = 1,  sum_k y_ik >= 1,  x >= 0,  0 <= y <= 1

(one phase unless `split_phases`; unlimited devices have no load row). It holds for mixtures, too:
x_gk is then the share of samples for which g is on k, and y_ik at least the largest of those of the
readers, which the device holds where any mapping in use puts one there. What is claimed is not what
the LP solver says: from its dual multipliers, clipped and scaled, the Lagrangian is computed anew,

    sum_g min_k [ sum_f lambda_fk p_fk(g) + mu_k m(g) + sum_i pi_igk ]
    + sum_i min over y_i of sum_k (mu_k b_i - sum_g pi_igk) y_ik  -  sum_k mu_k M_k

which is a valid bound for any lambda >= 0 with sum_k lambda_fk = 1 and any mu, pi >= 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from problems.bounds.allowed import Groups, groups_of
from problems.bounds.node_bound import RULES as THROUGHPUT_RULES
from problems.bounds.registry import bound, slack
from problems.instance import Instance
from problems.rules import ThroughputRules

# Groups x unlike devices: beyond so many the LP takes more than a few seconds (12,000: 2 s;
# 40,000: 10 to 30 s). The closed form, its fallback, needs 1 s for 100,000 groups on 64 devices.
LARGEST_LP = 20_000


def _refuses(instance: Instance) -> str | None:
    return "every device is unlimited" if instance.unlimited.all() else None


@bound(
    "load-lp",
    problems=["throughput", "latency"],
    rules=[*THROUGHPUT_RULES, "contention", "replicate"],
    refuses=_refuses,
)
def load_lp(instance: Instance) -> tuple[float, str]:
    """Lagrangian of the load LP at its dual multipliers, in seconds."""
    groups = groups_of(instance)
    split = isinstance(instance.rules, ThroughputRules) and instance.rules.split_phases
    time = groups.time if split else groups.time.sum(axis=0, keepdims=True)
    value, _, note = best_multipliers(instance, groups, time)
    return value, note


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Dual multipliers.

    Attributes
    ----------
    load : float64 array, shape (P, K)
        lambda: one row a phase, each summing to 1, 0 for unlimited devices.
    memory : float64 array, shape (K,)
        mu, seconds a byte; 0 for devices without a limit.
    reader : list of float64 arrays, shape (readers of weight i, K)
        pi, one array for each of ``Groups.shared``.
    """

    load: np.ndarray
    memory: np.ndarray
    reader: list[np.ndarray]


def best_multipliers(
    instance: Instance, groups: Groups, time: np.ndarray
) -> tuple[float, Multipliers, str]:
    """The largest bound that is known how to prove, its multipliers, and which they are.

    Parameters
    ----------
    time : float64 array, shape (P, G, K)
        Seconds of each group by phase; inf where a group cannot go.
    """
    best = closed_form(instance, groups, time)
    value, note = lagrangian(instance, groups, time, best), "closed-form multipliers"
    if len(groups.bytes) * len(_columns(instance, groups, time)[0]) <= LARGEST_LP:
        solved = _multipliers(instance, groups, time)
        better = -math.inf if solved is None else lagrangian(instance, groups, time, solved)
        if solved is not None and better > value:
            best, value, note = solved, better, "Lagrangian at the LP's dual multipliers"
    return value, best, note


def closed_form(instance: Instance, groups: Groups, time: np.ndarray) -> Multipliers:
    """Load multipliers by speed, no memory: the LP's own when devices differ by a factor only."""
    limited = ~instance.unlimited
    load = np.zeros((len(time), instance.K))
    for row, each in zip(load, time, strict=True):
        fastest = each.min(axis=1, keepdims=True)
        mine = np.where(groups.allowed, each, 0.0).sum(axis=0)
        best = np.where(groups.allowed, fastest, 0.0).sum(axis=0)
        speed = np.where(mine > 0, best / np.where(mine > 0, mine, 1.0), 1.0)
        # A device that no group can use needs no share of the multipliers.
        speed = np.where(limited & groups.allowed.any(axis=0), speed, 0.0)
        row[:] = speed / speed.sum() if speed.sum() > 0 else limited / limited.sum()
    return Multipliers(
        load, np.zeros(instance.K), [np.zeros((len(r), instance.K)) for _, r in groups.shared]
    )


def lagrangian(
    instance: Instance, groups: Groups, time: np.ndarray, multipliers: Multipliers
) -> float:
    """The bound that `multipliers` prove, in seconds, rounded down.

    Parameters
    ----------
    time : float64 array, shape (P, G, K)
        Seconds of each group by phase; inf where a group cannot go.
    """
    finite = np.where(groups.allowed, time, 0.0)
    cost = np.einsum("fk,fgk->gk", multipliers.load, finite)
    cost += multipliers.memory * groups.bytes[:, None]
    terms: list[float] = []
    cancelled = 0.0
    for (size, readers), pi in zip(groups.shared, multipliers.reader, strict=True):
        cost[readers] += pi
        holding = multipliers.memory * size - pi.sum(axis=0)
        negative = holding[holding < 0]
        terms += negative.tolist() if len(negative) else [float(holding.min())]
        # Rounding of these differences is relative to what they are made of.
        cancelled += float(multipliers.memory.sum() * size + pi.sum())
    terms += np.where(groups.allowed, cost, np.inf).min(axis=1).tolist()
    has_limit = np.isfinite(instance.memory)
    terms += (-multipliers.memory[has_limit] * instance.memory[has_limit]).tolist()
    magnitude = math.fsum(map(abs, terms)) + cancelled
    # Each term has a few roundings (fsum adds none); an objective has one an addition.
    few = 4 + instance.K + max((len(r) for _, r in groups.shared), default=0) + len(groups.shared)
    longest = int(np.bincount(instance.group).max())
    value = math.fsum(terms)
    return value - slack(magnitude, few + longest) - slack(abs(value), instance.n)


def _multipliers(instance: Instance, groups: Groups, time: np.ndarray) -> Multipliers | None:
    """Solve the LP in units that make it well scaled; None where the solver does not finish.

    Devices of equal times, memory and kind are one column, that many times as large: any solution
    may be spread evenly over them, and their multipliers are equal.
    """
    one, number, count = _columns(instance, groups, time)
    each = _solve(
        time[:, :, one],
        groups.allowed[:, one],
        groups,
        np.where(np.isfinite(instance.memory[one]), instance.memory[one] * count, np.inf),
        np.where(instance.unlimited[one], 0, count),
    )
    if each is None:
        return None
    load = each.load[:, number]
    return Multipliers(
        load / load.sum(axis=1, keepdims=True),
        each.memory[number],
        [pi[:, number] for pi in each.reader],
    )


def _columns(
    instance: Instance, groups: Groups, time: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First device of each column, column of each device and number of devices of each column."""
    index: dict[tuple[object, ...], int] = {}
    number = np.array(
        [
            index.setdefault(
                (
                    time[:, :, k].tobytes(),
                    groups.allowed[:, k].tobytes(),
                    float(instance.memory[k]),
                    bool(instance.unlimited[k]),
                ),
                len(index),
            )
            for k in range(instance.K)
        ]
    )
    return np.unique(number, return_index=True)[1], number, np.bincount(number)


def _solve(
    time: np.ndarray,
    allowed: np.ndarray,
    groups: Groups,
    limit: np.ndarray,
    copies: np.ndarray,
) -> Multipliers | None:
    """Dual multipliers of the LP over C columns; those of the loads are not normalised yet.

    Parameters
    ----------
    time, allowed : arrays, shapes (P, G, C), (G, C)
    limit : float64 array, shape (C,)
        Memory of all devices of a column together, bytes.
    copies : int64 array, shape (C,)
        Devices of a column; 0 where they are unlimited.
    """
    C, P = len(copies), len(time)
    has_limit, limited = np.isfinite(limit), copies > 0
    g, k = np.nonzero(allowed)
    second = max(float(np.where(allowed, time, 0.0).max()), 1e-300)
    byte = float(max(groups.bytes.max(), *(b for b, _ in groups.shared), 1))
    x = len(g)
    pairs = [(i, h) for i, (_, readers) in enumerate(groups.shared) for h in readers.tolist()]
    W, columns = len(groups.shared), x + len(groups.shared) * C + P
    variable = np.full(allowed.shape, -1)
    variable[g, k] = np.arange(x)

    def block(value: Any, row: np.ndarray, column: np.ndarray, rows: int) -> Any:
        return sparse.csr_array((value, (row, column)), shape=(rows, columns))

    load_rows = [
        block(
            np.append(time[f, g, k] / second, -copies.astype(float)),
            np.append(k, np.arange(C)),
            np.append(np.arange(x), np.full(C, columns - P + f)),
            C,
        )[np.flatnonzero(limited)]
        for f in range(P)
    ]
    held = np.array([b for b, _ in groups.shared], float)
    memory_row = block(
        np.concatenate([groups.bytes[g], np.repeat(held, C)]) / byte,
        np.concatenate([k, np.tile(np.arange(C), W)]),
        np.arange(x + W * C),
        C,
    )[np.flatnonzero(has_limit)]
    reads = [(variable[h, j], x + i * C + j) for i, h in pairs for j in range(C) if allowed[h, j]]
    read_row = block(
        np.tile([1.0, -1.0], len(reads)),
        np.repeat(np.arange(len(reads)), 2),
        np.array(reads, np.int64).reshape(-1),
        len(reads),
    )
    once = block(np.full(W * C, -1.0), np.repeat(np.arange(W), C), x + np.arange(W * C), W)
    matrix: Any = sparse.vstack([*load_rows, memory_row, read_row, once], format="csr")
    n_load, n_memory = P * int(limited.sum()), int(has_limit.sum())
    upper = np.zeros(matrix.shape[0])
    upper[n_load : n_load + n_memory] = limit[has_limit] / byte
    upper[len(upper) - W :] = -1.0
    objective = np.zeros(columns)
    objective[columns - P :] = 1.0
    result = linprog(
        objective,
        A_ub=matrix,
        b_ub=upper,
        A_eq=block(np.ones(x), g, np.arange(x), len(groups.bytes)),
        b_eq=np.ones(len(groups.bytes)),
        bounds=(0, None),
        method="highs",
    )
    if result.status != 0:
        return None
    dual = np.maximum(-np.asarray(result.ineqlin.marginals, float), 0.0)
    load = np.zeros((P, C))
    load[:, limited] = dual[:n_load].reshape(P, -1)
    if not (load.sum(axis=1) > 0).all():
        return None
    memory = np.zeros(C)
    memory[has_limit] = dual[n_load : n_load + n_memory] * (second / byte)
    pi = dict(zip(reads, dual[n_load + n_memory :].tolist(), strict=False))
    reader = [
        np.array(
            [
                [second * pi.get((int(variable[h, j]), x + i * C + j), 0.0) for j in range(C)]
                for h in readers.tolist()
            ]
        )
        for i, (_, readers) in enumerate(groups.shared)
    ]
    return Multipliers(load, memory, reader)
