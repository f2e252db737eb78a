"""Judge of mixtures: every mapping by itself, the memory of all together, and the rates."""

from __future__ import annotations

import math

from problems.answer import Answer
from problems.checker import mapping, throughput
from problems.instance import Instance
from problems.rules import ThroughputRules

# A device that is busy all the time is so up to the rounding of its rates; one part in 10**9 is
# far below any effect that is measured. What is used beyond 1 counts as time, so nobody gains.
USE_TOLERANCE = 1e-9


def judge(
    instance: Instance, rules: ThroughputRules, answer: Answer
) -> tuple[list[tuple[str, str]], float]:
    """All broken rules, and the seconds a sample (0 if broken)."""
    mappings = [[int(k) for k in each] for each in (answer.device, *(answer.others or ()))]
    violations: list[tuple[str, str]] = []
    for i, device in enumerate(mappings):
        broken = mapping.support_violations(instance, device)
        broken += mapping.colocate_violations(instance, device)
        if rules.contiguous:
            broken += throughput.contiguous_violations(instance, device)
        where = f"mapping {i}: " if len(mappings) > 1 else ""
        violations += [(rule, where + what) for rule, what in broken]
    rates = [1.0] if answer.rates is None else [float(rate) for rate in answer.rates]
    used = [device for device, rate in zip(mappings, rates, strict=True) if rate > 0]
    violations += memory_violations(instance, used)
    if violations:
        return violations, 0.0
    loads = [throughput.engines(instance, rules, device, [0, 1]) for device in mappings]
    if answer.rates is None:
        return [], max(max(each) for each in loads[0])
    busiest = 0.0
    for k in range(instance.K):
        for engine in range(len(loads[0][k])):
            use = math.fsum(rate * load[k][engine] for rate, load in zip(rates, loads, strict=True))
            if use > 1 + USE_TOLERANCE:
                name = instance.device_names[k]
                return [("rates", f"device {name!r} is in use {use:.12g} of the time")], 0.0
            busiest = max(busiest, use)
    return [], max(1.0, busiest) / math.fsum(rates)


def memory_violations(instance: Instance, mappings: list[list[int]]) -> list[tuple[str, str]]:
    """Devices that cannot hold what some of the mappings puts there."""
    broken: list[tuple[str, str]] = []
    for k, limit in enumerate(instance.memory.tolist()):
        here = {v for device in mappings for v in range(instance.n) if device[v] == k}
        held = sum(int(instance.node_bytes[v]) for v in here)
        for i, size in enumerate(instance.shared_bytes.tolist()):
            readers = instance.shared_node[instance.shared_ptr[i] : instance.shared_ptr[i + 1]]
            if here & set(readers.tolist()):
                held += size
        if held > limit:
            name = instance.device_names[k]
            broken.append(("memory", f"device {name!r} holds {held} of {limit:.0f} bytes"))
    return broken
