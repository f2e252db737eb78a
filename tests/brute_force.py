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
from problems.rules import LatencyRules, ThroughputRules, is_mixture
from tests import brute_force_calls, brute_force_mixture


class Optimum(NamedTuple):
    """The least objective in seconds and an answer that has it; None and None if infeasible."""

    objective: float | None
    answer: Answer | None


def optimum(instance: Instance) -> Optimum:
    """Solve a tiny instance (n <= 7, K <= 3) by enumeration."""
    if is_mixture(instance.rules):
        return Optimum(*brute_force_mixture.optimum(instance))
    if instance.problem == "throughput":
        return _throughput(instance)
    if instance.problem == "calls":
        return Optimum(*brute_force_calls.optimum(instance))
    if instance.problem == "chips":
        return _chips(instance)
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


def _chips(instance: Instance) -> Optimum:
    """All mappings that go forward along every edge, judged one by one."""
    best = Optimum(None, None)
    for device in mappings(instance):
        if any(device[u] > device[v] for u, v in instance.edges.tolist()):
            continue
        # No judge is needed where some chip computes as long as the best answer takes.
        if best.objective is not None:
            computed = [0.0] * instance.K
            for v, k in enumerate(device):
                computed[k] += float(instance.time[v, k])
            if max(computed) >= best.objective:
                continue
        answer = Answer.of(device)
        value = check(instance, answer).objective
        if value is not None and (best.objective is None or value < best.objective):
            best = Optimum(value, answer)
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
        items = _items(instance, device)
        value, sequence = _schedule(items, best)
        if sequence is not None:
            found = _answer(instance, device, items, sequence)
            judged = check(instance, found).objective
            assert judged is not None
            assert math.isclose(judged, value, rel_tol=1e-12, abs_tol=1e-12)
            if judged < best:
                best, answer = judged, found
    return Optimum(best, answer)


class Item(NamedTuple):
    """A node ``(v,)``, or under ports a transfer or one of its legs ``(u, to, leg)``.

    Attributes
    ----------
    seconds : float
    uses : list
        What it occupies: ``("run", k)``, ``("send", k)``, ``("receive", k)``.
    after : list of (name, float)
        What it waits for, and how long after that one's end.
    """

    seconds: float
    uses: list[tuple[str, int]]
    after: list[tuple[Name, float]]


Name = tuple[int, ...]


def _items(instance: Instance, device: list[int]) -> dict[Name, Item]:
    """Everything that takes its turn somewhere, in a topological order."""
    assert isinstance(instance.rules, LatencyRules)
    ports = instance.rules.contention == "ports"
    items: dict[Name, Item] = {}
    arrival: dict[tuple[int, int], tuple[Name, float]] = {}
    for v, k in enumerate(device):
        uses = [] if instance.unlimited[k] else [("run", k)]
        after = [arrival[u, k] for u, w in instance.edges.tolist() if w == v]
        items[v,] = Item(float(instance.time[v, k]), uses, after)
        for to in {device[w] for u, w in instance.edges.tolist() if u == v}:
            legs: list[tuple[float, list[tuple[str, int]]]]
            if to == k:
                legs = []
            elif instance.staged:
                out, into = instance.link_time[instance.port[[k, to]], v].tolist()
                legs = [(out, [("send", k)]), (into, [("receive", to)])]
            else:
                whole = float(instance.link_time[instance.wire[k, to], v])
                legs = [(whole, [("send", k), ("receive", to)])]
            last: tuple[Name, float] = (v,), 0.0
            for i, (seconds, where) in enumerate(legs):
                busy = [port for port in where if ports and not instance.host[port[1]]]
                if busy and seconds > 0:
                    items[v, to, i] = Item(seconds, busy, [last])
                    last = (v, to, i), 0.0
                else:
                    last = last[0], last[1] + seconds
            arrival[v, to] = last
    return items


def _answer(
    instance: Instance, device: list[int], items: dict[Name, Item], sequence: list[Name]
) -> Answer:
    def lists(what: str) -> list[list[int]]:
        return [
            [x[0] if what == "run" else x[0] * instance.K + x[1] for x in sequence
             if (what, k) in items[x].uses]
            for k in range(instance.K)
        ]  # fmt: skip

    order = [[v for v in range(instance.n) if device[v] == k] for k in range(instance.K)]
    order = [order[k] if instance.unlimited[k] else lists("run")[k] for k in range(instance.K)]
    assert isinstance(instance.rules, LatencyRules)
    if instance.rules.contention == "none":
        return Answer.of(device, order)
    return Answer.of(device, order, send=lists("send"), receive=lists("receive"))


def _schedule(items: dict[Name, Item], limit: float) -> tuple[float, list[Name] | None]:
    """The best schedule of the items if its makespan is under `limit` (else `limit`, None).

    Items are taken in non-decreasing order of their starts, in every such order; every schedule
    without idle time that could be removed arises so.
    """
    tail = {name: item.seconds for name, item in items.items()}  # from its start, waiting nowhere
    for name, item in reversed(items.items()):
        for other, lag in item.after:
            tail[other] = max(tail[other], items[other].seconds + lag + tail[name])
    best, best_sequence = limit, None
    start: dict[Name, float] = {}
    free = {use: 0.0 for item in items.values() for use in item.uses}

    def extend(now: float) -> None:
        nonlocal best, best_sequence
        if len(start) == len(items):
            makespan = max(start[x] + items[x].seconds for x in items)
            if makespan < best:
                best, best_sequence = makespan, list(start)
            return
        for x, item in items.items():
            if x in start or not all(other in start for other, _ in item.after):
                continue
            t = max([0.0, *(free[use] for use in item.uses)])
            t = max([t, *(start[y] + items[y].seconds + lag for y, lag in item.after)])
            if t < now or t + tail[x] >= best:
                continue
            before = [free[use] for use in item.uses]
            start[x] = t
            for use in item.uses:
                free[use] = t + item.seconds
            extend(t)
            for use, value in zip(item.uses, before, strict=True):
                free[use] = value
            del start[x]

    extend(0.0)
    return best, best_sequence
