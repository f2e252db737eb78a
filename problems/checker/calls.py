"""Judge of `calls`: the calls of the accelerators and the finish of the last part."""

from __future__ import annotations

import math

from problems.answer import Answer
from problems.instance import Instance
from problems.rules import CallsRules

Part = tuple[str, int, int]
"""("call", accelerator, slot) or ("node", host, node)."""


def judge(
    instance: Instance,
    rules: CallsRules,
    answer: Answer,
    device: list[int],
    violations: list[tuple[str, str]],
) -> tuple[list[tuple[str, str]], float]:
    """All broken rules, those of `violations` first, and the latency in seconds (0 if broken)."""
    slot = dispatch(instance, device) if answer.slot is None else [int(s) for s in answer.slot]
    violations = violations + slot_violations(instance, rules, device, slot)
    if violations:
        return violations, 0.0
    end = finishes(instance, device, slot)
    if end is None:
        return [("slot", "the calls wait for each other in a circle (or one for itself)")], 0.0
    return violations, max(end.values())


def slot_violations(
    instance: Instance, rules: CallsRules, device: list[int], slot: list[int]
) -> list[tuple[str, str]]:
    """Whether every node of an accelerator has one of its calls, and those on hosts none."""
    for v, (k, s) in enumerate(zip(device, slot, strict=True)):
        where = f"node {v} ({instance.names[v]!r}) on {instance.device_names[k]!r} has slot {s}"
        if instance.host[k] and s != -1:
            return [("slot", f"{where}; on a host it is -1")]
        if not instance.host[k] and s < 0:
            return [("slot", f"{where}; an accelerator numbers its calls 0, 1, ...")]
        if not instance.host[k] and rules.slots is not None and s >= rules.slots:
            return [("slot", f"{where}, not one of 0..{rules.slots - 1}")]
    return []


def parts_of(instance: Instance, device: list[int], slot: list[int]) -> list[Part]:
    """The part of every node."""
    return [
        ("node", k, v) if instance.host[k] else ("call", k, slot[v]) for v, k in enumerate(device)
    ]


def finishes(instance: Instance, device: list[int], slot: list[int]) -> dict[Part, float] | None:
    """When each part is done, by running what has everything; None where nothing goes on."""
    part = parts_of(instance, device, slot)
    inside: dict[Part, list[int]] = {}
    for v, a in enumerate(part):
        inside.setdefault(a, []).append(v)
    feeders: dict[Part, set[int]] = {a: set() for a in inside}
    leaving: dict[Part, set[int]] = {a: set() for a in inside}
    for u, v in instance.edges.tolist():
        if part[u] != part[v]:
            feeders[part[v]].add(u)
            leaving[part[u]].add(u)
    waits = {a: {part[u] for u in feeders[a]} for a in inside}
    for a in inside:
        if a[0] == "call":
            waits[a] |= {b for b in inside if b[:2] == a[:2] and b[2] < a[2]}
    end: dict[Part, float] = {}
    while len(end) < len(inside):
        able = [a for a in inside if a not in end and all(b in end for b in waits[a])]
        if not able:
            return None
        for a in able:
            kind, k, _ = a
            seconds = [float(instance.time[v, k]) for v in inside[a]]
            if kind == "call":
                tau = instance.link_time[instance.port[k]]
                seconds += [float(tau[u]) for u in sorted(feeders[a])]
                seconds += [float(tau[u]) for u in sorted(leaving[a])]
            end[a] = max([0.0, *(end[b] for b in waits[a])]) + math.fsum(seconds)
    return end


def dispatch(instance: Instance, device: list[int]) -> list[int]:
    """Cut a mapping into calls: by entries into each accelerator, else by changes of device."""
    producers: list[list[int]] = [[] for _ in device]
    for u, v in instance.edges.tolist():
        producers[v].append(u)
    accelerators = [k for k in range(instance.K) if not instance.host[k]]
    slot = [-1] * instance.n
    for k in accelerators:
        entries = [0] * instance.n  # nodes are numbered topologically
        for v, mine in enumerate(at == k for at in device):
            inward = [entries[u] + (1 if mine and device[u] != k else 0) for u in producers[v]]
            entries[v] = max([1 if mine else 0, *inward])
            if mine:
                slot[v] = entries[v] - 1
    if finishes(instance, device, slot) is not None:
        return slot
    changes = [0] * instance.n
    for v in range(instance.n):
        steps = [changes[u] + (1 if device[u] != device[v] else 0) for u in producers[v]]
        changes[v] = max([0, *steps])
    for k in accelerators:
        levels = sorted({changes[v] for v in range(instance.n) if device[v] == k})
        for v in range(instance.n):
            if device[v] == k:
                slot[v] = levels.index(changes[v])
    return slot
