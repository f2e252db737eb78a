"""Throughput: some device runs the heaviest group, with the transfers it cannot avoid there."""

from __future__ import annotations

import numpy as np
from numba import njit

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
    receive, send = (np.zeros(groups.time.shape) for _ in range(2))
    _add_forced(
        receive,
        send,
        instance.group,
        instance.phase,
        instance.succ_ptr,
        instance.succ,
        instance.host,
        instance.staged,
        instance.link_time,
        instance.port,
        instance.wire,
        instance.memory,
        groups.bytes,
        groups.allowed,
    )
    return receive, send


@njit(cache=True)
def _add_forced(  # type: ignore[no-untyped-def]
    receive, send, group, phase, succ_ptr, succ, host, staged, link_time, port, wire, memory,
    held, allowed,
):  # fmt: skip
    G, K = allowed.shape
    received = np.full(G, -1, np.int64)  # the last producer that each group was charged for
    least_sent = np.zeros(K)
    for u in range(len(group)):
        a, f = group[u], phase[u]
        least_sent[:] = 0.0
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            b = group[succ[i]]
            if a == b:
                continue
            first = received[b] != u
            received[b] = u
            for k in range(K):
                if host[k]:
                    continue
                together = held[a] + held[b] <= memory[k]
                if not (allowed[b, k] and together):  # a on k sends
                    seconds = _transfer(u, k, True, allowed[b], staged, link_time, port, wire)
                    least_sent[k] = max(least_sent[k], seconds)
                if first and not (allowed[a, k] and together):  # b on k receives
                    seconds = _transfer(u, k, False, allowed[a], staged, link_time, port, wire)
                    receive[f, b, k] += seconds
        for k in range(K):
            send[f, a, k] += least_sent[k]


@njit(cache=True)
def _transfer(u, k, sends, others, staged, link_time, port, wire):  # type: ignore[no-untyped-def]
    """Least seconds that u's transfer costs on k, where the other end is one of `others`.

    0 where there is no other device left: the instance has no answer then.
    """
    if staged:
        return link_time[port[k], u]
    least = np.inf
    for j in range(len(others)):
        if j != k and others[j]:
            least = min(least, link_time[wire[k, j] if sends else wire[j, k], u])
    return least if least < np.inf else 0.0
