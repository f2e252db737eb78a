"""Problem `throughput`: the period of a pipeline, that is, the largest device load.

The one definition of the objective; solvers, heuristics, harness and page all use it. The formulas
are those of Tarnawski et al. 2020 (arXiv 2006.16423), extended to direct links, overlap modes and
several hosts. The rules are in :mod:`problems.rules`; the judge is :mod:`problems.checker`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from problems.instance import Instance
from problems.placement import is_placeable
from problems.rules import ThroughputRules

COMPUTE, RECEIVE, SEND = 0, 1, 2


def rules_of(instance: Instance) -> ThroughputRules:
    """The rules of a throughput instance.

    Raises
    ------
    ValueError
        If it is an instance of another problem.
    """
    if not isinstance(instance.rules, ThroughputRules):
        raise ValueError(f"{instance.id} is a {instance.problem} instance, not throughput")
    return instance.rules


def parts(instance: Instance, device: np.ndarray) -> np.ndarray:
    """Seconds a sample that each device computes, receives and sends.

    Parameters
    ----------
    device : int array, shape (n,), values in 0..K-1
        Device of every node.

    Returns
    -------
    float64 array, shape (2, K, 3)
        Phase (forward, backward; a transfer belongs to its producer's) x device x
        (:data:`COMPUTE`, :data:`RECEIVE`, :data:`SEND`).
    """
    result: np.ndarray = _parts(
        np.ascontiguousarray(device, np.int64),
        instance.time,
        instance.phase,
        instance.succ_ptr,
        instance.succ,
        instance.host,
        instance.staged,
        instance.link_time,
        instance.port,
        instance.wire,
    )
    return result


def loads(instance: Instance, device: np.ndarray) -> np.ndarray:
    """Load of each device in seconds a sample, shape (P, K).

    P = 2 (forward, backward) under `split_phases`, else 1.
    """
    rules = rules_of(instance)
    each = parts(instance, device)
    if not rules.split_phases:
        each = each.sum(axis=0, keepdims=True)
    comp, receive, send = each[..., COMPUTE], each[..., RECEIVE], each[..., SEND]
    result: np.ndarray
    if rules.overlap == "none":
        result = comp + receive + send
    elif rules.overlap == "half":
        result = np.maximum(comp, receive + send)
    else:
        result = np.maximum(comp, np.maximum(receive, send))
    return result


def period(instance: Instance, device: np.ndarray) -> float:
    """Objective of a mapping in seconds a sample; inf where a node is not supported."""
    return float(loads(instance, device).max(axis=1).sum())


def is_valid(instance: Instance, device: np.ndarray) -> bool:
    """Whether a mapping of shape (n,) into 0..K-1 keeps every rule of the instance."""
    if not is_placeable(instance, device):
        return False
    return not rules_of(instance).contiguous or is_contiguous(instance, device)


def order_edges(instance: Instance) -> np.ndarray:
    """Pairs (u, v), shape (., 2), such that u's device may not come after v's in a chain.

    Forward edges as they are. A colocation group without forward nodes takes part through a
    stand-in, and a backward edge u -> v that touches such a group gives (v, u); all other backward
    nodes follow their group.
    """
    u, v = instance.edges[:, 0], instance.edges[:, 1]
    phase, group = instance.phase, instance.group
    has_forward = np.zeros(int(group.max()) + 1, bool)
    has_forward[group[phase == 0]] = True
    forward = (phase[u] == 0) & (phase[v] == 0)
    backward = (phase[u] == 1) & (phase[v] == 1) & ~(has_forward[group[u]] & has_forward[group[v]])
    return np.concatenate([instance.edges[forward], instance.edges[backward][:, ::-1]])


def is_contiguous(instance: Instance, device: np.ndarray) -> bool:
    """Whether the devices can be ordered so that :func:`order_edges` only go forward."""
    return chain(instance, device) is not None


def chain(instance: Instance, device: np.ndarray) -> list[int] | None:
    """An order of all devices in which :func:`order_edges` only go forward; None without one."""
    K = instance.K
    pairs = device[order_edges(instance)]
    follows = np.zeros((K, K), bool)
    follows[pairs[:, 0], pairs[:, 1]] = True
    np.fill_diagonal(follows, False)
    order: list[int] = []
    left = np.ones(K, bool)
    for _ in range(K):
        free = np.flatnonzero(left & ~follows[left].any(axis=0))
        if not len(free):
            return None
        order.append(int(free[0]))
        left[free[0]] = False
    return order


@njit(cache=True)
def _parts(device, time, phase, succ_ptr, succ, host, staged, link_time, port, wire):  # type: ignore[no-untyped-def]
    n, K = time.shape
    result = np.zeros((2, K, 3))
    seen = np.full(K, -1, np.int64)
    for u in range(n):
        k, f = device[u], phase[u]
        result[f, k, COMPUTE] += time[u, k]
        seen[k] = u
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            to = device[succ[i]]
            if seen[to] == u:
                continue
            seen[to] = u
            if staged:
                if not host[to]:
                    result[f, to, RECEIVE] += link_time[port[to], u]
            else:
                if not host[to]:
                    result[f, to, RECEIVE] += link_time[wire[k, to], u]
                if not host[k]:
                    result[f, k, SEND] += link_time[wire[k, to], u]
        if staged and not host[k]:
            for i in range(succ_ptr[u], succ_ptr[u + 1]):
                if device[succ[i]] != k:
                    result[f, k, SEND] += link_time[port[k], u]
                    break
    return result
