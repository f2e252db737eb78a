"""Judge of `chips`: the rules of the chain (C1-C3) and the largest load."""

from __future__ import annotations

import math

from problems.instance import Instance
from problems.rules import ChipsRules


def judge(
    instance: Instance,
    rules: ChipsRules,
    device: list[int],
    violations: list[tuple[str, str]],
) -> tuple[list[tuple[str, str]], float]:
    """All broken rules, those of `violations` first, and the largest load in seconds."""
    violations = violations + dataflow_violations(instance, device)
    violations = violations + skipped_violations(instance, device)
    violations = violations + triangle_violations(instance, device)
    return violations, 0.0 if violations else largest_load(instance, rules, device)


def dataflow_violations(instance: Instance, device: list[int]) -> list[tuple[str, str]]:
    """C1: edges that go to an earlier chip."""
    for u, v in instance.edges.tolist():
        if device[u] > device[v]:
            names = f"{instance.names[u]!r} -> {instance.names[v]!r}"
            return [
                ("dataflow", f"edge {u} -> {v} ({names}) goes back from chip {device[u]} to chip"
                 f" {device[v]}")
            ]  # fmt: skip
    return []


def skipped_violations(instance: Instance, device: list[int]) -> list[tuple[str, str]]:
    """C2: chips without a node before the last one that has any."""
    skipped = [k for k in range(max(device)) if k not in device]
    if not skipped:
        return []
    which = ", ".join(map(str, skipped))
    return [("skipped", f"no node is on chip {which}, but chip {max(device)} is in use")]


def triangle_violations(instance: Instance, device: list[int]) -> list[tuple[str, str]]:
    """C3: a chip that feeds another one both directly and over chips in between."""
    # An edge that goes back breaks C1 and has no place in this graph.
    direct = {(device[u], device[v]) for u, v in instance.edges.tolist() if device[u] < device[v]}
    for a, b in sorted(direct):
        way = _way_around(direct, a, b)
        if way is not None:
            path = " -> ".join(map(str, way))
            return [("triangle", f"chip {a} feeds chip {b} directly and along {path}")]
    return []


def _way_around(direct: set[tuple[int, int]], a: int, b: int) -> list[int] | None:
    """A path from a to b in `direct` over at least one other chip; None without one."""
    paths = [[a, c] for x, c in sorted(direct) if x == a and c != b]
    seen = {path[-1] for path in paths}
    while paths:
        path = paths.pop()
        if path[-1] == b:
            return path
        for x, c in sorted(direct):
            if x == path[-1] and c not in seen:
                seen.add(c)
                paths.append([*path, c])
    return None


def largest_load(instance: Instance, rules: ChipsRules, device: list[int]) -> float:
    """Seconds a sample of the chip with the largest load."""
    consumers: list[set[int]] = [set() for _ in range(instance.n)]
    for u, v in instance.edges.tolist():
        consumers[u].add(device[v])
    worst = 0.0
    for k in range(instance.K):
        computed = [float(instance.time[v, k]) for v in range(instance.n) if device[v] == k]
        received: list[float] = []
        sent: list[float] = []
        for u in range(instance.n):
            away = [to for to in consumers[u] if to != device[u]]
            if rules.through_traffic:
                # It comes in where it is read here or farther on, and goes out where farther on.
                comes = device[u] < k and any(to >= k for to in away)
                leaves = int(device[u] <= k and any(to > k for to in away))
            else:
                comes = k in away
                leaves = len(away) if device[u] == k else 0
            if comes:
                received.append(_seconds(instance, u, k - 1))
            sent += [_seconds(instance, u, k)] * leaves if leaves else []
        compute, into, out = math.fsum(computed), math.fsum(received), math.fsum(sent)
        load = {
            "none": compute + into + out,
            "half": max(compute, into + out),
            "full": max(compute, into, out),
        }[rules.overlap]
        worst = max(worst, load)
    return worst


def _seconds(instance: Instance, u: int, k: int) -> float:
    """Of u's payload over the link from chip k to the next."""
    return float(instance.link_time[instance.wire[k, k + 1], u])
