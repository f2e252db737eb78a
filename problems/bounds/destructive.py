"""Latency: the largest U for which a schedule within U is refuted.

For a trial U, :mod:`problems.bounds.propagation` derives what every schedule within U has in
common; a contradiction proves that the optimum is above U. Three stages, each starting from what
the one before reached: propagation alone; the joint LP (:mod:`problems.bounds.joint_lp`) over what
is left, which proves min(U, its value); and shaving, which tries each class for each cluster and
forbids it where that is contradictory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from problems.bounds import joint_lp
from problems.bounds.head_tail_load import head_tail_load
from problems.bounds.headtail import headtail
from problems.bounds.joint_model import size
from problems.bounds.propagation import Case, State, case_of, propagate
from problems.bounds.registry import bound, round_down
from problems.compiled import REHEARSAL
from problems.instance import Instance

LARGEST = (
    4_000  # nodes: the reachability of all pairs takes n * n bytes, a pass about as many steps
)
STEP = 1e-3  # relative: how close the largest U is told
SHAVING_PASSES = 6  # for one class of one cluster


def _refuses(instance: Instance) -> str | None:
    return f"destructive stops at {LARGEST} nodes" if instance.n > LARGEST else None


@bound(
    "destructive",
    problems=["latency"],
    rules=["contention", "memory", "colocate_tied"],
    refuses=_refuses,
    effort="search",
)
def destructive(instance: Instance, seconds: float) -> tuple[float, str]:
    """The largest U that is refuted, or what is proved on the way, in seconds."""
    end = time.monotonic() + seconds
    if instance.n <= REHEARSAL:  # perhaps there to have it compiled: the clock may be over before
        propagate(case_of(instance), _most(instance))
    bounds = [headtail] if instance.unlimited.all() else [headtail, head_tail_load]
    low = max(each(instance).value for each in bounds)
    if low <= 0:
        return 0.0, "every node can run in no time"
    return refute(instance, low, end, None)


def refute(instance: Instance, low: float, end: float, known: State | None) -> tuple[float, str]:
    """The largest bound by the three stages, in seconds, and why it holds.

    Parameters
    ----------
    low : float
        A bound in seconds, above 0.
    end : float
        Moment of ``time.monotonic()`` to stop at.
    known : State or None
        What holds in every schedule: where propagation begins.
    """
    case = case_of(instance)
    stage = "propagation"
    most = _most(instance)
    reached = _largest(
        low, end, lambda u: _refuted(propagate(case, u, known, end=end) is None, u), most
    )
    if reached >= most:
        return reached, "no answer exists: longer than everything one after another"
    # A proof of min(U, value) is worth little when U is far above what is proved.
    if size(instance) <= joint_lp.LARGEST:
        half = time.monotonic() + (end - time.monotonic()) / 2
        plain = joint_lp.joint_lp(instance, half - time.monotonic()).value
        better = _largest(max(reached, plain), half, lambda u: _by_lp(case, u, low, half, known))
        if better > reached:
            reached, stage = better, "the joint LP over what propagation leaves"
    better = _largest(reached, end, lambda u: _refuted(_shaved(case, u, end, known) is None, u))
    if better > reached:
        reached, stage = better, "shaving"
    return round_down(reached, instance.n), f"no schedule is shorter, by {stage}"


def _refuted(contradiction: bool, limit: float) -> float:
    return limit if contradiction else 0.0


def _most(instance: Instance) -> float:
    """What no schedule exceeds that wastes no time: all nodes and transfers one after another."""
    slowest = np.where(np.isfinite(instance.time), instance.time, 0.0).max(axis=1).sum()
    return float(slowest + 2 * instance.K * instance.link_time.max(axis=0).sum())


def _largest(
    low: float, end: float, prove: Callable[[float], float], most: float = np.inf
) -> float:
    """The largest bound that `prove` gives: from `low` upwards in growing steps, then between.

    Parameters
    ----------
    prove : callable
        Trial U -> a bound, at most U; 0 where nothing is proved.
    most : float
        Where to stop: an instance without an answer refutes everything.
    """
    step, high = STEP, np.inf
    while time.monotonic() < end and low < most and high > low * (1 + STEP):
        trial = min(low * (1 + step), (low * high) ** 0.5)
        proved = prove(trial)
        if proved >= trial:
            low, step = trial, 2 * step
        else:
            low, high = max(low, proved), trial
    return low


def _by_lp(case: Case, limit: float, unit: float, end: float, known: State | None) -> float:
    """min(limit, what the joint LP proves of schedules within it)."""
    left = propagate(case, limit, known, end=end)
    if left is None:
        return limit
    best = 0.0
    for value, _ in joint_lp.rounds(case.instance, unit, end - time.monotonic(), left):
        best = max(best, value)
        if best >= limit:
            return limit
    return best


def _shaved(case: Case, limit: float, end: float, known: State | None) -> State | None:
    """What shaving leaves under a limit; None on a contradiction."""
    left = propagate(case, limit, known, end=end)
    changed = True
    while changed and left is not None:
        changed = False
        # Heavy clusters first: what they cannot do says most.
        usual = np.where(np.isfinite(case.time), case.time, np.inf).min(axis=1)
        work = np.bincount(left.cluster, usual, minlength=len(left.allowed))
        for g in np.argsort(-work).tolist():
            if time.monotonic() > end:
                return left
            if not (left.cluster == g).any():  # merged with another on the way
                continue
            for c in np.flatnonzero(left.allowed[g]).tolist():
                allowed = left.allowed.copy()
                allowed[g] = False
                if left.allowed[g].sum() == 1:
                    break
                allowed[g, c] = True
                there = propagate(case, limit, replace(left, allowed=allowed), SHAVING_PASSES, end)
                if there is None:
                    allowed = left.allowed.copy()
                    allowed[g, c] = False
                    left = propagate(case, limit, replace(left, allowed=allowed), end=end)
                    changed = True
                    if left is None:
                        return None
    return left
