"""Latency: the load between a head and a tail.

For thresholds r and q with r + q at most a known bound, a node v that sits on a device k with
H(v, k) >= r and T(v, k) >= q runs there between r and makespan - q. Hence, for every device,

    makespan - r - q >= sum of p_k(v) over the nodes v on k with H(v, k) >= r and T(v, k) >= q,

and the load LP (:mod:`problems.bounds.load_lp`) with only these times, all nodes still in need of
memory, bounds makespan - r - q. (r = q = 0 is the load LP itself.) For given multipliers the sums
of min_k lambda_k p_k(v) over {v: min_k H >= r, min_k T >= q} for a whole grid of thresholds come
from one two-dimensional prefix sum; this only chooses what is looked at more closely.
"""

from __future__ import annotations

import math

import numpy as np

from problems.bounds.allowed import Groups, groups_of
from problems.bounds.headtail import heads, headtail, tails
from problems.bounds.load_lp import best_multipliers, lagrangian
from problems.bounds.registry import bound, round_down
from problems.instance import Instance

GRID = 50  # thresholds of heads, and of tails
CLOSER = 8  # pairs evaluated with the multipliers of the whole
SOLVED = 3  # and those of them with an LP of their own
ROUNDED = 1e-12  # how far heads and tails are lowered: more than their rounding


def _refuses(instance: Instance) -> str | None:
    return "every device is unlimited" if instance.unlimited.all() else None


@bound(
    "head-tail-load",
    problems=["latency"],
    rules=["contention", "memory", "colocate_tied"],
    refuses=_refuses,
)
def head_tail_load(instance: Instance) -> tuple[float, str]:
    """Largest r + q + load LP between r and q, in seconds."""
    groups = groups_of(instance)
    head, tail = ((1 - ROUNDED) * f(instance) for f in (heads, tails))
    reach = headtail(instance).value
    whole = groups.time.sum(axis=0, keepdims=True)
    known = best_multipliers(instance, groups, whole)[1]
    found: list[tuple[float, float, float, np.ndarray]] = []
    for r, q in _promising(instance, groups, head, tail, known.load[0], reach):
        time = _between(instance, groups, head, tail, r, q)
        found.append((r + q + lagrangian(instance, groups, time, known), r, q, time))
    found.sort(key=lambda each: -each[0])
    best, note = -math.inf, ""
    for place, (value, r, q, time) in enumerate(found):
        if place < SOLVED:
            value = max(value, r + q + best_multipliers(instance, groups, time)[0])
        if value > best:
            best, note = value, f"load from {r:.3e} s on, until {q:.3e} s before the end"
    return round_down(best, instance.n), note


def _between(
    instance: Instance, groups: Groups, head: np.ndarray, tail: np.ndarray, r: float, q: float
) -> np.ndarray:
    """Seconds of each group on each device for certain within the window, shape (1, G, K)."""
    inside = (head >= r) & (tail >= q) & groups.allowed[instance.group]
    time = np.zeros((1, *groups.allowed.shape))
    if instance.n == len(groups.bytes):
        time[0] = np.where(inside, instance.time, 0.0)
    else:
        np.add.at(time[0], instance.group, np.where(inside, instance.time, 0.0))
    return np.where(groups.allowed, time, np.inf)


def _promising(
    instance: Instance,
    groups: Groups,
    head: np.ndarray,
    tail: np.ndarray,
    load: np.ndarray,
    reach: float,
) -> list[tuple[float, float]]:
    """The windows of a grid with the most of r + q + load, and the whole."""
    first, last = head.min(axis=1), tail.min(axis=1)
    able = groups.allowed[instance.group]
    work = np.where(able, load * np.where(able, instance.time, 0.0), np.inf).min(axis=1)
    r, q = (np.unique(np.quantile(x, np.linspace(0, 1, GRID), method="higher"))
            for x in (first, last))  # fmt: skip
    inside = np.zeros((len(r) + 1, len(q) + 1))
    at = np.searchsorted(r, first, side="right"), np.searchsorted(q, last, side="right")
    np.add.at(inside, at, work)
    inside = inside[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1][1:, 1:]
    apart = r[:, None] + q
    value = np.where(apart <= reach, inside + apart, -np.inf)
    order = [divmod(i, len(q)) for i in np.argsort(-value, axis=None)[:CLOSER].tolist()]
    best = [(float(r[a]), float(q[b])) for a, b in order if np.isfinite(value[a, b])]
    return [(0.0, 0.0), *best]
