"""A `throughput` mapping whose loads and memory follow single moves, for local search.

The sums are those of :mod:`problems.throughput`, kept by colocation group and net: a move costs
the nets of one group, not a pass over the graph. They drift by rounding; :func:`fill` resets them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numba import njit

from problems import throughput
from problems.instance import Instance
from solvers.formulations._contract import contract

OVERLAP = {"none": 0, "half": 1, "full": 2}


class Problem(NamedTuple):
    """G groups, E nets, P phases, K devices, as in :mod:`_contract`, and lists by group."""

    work: np.ndarray  # (P, G, K)
    barred: np.ndarray  # (G, K): not supported
    host: np.ndarray  # (K,)
    staged: bool
    port: np.ndarray  # (K,)
    wire: np.ndarray  # (K, K)
    net_time: np.ndarray  # (L, E)
    net_phase: np.ndarray  # (E,)
    source_ptr: np.ndarray  # nets that a group sends
    source_net: np.ndarray
    pin_ptr: np.ndarray  # nets that a group receives
    pin_net: np.ndarray
    share_ptr: np.ndarray  # shared weights that a group reads
    share: np.ndarray
    shared_bytes: np.ndarray
    bytes: np.ndarray
    memory: np.ndarray
    pred_ptr: np.ndarray  # neighbours in the order of the chain; empty lists without one
    pred: np.ndarray
    succ_ptr: np.ndarray
    succ: np.ndarray
    overlap: int
    chain: bool


class State(NamedTuple):
    """A mapping and its sums; see :func:`fill`."""

    device: np.ndarray  # (G,)
    rank: np.ndarray  # (K,): place of each device in the chain
    parts: np.ndarray  # (P, K, 3): compute, receive, send
    pins: np.ndarray  # (E, K): pins of a net on a device
    away: np.ndarray  # (E,): devices with pins other than the source's
    home: np.ndarray  # (E,): device of the source
    held: np.ndarray  # (K,): bytes
    readers: np.ndarray  # (T, K)
    wrong: np.ndarray  # (1,): groups where they are not supported


def problem_of(instance: Instance, units: np.ndarray) -> Problem:
    """The arrays of an instance whose nodes move as `units`, numbers 0..U-1, shape (n,)."""
    rules = throughput.rules_of(instance)
    c = contract(replace(instance, group=units))
    G, finite = int(units.max()) + 1, np.isfinite(instance.time)
    supported = np.ones((G, instance.K), bool)
    np.logical_and.at(supported, units, finite)
    order = np.zeros((0, 2), np.int64)
    if rules.contiguous:
        # By the instance's own groups: units that tie several together would order otherwise.
        order = units[throughput.order_edges(instance)]
        order = np.unique(order[order[:, 0] != order[:, 1]], axis=0).reshape(-1, 2)
    return Problem(
        c.work, ~supported, instance.host, instance.staged, instance.port, instance.wire,
        c.net_time, c.net_phase, *_lists(c.net_group, np.arange(len(c.net_group)), G),
        *_lists(c.pin_group, c.pin_net, G), *_lists(c.reader_group, c.reader_weight, G),
        c.shared_bytes, c.bytes, instance.memory, *_lists(order[:, 1], order[:, 0], G),
        *_lists(order[:, 0], order[:, 1], G), OVERLAP[rules.overlap], bool(rules.contiguous),
    )  # fmt: skip


def _lists(key: np.ndarray, value: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """``value[ptr[g]:ptr[g + 1]]``: the values whose key is g."""
    ptr = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=count))]).astype(np.int64)
    return ptr, np.ascontiguousarray(value[np.argsort(key, kind="stable")], np.int64)


@njit(cache=True)
def fill(q, s):  # type: ignore[no-untyped-def]
    """All sums of a state from its `device`."""
    s.parts[:] = 0.0
    s.pins[:] = 0
    s.away[:] = 0
    s.held[:] = 0.0
    s.readers[:] = 0
    s.wrong[0] = 0
    G = s.device.shape[0]
    for g in range(G):
        for i in range(q.source_ptr[g], q.source_ptr[g + 1]):
            s.home[q.source_net[i]] = s.device[g]
    for g in range(G):
        k = s.device[g]
        _weigh(q, s, g, k, 1)
        for i in range(q.pin_ptr[g], q.pin_ptr[g + 1]):
            _pin(q, s, q.pin_net[i], k)


@njit(cache=True)
def _weigh(q, s, g, k, sign):  # type: ignore[no-untyped-def]
    """Put what group g itself takes on device k, or take it away."""
    for p in range(q.work.shape[0]):
        s.parts[p, k, 0] += sign * q.work[p, g, k]
    s.held[k] += sign * q.bytes[g]
    s.wrong[0] += sign * q.barred[g, k]
    for i in range(q.share_ptr[g], q.share_ptr[g + 1]):
        w = q.share[i]
        if sign > 0:
            if s.readers[w, k] == 0:
                s.held[k] += q.shared_bytes[w]
            s.readers[w, k] += 1
        else:
            s.readers[w, k] -= 1
            if s.readers[w, k] == 0:
                s.held[k] -= q.shared_bytes[w]


@njit(cache=True)
def _reach(q, s, e, k, sign):  # type: ignore[no-untyped-def]
    """Device k, not the source's, starts (1) or ends (-1) to receive net e."""
    p, a = q.net_phase[e], s.home[e]
    link = q.port[k] if q.staged else q.wire[a, k]
    if not q.host[k]:
        s.parts[p, k, 1] += sign * q.net_time[link, e]
    if not q.host[a]:
        if not q.staged:
            s.parts[p, a, 2] += sign * q.net_time[link, e]
        elif s.away[e] == (0 if sign > 0 else 1):
            s.parts[p, a, 2] += sign * q.net_time[q.port[a], e]
    s.away[e] += sign


@njit(cache=True)
def _pin(q, s, e, k):  # type: ignore[no-untyped-def]
    s.pins[e, k] += 1
    if s.pins[e, k] == 1 and k != s.home[e]:
        _reach(q, s, e, k, 1)


@njit(cache=True)
def move(q, s, g, b):  # type: ignore[no-untyped-def]
    """Move group g to device b; returns the steps that took."""
    a = s.device[g]
    K = s.rank.shape[0]
    s.device[g] = b
    _weigh(q, s, g, a, -1)
    _weigh(q, s, g, b, 1)
    for i in range(q.pin_ptr[g], q.pin_ptr[g + 1]):
        e = q.pin_net[i]
        s.pins[e, a] -= 1
        if s.pins[e, a] == 0 and a != s.home[e]:
            _reach(q, s, e, a, -1)
        _pin(q, s, e, b)
    for i in range(q.source_ptr[g], q.source_ptr[g + 1]):
        e = q.source_net[i]
        for k in range(K):
            if k != a and s.pins[e, k] > 0:
                _reach(q, s, e, k, -1)
        s.home[e] = b
        for k in range(K):
            if k != b and s.pins[e, k] > 0:
                _reach(q, s, e, k, 1)
    sent = q.source_ptr[g + 1] - q.source_ptr[g]
    return 8 + 4 * (q.pin_ptr[g + 1] - q.pin_ptr[g]) + (2 * K + 4) * sent


@njit(cache=True)
def measure(q, s, scale):  # type: ignore[no-untyped-def]
    """Energy and violation, both relative, and the period in seconds."""
    P, K = s.parts.shape[:2]
    energy, period, broken = 0.0, 0.0, 1.0 * s.wrong[0]
    for p in range(P):
        most, norm = 0.0, 0.0
        for k in range(K):
            comp, into, out = s.parts[p, k, 0], s.parts[p, k, 1], s.parts[p, k, 2]
            if q.overlap == 0:
                load = comp + into + out
            elif q.overlap == 1:
                load = max(comp, into + out)
            else:
                load = max(comp, into, out)
            most = max(most, load)
            x = min(load / scale, 1e15)
            x *= x
            x *= x
            x *= x
            norm += x * x
        period += most
        energy += norm**0.0625
    for k in range(K):
        if s.held[k] > q.memory[k]:
            broken += 0.02 + (s.held[k] - q.memory[k]) / max(q.memory[k], 1.0)
    return energy, broken, period


@njit(cache=True)
def exchange(q, s, a, b):  # type: ignore[no-untyped-def]
    """Devices a and b exchange all that they hold, and their ranks."""
    steps = s.device.shape[0]
    for g in range(s.device.shape[0]):
        if s.device[g] == a:
            steps += move(q, s, g, b)
        elif s.device[g] == b:
            steps += move(q, s, g, a)
    s.rank[a], s.rank[b] = s.rank[b], s.rank[a]
    return steps


@njit(cache=True)
def span(q, s, g):  # type: ignore[no-untyped-def]
    """First and last rank where the chain lets group g be."""
    low, high = 0, s.rank.shape[0] - 1
    if q.chain:
        for i in range(q.pred_ptr[g], q.pred_ptr[g + 1]):
            low = max(low, s.rank[s.device[q.pred[i]]])
        for i in range(q.succ_ptr[g], q.succ_ptr[g + 1]):
            high = min(high, s.rank[s.device[q.succ[i]]])
    return low, high


@njit(cache=True)
def may(q, s, g, k):  # type: ignore[no-untyped-def]
    """Whether the chain lets group g be on device k."""
    low, high = span(q, s, g)
    return low <= s.rank[k] <= high
