"""Judge of `throughput`: the chain rule and the period."""

from __future__ import annotations

import math

from problems.instance import Instance
from problems.rules import ThroughputRules


def judge(
    instance: Instance,
    rules: ThroughputRules,
    device: list[int],
    violations: list[tuple[str, str]],
) -> tuple[list[tuple[str, str]], float]:
    """All broken rules, those of `violations` first, and the period in seconds (0 if broken)."""
    if rules.contiguous:
        violations = violations + contiguous_violations(instance, device)
    return violations, 0.0 if violations else period(instance, rules, device)


def contiguous_violations(instance: Instance, device: list[int]) -> list[tuple[str, str]]:
    """Whether the devices cannot be put in an order in which the flow only goes forward."""
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


def period(instance: Instance, rules: ThroughputRules, device: list[int]) -> float:
    """Seconds a sample: the largest load, or the sum of the two phases' largest ones."""
    total = 0.0
    for phases in ([0], [1]) if rules.split_phases else ([0, 1],):
        total += max(max(each) for each in engines(instance, rules, device, phases))
    return total


def engines(
    instance: Instance, rules: ThroughputRules, device: list[int], phases: list[int]
) -> list[list[float]]:
    """Seconds a sample of each engine of each device; its load is the largest of them.

    One engine without overlap, computing and the port where they overlap by half, computing and
    each way of the port where they do in full.
    """
    consumers: list[set[int]] = [set() for _ in range(instance.n)]
    for u, v in instance.edges.tolist():
        consumers[u].add(device[v])
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
    result: list[list[float]] = []
    for k in range(instance.K):
        compute = math.fsum(computed[k])
        into, out = math.fsum(received[k]), math.fsum(sent[k])
        if instance.host[k]:  # a host pays no transfers
            into = out = 0.0
        result.append(
            {
                "none": [compute + into + out],
                "half": [compute, into + out],
                "full": [compute, into, out],
            }[rules.overlap]
        )
    return result
