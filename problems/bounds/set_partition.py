"""Throughput: column generation over what one device can hold.

Suppose that the optimum is at most a level t. Then every device of class c holds a set S of groups
that fits it, with load_c(S) <= t (convex where the instance is contiguous), and the sets of all
devices partition the groups. For multipliers lambda_c >= 0 with sum_c n_c lambda_c = 1 and pi_g,

    OPT >= sum_g pi_g + sum_c n_c min over such S of  lambda_c load_c(S) - pi(S)

and so OPT >= min(t, that). Like devices take their sets from one pool, which leaves no symmetry.
The minimum over S is :mod:`problems.bounds.pricing`'s; its dual bound is what counts, so that one
stopped early is as sound. Multipliers come from a master program over the sets found so far, pulled
towards the best ones (smoothing); every step gives a bound. A level that is reached is proved, and
the next one is higher; one whose master converges below it was too high.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from problems.bounds.linear import TOLERANCE
from problems.bounds.local_polytope import local
from problems.bounds.nets import Nets, by_phases
from problems.bounds.node_bound import RULES
from problems.bounds.node_cut import least
from problems.bounds.pricing import Pricing
from problems.bounds.registry import bound
from problems.instance import Instance

MOST_NODES = 600
FIRST_STEP, LAST_STEP = 0.05, 0.002  # of the level above the proved bound, relative
CONVERGED = 1e-4
SMOOTHING = 0.6
UNCOVERED = 1.0  # what a group that no set covers costs, in units of the level
CHUNKS = 6  # first sets: that many runs of the topological order, at as many sizes


def _refuses(instance: Instance) -> str | None:
    if instance.host.all():
        return "no device pays transfers"
    if instance.n > MOST_NODES:
        return f"more than {MOST_NODES} nodes"
    return None


@bound("set-partition", problems=["throughput"], rules=RULES, refuses=_refuses, effort="search")
def set_partition(instance: Instance, seconds: float) -> tuple[float, str]:
    """Lagrangian bound over partitions into sets that devices can hold, in seconds."""
    return by_phases(instance, _generate, seconds)


class _Multipliers(NamedTuple):
    """lambda, shape (C,), and pi, shape (G,)."""

    load: np.ndarray
    cover: np.ndarray

    def towards(self, other: _Multipliers, part: float) -> _Multipliers:
        return _Multipliers(
            (1 - part) * self.load + part * other.load,
            (1 - part) * self.cover + part * other.cover,
        )


class _Set(NamedTuple):
    c: int
    groups: np.ndarray
    load: float


def _generate(nets: Nets, seconds: float) -> tuple[float, str]:
    deadline = time.monotonic() + seconds
    unit, share = nets.work
    if unit <= 0:
        return 0.0, "no work to share"
    proved = max(1.0, least(nets)[0] / unit, local(nets)[0] / unit)
    first, steps = proved, 0
    pricing = [Pricing(nets, c) for c in range(len(nets.count))]
    pool = _first_sets(nets)
    may = np.isfinite(nets.time)
    work = np.where(may, np.where(may, nets.time, 0.0) / unit * share, np.inf)
    centre = _Multipliers(share, work.min(axis=1))  # those of the load LP
    step, smoothing = FIRST_STEP, 0.0
    most = _most(nets)
    while step >= LAST_STEP and proved < most and time.monotonic() < deadline:
        level, best = proved * (1 + step), -np.inf
        while proved < level and time.monotonic() < deadline:
            steps += 1
            solved = _master(
                nets, [each for each in pool if each.load <= level * (1 + TOLERANCE)], level
            )
            if solved is None:
                return unit * proved, f"CP-SAT: {steps} steps; the master program failed"
            upper, own = solved
            if upper <= proved + CONVERGED:
                break  # the sets of this level cover everything at what is proved already
            trial = own.towards(centre, smoothing)
            value, found = float(trial.cover.sum()), []
            for each, n in zip(pricing, nets.count.tolist(), strict=True):
                left = max(deadline - time.monotonic(), 0.0)
                low, held = each.least(trial.load[each.c], trial.cover, level, left / 2)
                value += n * min(low, 0.0)
                if held is not None:
                    found.append(_Set(each.c, held, _load(nets, each.c, held)))
            if value > best:
                best, centre = value, trial
            proved = max(proved, min(level, value))
            new = [s for s in found if _gain(s, own) > TOLERANCE]
            pool += new
            if not new and smoothing == 0:
                break
            smoothing = SMOOTHING if new else 0.0
            if best >= upper - CONVERGED:
                break
        step = min(2 * step, FIRST_STEP) if proved >= level else step / 3
    if proved >= most:
        return (
            unit * most,
            "stopped beyond all work and transfers on one device: most likely nothing fits",
        )
    if proved <= first:
        return unit * proved, "no more than the cheap bounds that it starts from"
    return unit * proved, f"CP-SAT: Lagrangian of column generation, {steps} steps"


def _most(nets: Nets) -> float:
    """Everything on the slowest device, and each transfer once, in units: beyond, nothing fits."""
    slowest = np.where(np.isfinite(nets.time), nets.time, 0.0).max(axis=1).sum()
    return (
        float(slowest + nets.send.max(axis=0).sum() + nets.receive.max(axis=0).sum()) / nets.work[0]
    )


def _gain(each: _Set, multipliers: _Multipliers) -> float:
    return float(multipliers.cover[each.groups].sum() - multipliers.load[each.c] * each.load)


def _load(nets: Nets, c: int, groups: np.ndarray) -> float:
    """Least load of a device of class c that holds `groups`, in units of the load LP's bound."""
    x = np.zeros(len(nets.time), bool)
    x[groups] = True
    inside, outside = np.zeros(len(nets.source), bool), np.zeros(len(nets.source), bool)
    np.logical_or.at(inside, nets.pin_net, x[nets.pin])
    np.logical_or.at(outside, nets.pin_net, ~x[nets.pin])
    compute = float(nets.time[groups, c].sum())
    out = float(nets.send[c, x[nets.source] & outside].sum())
    into = float(nets.receive[c, ~x[nets.source] & inside].sum())
    load = {
        "none": compute + into + out,
        "half": max(compute, into + out),
        "full": max(compute, into, out),
    }[nets.overlap]
    return load / nets.work[0]


def _first_sets(nets: Nets) -> list[_Set]:
    """Single groups, and runs of the topological order at several sizes."""
    G = len(nets.time)
    runs = [np.arange(g, g + 1) for g in range(G)]
    for parts in range(2, CHUNKS + 2):
        runs += [r for r in np.array_split(np.arange(G), parts * nets.count.sum()) if len(r) > 1]
    return [
        _Set(c, run, _load(nets, c, run))
        for c in range(len(nets.count))
        for run in runs
        if np.isfinite(nets.time[run, c]).all() and float(nets.bytes[run].sum()) <= nets.memory[c]
    ]


def _master(nets: Nets, sets: list[_Set], level: float) -> tuple[float, _Multipliers] | None:
    """Least mean load of fractional partitions into `sets`, and the multipliers; None if it fails.

    Variables: one a set, one an uncovered group, and the period.
    """
    G, C, N = len(nets.time), len(nets.count), len(sets)
    column = np.repeat(np.arange(N), [len(each.groups) for each in sets])
    row = np.concatenate([each.groups for each in sets] or [np.zeros(0, int)])
    cover = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(G, N + G + 1))
    cover = cover + sparse.csr_array((np.ones(G), (np.arange(G), N + np.arange(G))), cover.shape)
    kind = np.array([each.c for each in sets], int)
    load = np.array([each.load for each in sets])
    loads = sparse.csr_array(
        (
            np.concatenate([load, -nets.count.astype(float)]),
            (np.concatenate([kind, np.arange(C)]), np.append(np.arange(N), np.full(C, N + G))),
        ),
        shape=(C, N + G + 1),
    )
    used = sparse.csr_array((np.ones(N), (kind, np.arange(N))), shape=(C, N + G + 1))
    cost = np.zeros(N + G + 1)
    cost[N : N + G], cost[-1] = UNCOVERED * level, 1.0
    limits: Any = sparse.vstack([loads, used], format="csr")
    every: Any = cover
    result = linprog(
        cost,
        A_ub=limits,
        b_ub=np.concatenate([np.zeros(C), nets.count]),
        A_eq=every,
        b_eq=np.ones(G),
        method="highs",
    )
    if result.status != 0:
        return None
    each = np.maximum(-np.asarray(result.ineqlin.marginals, float)[:C], 0.0)
    total = float(nets.count @ each)
    each = each / total if total > 0 else np.full(C, 1.0 / nets.count.sum())
    return float(np.asarray(result.fun)), _Multipliers(
        each, np.asarray(result.eqlin.marginals, float)
    )
