"""Latency: one linear program of places, starts, transfers, loads and memory together.

Over colocation groups g and classes c of alike devices (m_c of them), sum_c x_gc = 1, x >= 0:

    s_v >= sum_c H(v,c) x_vc                           a head is the earliest start there
    s_v >= s_u + sum_c p_c(u) x_uc + delay_uv          every edge
    L   >= s_v + sum_c (p_c(v) + T(v,c)) x_vc
    m_c L >= sum_v p_c(v) x_vc                         unless unlimited
    m_c (L - r - q) >= sum over {v: H(v,c) >= r, T(v,c) >= q} of p_c(v) x_vc      r + q <= a bound
    sum_g bytes(g) x_gc + sum_i bytes(i) w_ic <= m_c M_c,   w_ic >= x_gc for readers g of weight i

(x_vc means that of v's group). A transfer between two alike devices counts as free. On a staged
platform the least delay for given shares of both ends is sum_c tau_c(u) |x_uc - x_vc|: what stays
in its class moves nothing. On a direct one it is the local polytope, sum_d y_cd = x_uc and sum_c
y_cd = x_vd, with delay sum_cd t_cd(u) y_cd. H and T: :mod:`problems.bounds.headtail`.

The windows (r, q) are added as the solution violates them. What is claimed is what the multipliers
prove (:mod:`problems.bounds.certify`), and at most `horizon`, the limit of the starts: a schedule
that is longer is no shorter than the bound either.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy import sparse

from problems.bounds.certify import LinearProgram, multipliers, proved
from problems.bounds.headtail import headtail
from problems.bounds.joint_model import Joint, build, size
from problems.bounds.load_lp import load_lp
from problems.bounds.propagation import State
from problems.bounds.registry import UNIT_ROUNDOFF, bound
from problems.instance import Instance

LARGEST = 100_000  # columns for transfers: beyond, HiGHS overruns its limit by minutes
GRID = 25  # thresholds of heads, and of tails
CUTS = 8  # windows added a class and round
VIOLATED = 1e-4  # relative to the makespan; less does not pay for another round


def _refuses(instance: Instance) -> str | None:
    columns = size(instance)
    return f"joint-lp would have {columns} columns" if columns > LARGEST else None


@bound(
    "joint-lp",
    problems=["latency"],
    rules=["contention", "memory", "colocate_tied"],
    refuses=_refuses,
    effort="search",
)
def joint_lp(instance: Instance, seconds: float) -> tuple[float, str]:
    """What the multipliers of the joint LP prove, in seconds, after as many rounds as pay."""
    unit = max(headtail(instance).value, 0.0)
    if not instance.unlimited.all():
        unit = max(unit, load_lp(instance).value)
    if unit <= 0:
        return 0.0, "every node can run in no time"
    best, windows = unit, 0
    for value, cuts in rounds(instance, unit, seconds):
        if value > best:
            best, windows = value, cuts
    return best, f"multipliers of the joint LP with {windows} windows"


def rounds(
    instance: Instance, unit: float, seconds: float, left: State | None = None
) -> Iterator[tuple[float, int]]:
    """Bounds in seconds, round by round, and the number of windows behind each.

    Parameters
    ----------
    unit : float
        A bound in seconds: what the LP is scaled by, and how far windows may reach at first.
    left : State or None
        What is left under some limit: the bounds then hold for schedules within it.
    """
    end = time.monotonic() + seconds
    horizon = 4.0
    joint = build(instance, unit, horizon, left)
    reach, windows = 1.0, 0
    while (remaining := end - time.monotonic()) > 0:
        primal, dual = multipliers(joint.program, remaining)
        if primal is None:
            return
        value = min(proved(joint.program, dual), horizon)
        # Division by the unit and back: two roundings.
        yield unit * value * (1 - 4 * UNIT_ROUNDOFF), windows
        if value > horizon / 2:
            horizon *= 4
            joint, windows = build(instance, unit, horizon, left), 0
            continue
        reach = max(reach, value * (1 - 1e-12))
        found = _violated(joint, primal, reach)
        if not found:
            return
        windows += len(found)
        joint = replace(joint, program=_with(joint, found))


def prices(instance: Instance, seconds: float) -> np.ndarray:
    """Seconds that a byte on each device is worth in the joint LP, shape (K,); none is negative."""
    unit = max(headtail(instance).value, 0.0)
    if not instance.unlimited.all():
        unit = max(unit, load_lp(instance).value)
    result = np.zeros(instance.K)
    if unit <= 0:
        return result
    joint = build(instance, unit, 4.0)
    primal, dual = multipliers(joint.program, seconds)
    if primal is not None and primal[joint.makespan] > 3.9:
        joint = build(instance, unit, 4.0 * 16)
        primal, dual = multipliers(joint.program, seconds)
    if primal is None:
        return result
    for k, c in enumerate(instance.device_class.tolist()):
        row = joint.memory_row[c]
        if row >= 0:
            result[k] = unit * max(0.0, float(dual[row])) / max(float(instance.memory[k]), 1.0)
    return result


def _violated(joint: Joint, primal: np.ndarray, reach: float) -> list[tuple[int, float, float]]:
    """The windows (class, r, q) of a grid that a solution violates most, r + q <= reach."""
    makespan = primal[joint.makespan]
    found: list[tuple[float, int, float, float]] = []
    for c in np.flatnonzero(joint.limited).tolist():
        able = joint.able[:, c]
        if not able.any():
            continue
        head, tail = joint.head[able, c], joint.tail[able, c]
        r, q = (_thresholds(values) for values in (head, tail))
        work = (joint.time[:, c] * primal[joint.place[:, c]])[able]
        inside = np.zeros((len(r) + 1, len(q) + 1))
        at = np.searchsorted(r, head, side="right"), np.searchsorted(q, tail, side="right")
        np.add.at(inside, at, work)
        inside = inside[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1][1:, 1:]
        apart = r[:, None] + q
        excess = np.where(apart <= reach, inside - joint.count[c] * (makespan - apart), -np.inf)
        for i in np.argsort(-excess, axis=None)[:CUTS].tolist():
            a, b = divmod(i, len(q))
            if excess[a, b] > VIOLATED * makespan:
                found.append((float(excess[a, b]), c, float(r[a]), float(q[b])))
    return [window for _, *window in found]  # type: ignore[misc]


def _thresholds(values: np.ndarray) -> np.ndarray:
    return np.unique(np.quantile(values, np.linspace(0, 1, GRID), method="higher"))


def _with(joint: Joint, windows: list[tuple[int, float, float]]) -> LinearProgram:
    program = joint.program
    rows, right = [], []
    for c, r, q in windows:
        nodes = np.flatnonzero(joint.able[:, c] & (joint.head[:, c] >= r) & (joint.tail[:, c] >= q))
        columns = np.append(joint.place[nodes, c], joint.makespan)
        values = np.append(-joint.time[nodes, c], joint.count[c])
        shape = (1, program.matrix.shape[1])
        rows.append(sparse.csr_array((values, (np.zeros(len(columns), int), columns)), shape=shape))
        right.append(joint.count[c] * (r + q))
    return replace(
        program,
        matrix=sparse.vstack([program.matrix, *rows], format="csr"),
        right=np.append(program.right, right),
        equal=np.append(program.equal, np.zeros(len(right), bool)),
    )
