"""The optimum of a tiny `calls` instance: all mappings, all slots, judged by the checker."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from problems.answer import Answer
from problems.checker import check
from problems.instance import Instance
from problems.rules import CallsRules


def optimum(instance: Instance) -> tuple[float | None, Answer | None]:
    """The least latency in seconds and an answer that has it; None and None if infeasible.

    Calls of an accelerator are numbered in the order in which it makes them, so that all slots are
    all cuts and all orders; numbers with gaps are left out, for an empty call changes nothing.
    """
    best: tuple[float | None, Answer | None] = (None, None)
    group = instance.group.tolist()
    for choice in product(range(instance.K), repeat=max(group) + 1):
        device = [choice[g] for g in group]
        if not all(math.isfinite(instance.time[v, k]) for v, k in enumerate(device)):
            continue
        # An accelerator computes one node at a time, so that its sum alone can be too much.
        if best[0] is not None and busiest(instance, device) > best[0]:
            continue
        for slot in slots(instance, device):
            answer = Answer.of(device, slot=slot)
            value = check(instance, answer).objective
            if value is not None and (best[0] is None or value < best[0]):
                best = value, answer
    return best


def busiest(instance: Instance, device: list[int]) -> float:
    """Most seconds that one accelerator computes."""
    compute = [0.0] * instance.K
    for v, k in enumerate(device):
        if not instance.host[k]:
            compute[k] += float(instance.time[v, k])
    return max(compute) * (1 - 1e-12)


def slots(instance: Instance, device: list[int]) -> Iterator[list[int]]:
    """All slots without gaps of a mapping."""
    assert isinstance(instance.rules, CallsRules)
    on = [v for v, k in enumerate(device) if not instance.host[k]]
    most = min(len(on), instance.rules.slots or len(on))
    for choice in product(range(max(most, 1)), repeat=len(on)):
        used: dict[int, set[int]] = {}
        for v, s in zip(on, choice, strict=True):
            used.setdefault(device[v], set()).add(s)
        if all(each == set(range(len(each))) for each in used.values()):
            slot = [-1] * instance.n
            for v, s in zip(on, choice, strict=True):
                slot[v] = s
            yield slot
