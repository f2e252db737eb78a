"""Optima of tiny instances by enumeration: what every method and bound is held against.

Plain Python from the definitions, and :func:`problems.checker.check` as the only judge of an
answer; no compiled evaluator takes part. A branch is cut only when its own finished part already
costs as much as the best answer so far.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from problems.answer import Answer
from problems.checker import check
from problems.instance import Instance
from problems.rules import ThroughputRules


class Optimum(NamedTuple):
    """The least objective in seconds and an answer that has it; None and None if infeasible."""

    objective: float | None
    answer: Answer | None


def optimum(instance: Instance) -> Optimum:
    """Solve a tiny instance (n <= 7, K <= 3) by enumeration."""
    if instance.problem == "throughput":
        return _throughput(instance)
    return _latency(instance)


def mappings(instance: Instance) -> Iterator[list[int]]:
    """All mappings that keep support and colocation."""
    group = instance.group.tolist()
    for choice in product(range(instance.K), repeat=max(group) + 1):
        device = [choice[g] for g in group]
        if all(math.isfinite(instance.time[v, k]) for v, k in enumerate(device)):
            yield device


def _throughput(instance: Instance) -> Optimum:
    assert isinstance(instance.rules, ThroughputRules)
    split = instance.rules.split_phases
    group, time = instance.group.tolist(), instance.time.tolist()
    phase = instance.phase.tolist() if split else [0] * instance.n
    best = Optimum(None, None)
    choice: list[int] = []
    work = [[0.0] * instance.K for _ in range(2)]

    def place(g: int) -> None:
        nonlocal best
        # Loads are at least the compute that is already placed, whatever else happens.
        if best.objective is not None and sum(map(max, work)) >= best.objective:
            return
        if g == max(group) + 1:
            answer = Answer.of([choice[h] for h in group])
            value = check(instance, answer).objective
            if value is not None and (best.objective is None or value < best.objective):
                best = Optimum(value, answer)
            return
        nodes = [v for v in range(instance.n) if group[v] == g]
        for k in range(instance.K):
            if not all(math.isfinite(time[v][k]) for v in nodes):
                continue
            before = [row[k] for row in work]
            for v in nodes:
                work[phase[v]][k] += time[v][k]
            choice.append(k)
            place(g + 1)
            choice.pop()
            for row, value in zip(work, before, strict=True):
                row[k] = value

    place(0)
    return best


def _latency(instance: Instance) -> Optimum:
    """All mappings, and for each all schedules in which no start can be moved to the left."""
    candidates: list[tuple[float, list[int], Answer]] = []
    for device in mappings(instance):
        dispatched = check(instance, Answer.of(device))
        if dispatched.objective is not None:
            candidates.append((dispatched.objective, device, Answer.of(device)))
    if not candidates:
        return Optimum(None, None)
    candidates.sort(key=lambda each: each[0])  # a good incumbent first
    best, _, answer = candidates[0]
    for _, device, _ in candidates:
        value, sequence = _schedule(instance, device, best)
        if sequence is not None:
            order = [[v for v in sequence if device[v] == k] for k in range(instance.K)]
            found = Answer.of(device, order)
            judged = check(instance, found).objective
            assert judged is not None
            assert math.isclose(judged, value, rel_tol=1e-12, abs_tol=1e-12)
            if judged < best:
                best, answer = judged, found
    return Optimum(best, answer)


def _schedule(
    instance: Instance, device: list[int], limit: float
) -> tuple[float, list[int] | None]:
    """The best schedule of one mapping if its makespan is under `limit` (else `limit`, None).

    Nodes are taken in non-decreasing order of their starts, in every such order; every schedule
    without idle time that could be removed arises so.
    """
    n = instance.n
    time = [float(instance.time[v, k]) for v, k in enumerate(device)]
    producers: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    tail = list(time)  # from a node's start to the end, waiting nowhere
    for u, v in reversed(instance.edges.tolist()):
        k, to = device[u], device[v]
        if k == to:
            delay = 0.0
        elif instance.staged:
            delay = float(instance.link_time[instance.port[k], u])
            delay += float(instance.link_time[instance.port[to], u])
        else:
            delay = float(instance.link_time[instance.wire[k, to], u])
        producers[v].append((u, delay))
        tail[u] = max(tail[u], time[u] + delay + tail[v])
    best, best_sequence = limit, None
    start: dict[int, float] = {}
    free = [0.0] * instance.K

    def extend(now: float) -> None:
        nonlocal best, best_sequence
        if len(start) == n:
            makespan = max(start[v] + time[v] for v in range(n))
            if makespan < best:
                best, best_sequence = makespan, list(start)
            return
        for v in range(n):
            if v in start or not all(u in start for u, _ in producers[v]):
                continue
            k = device[v]
            t = 0.0 if instance.unlimited[k] else free[k]
            t = max([t, *(start[u] + time[u] + delay for u, delay in producers[v])])
            if t < now or t + tail[v] >= best:
                continue
            start[v], before, free[k] = t, free[k], t + time[v]
            extend(t)
            free[k] = before
            del start[v]

    extend(0.0)
    return best, best_sequence
