"""Optimal mixtures of tiny instances: all mappings, one linear program over them.

Where memory binds, one program for every way of filling the devices to the brim: a mixture uses
pairs of group and device that fit together, and more of them never hurt.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

from problems.answer import Answer
from problems.checker import check, mapping, throughput
from problems.instance import Instance
from problems.rules import ThroughputRules


def optimum(instance: Instance) -> tuple[float | None, Answer | None]:
    """The least seconds a sample and a mixture that has it; None and None if infeasible."""
    rules = instance.rules
    assert isinstance(rules, ThroughputRules)
    group = instance.group.tolist()
    every = [
        choice for choice in product(range(instance.K), repeat=max(group) + 1)
        if not mapping.support_violations(instance, device := [choice[g] for g in group])
        and not (rules.contiguous and throughput.contiguous_violations(instance, device))
    ]  # fmt: skip
    loads = {
        choice: np.ravel(throughput.engines(instance, rules, [choice[g] for g in group], [0, 1]))
        for choice in every
    }
    best: tuple[float | None, Answer | None] = None, None
    for allowed in _together(instance, every):
        found = _mixture(instance, allowed, [loads[choice] for choice in allowed])
        value = check(instance, found).objective
        assert value is not None
        if best[0] is None or value < best[0]:
            best = value, found
    return best


def _together(instance: Instance, every: list[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
    """The largest sets of mappings that fit together."""
    groups = range(int(instance.group.max()) + 1)
    fillings = []
    for k in range(instance.K):
        fitting = [
            set(some) for size in range(len(groups), -1, -1)
            for some in combinations(groups, size) if _fits(instance, k, set(some))
        ]  # fmt: skip
        fillings.append([s for s in fitting if not any(s < other for other in fitting)])
    sets = {
        frozenset(c for c in every if all(g in filling[k] for g, k in enumerate(c)))
        for filling in product(*fillings)
    }
    return [sorted(s) for s in sets if s and not any(s < other for other in sets)]


def _fits(instance: Instance, k: int, groups: set[int]) -> bool:
    """Whether device k holds these groups."""
    here = [v for v, g in enumerate(instance.group.tolist()) if g in groups]
    held = sum(int(instance.node_bytes[v]) for v in here)
    for i, size in enumerate(instance.shared_bytes.tolist()):
        readers = instance.shared_node[instance.shared_ptr[i] : instance.shared_ptr[i + 1]]
        held += size if set(readers.tolist()) & set(here) else 0
    return bool(held <= instance.memory[k])


def _mixture(instance: Instance, allowed: list[tuple[int, ...]], loads: list[np.ndarray]) -> Answer:
    devices = [np.array(choice)[instance.group] for choice in allowed]
    for device, load in zip(devices, loads, strict=True):
        if not load.any():
            return Answer.of(device)
    unit = min(load.max() for load in loads)
    result = linprog(
        -np.ones(len(loads)), A_ub=np.array(loads).T / unit, b_ub=np.ones(len(loads[0])),
        method="highs",
    )  # fmt: skip
    assert result.status == 0
    rates = np.maximum(result.x, 0.0)
    rates /= max(1.0, float((np.array(loads).T / unit @ rates).max())) * unit
    kept = np.flatnonzero(rates > 0)
    first, *others = kept.tolist()
    return Answer.of(devices[first], others=[devices[i] for i in others], rates=rates[kept])
