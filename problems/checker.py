"""The judge: slow, obvious, and independent of the compiled evaluators.

Plain Python over the instance's arrays; imports no evaluator. Tests hold it and the evaluators
together. What a method says about its own answer plays no part here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from problems.answer import Answer
from problems.instance import Instance
from problems.rules import LatencyRules, ThroughputRules

# Claimed start times may round differently from ours; one part in 10**9 is far below any effect
# that is measured and far above double rounding.
START_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Verdict:
    """What the checker found.

    Attributes
    ----------
    objective : float or None
        Seconds; None where the answer is invalid.
    violations : tuple of (str, str)
        Broken rules, each as (rule, what is wrong with names), in the order of checking.
    """

    objective: float | None
    violations: tuple[tuple[str, str], ...] = ()

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return not self.violations


def check(instance: Instance, answer: Answer) -> Verdict:
    """Judge an answer.

    Returns
    -------
    Verdict
        The objective in seconds, or the rules that are broken: ``shape``, ``device``, ``support``,
        ``colocate``, ``memory``, ``contiguous`` (throughput), ``order``, ``start`` (latency).
    """
    shape = _shape_violations(instance, answer)
    if shape:
        return Verdict(None, tuple(shape))
    device = [int(k) for k in answer.device]
    violations = [
        *_support_violations(instance, device),
        *_colocate_violations(instance, device),
        *_memory_violations(instance, device),
    ]
    rules = instance.rules
    if isinstance(rules, ThroughputRules):
        if rules.contiguous:
            violations += _contiguous_violations(instance, device)
        return _verdict(violations, lambda: _period(instance, rules, device))
    assert isinstance(rules, LatencyRules)
    order = _dispatch(instance, device) if answer.order is None else _orders(answer)
    violations += _order_violations(instance, device, order)
    if violations:
        return Verdict(None, tuple(violations))
    start = _earliest_starts(instance, device, order)
    if start is None:
        return Verdict(None, (("order", "the orders of the devices and the edges close a cycle"),))
    if answer.start is not None:
        # Claimed starts are checked, never believed: the objective follows from the orders.
        claimed = [float(t) for t in answer.start]
        slack = START_TOLERANCE * _finish(instance, device, start)
        violations += _start_violations(instance, device, order, claimed, slack)
    return _verdict(violations, lambda: _finish(instance, device, start))


def _verdict(violations: list[tuple[str, str]], objective: Any) -> Verdict:
    if violations:
        return Verdict(None, tuple(violations))
    value = float(objective())
    if not math.isfinite(value):
        return Verdict(None, (("support", f"the objective is {value}"),))
    return Verdict(value)


def _shape_violations(instance: Instance, answer: Answer) -> list[tuple[str, str]]:
    broken = _array_violations("device", answer.device, instance.n, "iu")
    if broken:
        return broken
    for v, k in enumerate(answer.device.tolist()):
        if not 0 <= k < instance.K:
            name = instance.names[v]
            return [("device", f"node {v} ({name!r}) is on device {k}, not 0..{instance.K - 1}")]
    if instance.problem != "latency":
        if answer.order is not None or answer.start is not None:
            return [("shape", f"a {instance.problem} answer has no `order` and no `start`")]
        return []
    if answer.order is not None:
        if len(answer.order) != instance.K:
            return [("shape", f"`order` lists {len(answer.order)} devices, not {instance.K}")]
        for k, nodes in enumerate(answer.order):
            if broken := _array_violations(f"order[{k}]", nodes, None, "iu"):
                return broken
    if answer.start is not None:
        if broken := _array_violations("start", answer.start, instance.n, "iuf"):
            return broken
        for v, t in enumerate(answer.start.tolist()):
            if not math.isfinite(t):
                return [("start", f"node {v} ({instance.names[v]!r}) starts at {t}")]
    return []


def _array_violations(
    name: str, values: Any, length: int | None, kinds: str
) -> list[tuple[str, str]]:
    """Whether it is an array of one dimension and the right type: methods hand over anything."""
    if not isinstance(values, np.ndarray):
        return [("shape", f"`{name}` is a {type(values).__name__}, not an array")]
    if values.ndim != 1 or (length is not None and len(values) != length):
        wanted = "one dimension" if length is None else f"({length},)"
        return [("shape", f"`{name}` has shape {values.shape}, not {wanted}")]
    if len(values) and values.dtype.kind not in kinds:
        what = "numbers" if "f" in kinds else "integers"
        return [("shape", f"`{name}` holds {values.dtype}, not {what}")]
    return []


def _support_violations(instance: Instance, device: list[int]) -> list[tuple[str, str]]:
    for v, k in enumerate(device):
        if not math.isfinite(instance.time[v, k]):
            where = f"node {v} ({instance.names[v]!r}) does not run on {instance.device_names[k]!r}"
            return [("support", where)]
    return []


def _colocate_violations(instance: Instance, device: list[int]) -> list[tuple[str, str]]:
    first: dict[int, int] = {}
    for v, k in enumerate(device):
        u = first.setdefault(int(instance.group[v]), v)
        if device[u] != k:
            names = f"{instance.names[u]!r} and {instance.names[v]!r}"
            return [("colocate", f"nodes {u} and {v} ({names}) belong on one device")]
    return []


def _memory_violations(instance: Instance, device: list[int]) -> list[tuple[str, str]]:
    use = [0] * instance.K
    for v, k in enumerate(device):
        use[k] += int(instance.node_bytes[v])
    for i, size in enumerate(instance.shared_bytes.tolist()):
        readers = instance.shared_node[instance.shared_ptr[i] : instance.shared_ptr[i + 1]]
        for k in {device[v] for v in readers.tolist()}:
            use[k] += size
    return [
        ("memory", f"device {instance.device_names[k]!r} holds {use[k]} of {limit:.0f} bytes")
        for k, limit in enumerate(instance.memory.tolist())
        if use[k] > limit
    ]


def _contiguous_violations(instance: Instance, device: list[int]) -> list[tuple[str, str]]:
    has_forward = {
        int(g) for g, f in zip(instance.group, instance.phase, strict=True) if f == 0
    }  # the other groups take part in the order through a stand-in
    follows: dict[int, set[int]] = {k: set() for k in range(instance.K)}
    for u, v in instance.edges.tolist():
        both = int(instance.phase[u]), int(instance.phase[v])
        if both == (0, 0):
            follows[device[u]].add(device[v])
        elif both == (1, 1) and not {int(instance.group[u]), int(instance.group[v])} <= has_forward:
            follows[device[v]].add(device[u])
    left = set(follows)
    while left:
        first = [k for k in sorted(left) if not any(k in follows[j] for j in left if j != k)]
        if not first:
            names = ", ".join(repr(instance.device_names[k]) for k in sorted(left))
            return [("contiguous", f"the flow between devices closes a cycle among {names}")]
        left -= set(first)
    return []


def _period(instance: Instance, rules: ThroughputRules, device: list[int]) -> float:
    consumers: list[set[int]] = [set() for _ in range(instance.n)]
    for u, v in instance.edges.tolist():
        consumers[u].add(device[v])
    total = 0.0
    for phases in ([0], [1]) if rules.split_phases else ([0, 1],):
        computed: list[list[float]] = [[] for _ in range(instance.K)]
        received: list[list[float]] = [[] for _ in range(instance.K)]
        sent: list[list[float]] = [[] for _ in range(instance.K)]
        for u in range(instance.n):
            if instance.phase[u] not in phases:
                continue
            k = device[u]
            computed[k].append(instance.time[u, k])
            away = sorted(consumers[u] - {k})
            if instance.staged:
                if away:
                    sent[k].append(instance.link_time[instance.port[k], u])
                for to in away:
                    received[to].append(instance.link_time[instance.port[to], u])
            else:
                for to in away:
                    seconds = instance.link_time[instance.wire[k, to], u]
                    sent[k].append(seconds)
                    received[to].append(seconds)
        worst = 0.0
        for k in range(instance.K):
            compute = math.fsum(computed[k])
            into, out = math.fsum(received[k]), math.fsum(sent[k])
            if instance.host[k]:  # a host pays no transfers
                into = out = 0.0
            load = {
                "none": compute + into + out,
                "half": max(compute, into + out),
                "full": max(compute, into, out),
            }[rules.overlap]
            worst = max(worst, load)
        total += worst
    return total


def _delay(instance: Instance, u: int, k: int, to: int) -> float:
    if k == to:
        return 0.0
    if instance.staged:
        out, into = instance.link_time[instance.port[[k, to]], u]
        return float(out + into)
    return float(instance.link_time[instance.wire[k, to], u])


def _orders(answer: Answer) -> list[list[int]]:
    assert answer.order is not None
    return [[int(v) for v in nodes] for nodes in answer.order]


def _dispatch(instance: Instance, device: list[int]) -> list[list[int]]:
    """List scheduling by upward rank under the mapping, ties by node index."""
    rank = [0.0] * instance.n
    longest = [0.0] * instance.n
    for u, v in reversed(instance.edges.tolist()):  # sorted by u, and u < v: v is final before u
        rank[v] = float(instance.time[v, device[v]]) + longest[v]
        longest[u] = max(longest[u], _delay(instance, u, device[u], device[v]) + rank[v])
    for v in range(instance.n):
        rank[v] = float(instance.time[v, device[v]]) + longest[v]
    sequence = sorted(range(instance.n), key=lambda v: (-rank[v], v))
    return [[v for v in sequence if device[v] == k] for k in range(instance.K)]


def _order_violations(
    instance: Instance, device: list[int], order: list[list[int]]
) -> list[tuple[str, str]]:
    listed: set[int] = set()
    for k, nodes in enumerate(order):
        for v in nodes:
            if not 0 <= v < instance.n:
                return [("order", f"device {k} lists node {v}, not one of 0..{instance.n - 1}")]
            if device[v] != k:
                return [("order", f"device {k} lists node {v}, which is on device {device[v]}")]
            if v in listed:
                return [("order", f"node {v} ({instance.names[v]!r}) is listed twice")]
            listed.add(v)
    for v in range(instance.n):
        if v not in listed:
            return [("order", f"node {v} ({instance.names[v]!r}) is listed on no device")]
    return []


def _earliest_starts(
    instance: Instance, device: list[int], order: list[list[int]]
) -> list[float] | None:
    """Start whatever has all that it waits for; None where that leaves something out."""
    before: list[set[int]] = [set() for _ in range(instance.n)]  # what a node waits for
    after: list[list[int]] = [[] for _ in range(instance.n)]
    producers: list[set[int]] = [set() for _ in range(instance.n)]
    for u, v in instance.edges.tolist():
        producers[v].add(u)
        before[v].add(u)
        after[u].append(v)
    for k, nodes in enumerate(order):
        for a, b in pairwise(nodes) if not instance.unlimited[k] else ():
            before[b].add(a)
            after[a].append(b)
    start: dict[int, float] = {}
    missing = [len(each) for each in before]
    ready = [v for v in range(instance.n) if not before[v]]
    while ready:
        v = ready.pop()
        start[v] = 0.0
        for u in before[v]:
            free = start[u] + float(instance.time[u, device[u]])
            if u in producers[v]:
                free += _delay(instance, u, device[u], device[v])
            start[v] = max(start[v], free)
        for w in set(after[v]):
            missing[w] -= 1
            if not missing[w]:
                ready.append(w)
    return [start[v] for v in range(instance.n)] if len(start) == instance.n else None


def _start_violations(
    instance: Instance,
    device: list[int],
    order: list[list[int]],
    start: list[float],
    slack: float,
) -> list[tuple[str, str]]:
    finish = [start[v] + float(instance.time[v, device[v]]) for v in range(instance.n)]

    def late(v: int, bound: float, why: str) -> list[tuple[str, str]]:
        what = f"node {v} ({instance.names[v]!r}) starts at {start[v]!r}, before {bound!r}: {why}"
        return [("start", what)] if start[v] < bound - slack else []

    for v in range(instance.n):
        if broken := late(v, 0.0, "time begins at 0"):
            return broken
    for u, v in instance.edges.tolist():
        arrival = finish[u] + _delay(instance, u, device[u], device[v])
        if broken := late(v, arrival, f"the data of node {u} arrive then"):
            return broken
    for k, nodes in enumerate(order):
        if instance.unlimited[k]:
            continue
        for a, b in pairwise(nodes):
            if broken := late(b, finish[a], f"device {k} runs node {a} until then"):
                return broken
    return []


def _finish(instance: Instance, device: list[int], start: list[float]) -> float:
    return max(t + float(instance.time[v, device[v]]) for v, t in enumerate(start))
