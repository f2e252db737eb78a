"""Throughput: some device runs the heaviest group, with the transfers it cannot avoid there."""

from __future__ import annotations

import numpy as np

from problems.bounds.allowed import Groups, groups_of
from problems.bounds.registry import bound, round_down
from problems.instance import Instance
from problems.throughput import rules_of

RULES = ["contiguous", "overlap", "memory", "split_phases", "colocate_tied"]


@bound("node", problems=["throughput"], rules=RULES)
def node(instance: Instance) -> tuple[float, str]:
    """Max over groups g of min over devices k of what g alone costs on k, in seconds.

    That is its compute and, unless k is a host, one transfer for every edge to a group that cannot
    sit on k together with g (it is not supported there, or both exceed the memory).
    """
    groups = groups_of(instance)
    receive, send = _forced(instance, groups)
    rules = rules_of(instance)
    parts = [np.where(groups.allowed, groups.time, np.inf), receive, send]
    if not rules.split_phases:
        parts = [each.sum(axis=0, keepdims=True) for each in parts]
    compute, into, out = parts
    # One device's forward and backward load together are at most the sum of the two maxima.
    load = {
        "none": compute + into + out,
        "half": np.maximum(compute, into + out),
        "full": np.maximum(compute, np.maximum(into, out)),
    }[rules.overlap].sum(axis=0)
    least = load.min(axis=1)
    g = int(least.argmax())
    first = int(np.flatnonzero(instance.group == g)[0])
    value = round_down(float(least[g]), 4 * instance.n)
    return value, f"the group of {instance.names[first]!r} costs that much wherever it sits"


def _forced(instance: Instance, groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Least received and sent seconds of each group on each device, shapes (2, G, K)."""
    K, group = instance.K, instance.group
    receive, send = (np.zeros(groups.time.shape) for _ in range(2))
    others = ~np.eye(K, dtype=bool)
    pays = ~instance.host
    received: set[tuple[int, int]] = set()
    for u in range(instance.n):
        a, phase = int(group[u]), int(instance.phase[u])
        least_sent = np.zeros(K)
        for v in instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]].tolist():
            b = int(group[v])
            if a == b:
                continue
            together = groups.bytes[a] + groups.bytes[b] <= instance.memory
            apart_of_a = pays & ~(groups.allowed[b] & together)
            apart_of_b = pays & ~(groups.allowed[a] & together)
            out, into = _transfer(instance, u, groups.allowed[a], groups.allowed[b], others)
            least_sent = np.maximum(least_sent, np.where(apart_of_a, out, 0.0))
            if (u, b) not in received:
                received.add((u, b))
                receive[phase, b] += np.where(apart_of_b, into, 0.0)
        send[phase, a] += least_sent
    return receive, send


def _transfer(
    instance: Instance, u: int, from_a: np.ndarray, to_b: np.ndarray, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Least seconds that u's transfer costs its sender on k, and its receiver on k, shapes (K,).

    0 where there is no other device left: the instance has no answer then.
    """
    if instance.staged:
        port = instance.link_time[instance.port, u]
        return port, port
    wire = instance.link_time[instance.wire, u]
    out = np.where(others & to_b[None, :], wire, np.inf).min(axis=1)
    into = np.where(others & from_a[:, None], wire, np.inf).min(axis=0)
    return np.where(np.isfinite(out), out, 0.0), np.where(np.isfinite(into), into, 0.0)
