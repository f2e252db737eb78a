"""Latency: the graph cut into a series at the nodes that everything passes through.

A node that is comparable with every other one (all others are producers or consumers of it, direct
or indirect) parts every schedule: what is before it is finished when it starts, what is after it
starts when it is finished. With a_0, a_1, ... these nodes and N_i the nodes between a_i and a_i+1,

    makespan >= min over devices k_0, k_1, ... of
                sum_i p(a_i, k_i) + S_i(k_i, k_i+1)  + (memory prices) - sum_k mu_k M_k

where S_i(k, l) is the least time from the finish of a_i on k to the start of a_i+1 on l, and mu_k
>= 0 prices the memory of every node where it is; mu comes from the joint LP. Edges that skip an
a_i and colocation count for nothing here. S_i begins as the longest path over devices; on the way
of the least sum it is replaced by what CP-SAT proves (its times rounded down to integers), until
that way is proved throughout or the time is over.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from problems.bounds import part
from problems.bounds.allowed import allowed_times
from problems.bounds.joint_lp import LARGEST, prices
from problems.bounds.joint_model import size
from problems.bounds.part import ANY, Costs, Part
from problems.bounds.registry import bound, round_down, slack
from problems.instance import Instance
from problems.latency import communication

FIRST, GROWTH = 0.75, 4.0  # seconds for a part at first, and how they grow while any are left
DELAYS = 5_000_000  # of every payload between all devices: more take many seconds to go through


def _refuses(instance: Instance) -> str | None:
    if not passages(instance):
        return "series needs a node that everything passes through"
    if instance.n * instance.K**2 > DELAYS:
        return f"series would hold {instance.n * instance.K**2} delays"
    return None


@bound(
    "series",
    problems=["latency"],
    rules=["contention", "memory", "colocate_tied"],
    refuses=_refuses,
    effort="search",
    version=2,
)
def series(instance: Instance, seconds: float) -> tuple[float, str]:
    """Least sum over the series, in seconds."""
    end = time.monotonic() + seconds
    best, solved = 0.0, 0
    priced = np.isfinite(instance.memory).any() and size(instance) <= LARGEST
    # Without prices the memory is ignored, and with them all depends on how good they are: both.
    for mu in ([prices(instance, seconds / 4)] if priced else []) + [np.zeros(instance.K)]:
        half = time.monotonic() + (end - time.monotonic()) / (2 if mu.any() else 1)
        value, count = _least(instance, mu, half)
        best, solved = max(best, value), solved + count
    return best, f"{len(passages(instance))} passages, {solved} parts between them proved"


def passages(instance: Instance) -> list[int]:
    """The nodes that are comparable with every other one, ascending."""
    n = instance.n
    # v is one iff every node before it has a consumer at v or before, and every node after it a
    # producer at v or after.
    consumer = [int(instance.succ[i]) if i < j else n for i, j in _spans(instance.succ_ptr)]
    producer = [int(instance.pred[j - 1]) if i < j else -1 for i, j in _spans(instance.pred_ptr)]
    before = np.maximum.accumulate([-1, *consumer])[:-1]
    after = np.minimum.accumulate([*producer, n][::-1])[::-1][1:]
    v = np.arange(n)
    return np.flatnonzero((before <= v) & (after >= v)).tolist()


def _spans(pointer: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(pointer[:-1].tolist(), pointer[1:].tolist(), strict=True))


def _parts(instance: Instance) -> list[Part]:
    ends = [-1, *passages(instance), instance.n]
    found = []
    for first, last in pairwise(ends):
        inside = range(max(first, 0), min(last + 1, instance.n))
        edges = [(u, int(v)) for u in inside
                 for v in instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]]
                 if v <= last]  # fmt: skip
        found.append(Part(first, last, list(range(first + 1, last)), edges))
    return found


def _least(instance: Instance, mu: np.ndarray, end: float) -> tuple[float, int]:
    """The bound in seconds, and how often CP-SAT was asked about a part."""
    links = communication(instance)
    costs = Costs(
        allowed_times(instance),
        mu * instance.node_bytes[:, None],
        instance.link_time[links[:, :, 0]] + instance.link_time[links[:, :, 1]],
    )
    parts = _parts(instance)
    for each in parts:
        part.paths(each, costs)
    has_limit = np.isfinite(instance.memory)
    paid = float((mu[has_limit] * instance.memory[has_limit]).sum())
    seen: dict[bytes, tuple[float, float]] = {}
    best, asked, limit = 0.0, 0, FIRST
    while True:
        total, way = _way(instance, parts, costs)
        # Every term has a few roundings; the prices that are taken off add their own.
        value = round_down(total, 4 * instance.n + 8) - paid - slack(paid + total, instance.n + 8)
        best = max(best, value)
        left = [each.given[ends] for each, ends in zip(parts, way, strict=True)]
        if min(left) == np.inf or time.monotonic() > end:
            return best, asked
        if min(left) >= limit:
            limit *= GROWTH
        for each, ends in zip(parts, way, strict=True):
            seconds = min(limit, end - time.monotonic())
            if seconds <= 0:
                break
            if each.given[ends] >= limit:
                continue
            # First for any devices at the ends, with free transfers there: that raises all at once.
            k, to = ends if each.anywhere else (ANY, ANY)
            name = part.key(each, costs, k, to)
            if name not in seen or seen[name][1] < limit:
                proved, closed = part.ask(instance, each, costs, k, to, seconds)
                proved = max(proved, seen[name][0] if name in seen else 0.0)
                seen[name] = proved, np.inf if closed else limit
                asked += 1
            proved, given = seen[name]
            if not each.anywhere:
                each.anywhere = True
                each.least = np.maximum(each.least, proved)
                continue
            # Alike devices have alike values.
            a, b = instance.device_class[[k, to]]
            like = (instance.device_class[:, None] == a) & (instance.device_class == b)
            like &= np.eye(instance.K, dtype=bool) == (k == to)
            if each.first < 0 or each.last >= instance.n:
                like[k, to] = True
            each.least = np.where(like, np.maximum(each.least, proved), each.least)
            each.given = np.where(like, np.maximum(each.given, given), each.given)


def _way(
    instance: Instance, parts: list[Part], costs: Costs
) -> tuple[float, list[tuple[int, int]]]:
    """The least sum, and the devices at both ends of every part on its way."""
    so_far = np.zeros(instance.K)
    back = []
    for each in parts:
        through = so_far[:, None] + each.least
        back.append(through.argmin(axis=0))
        so_far = through.min(axis=0)
        if each.last < instance.n:
            so_far = so_far + costs.times[each.last] + costs.price[each.last]
    to = int(so_far.argmin())
    total = float(so_far[to])
    way = []
    for choice in back[::-1]:
        k = int(choice[to])
        way.append((k, to))
        to = k
    return total, way[::-1]
