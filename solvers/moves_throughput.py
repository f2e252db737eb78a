"""A `throughput` mapping whose loads and memory follow single moves, for local search.

The sums are those of :mod:`problems.throughput`, kept by unit and net (see
:mod:`solvers.units_throughput`): a move costs the nets of one unit, not a pass over the graph. Sums
drift by rounding; :func:`fill` resets them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.by_reference import by_reference
from solvers.units_throughput import Problem


@by_reference
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
    wrong: np.ndarray  # (1,): units where they are not supported
    worst: np.ndarray  # (P,): device of the largest load, as of the last :func:`measure`


def blank(q: Problem) -> State:
    """A state without a mapping; set `device` and call :func:`fill`."""
    P, G, K = q.work.shape
    E, T = len(q.net_phase), len(q.shared_bytes)
    return State(
        np.zeros(G, np.int64), np.arange(K), np.zeros((P, K, 3)), np.zeros((E, K), np.int32),
        np.zeros(E, np.int64), np.zeros(E, np.int64), np.zeros(K), np.zeros((T, K), np.int32),
        np.zeros(1, np.int64), np.zeros(P, np.int64),
    )  # fmt: skip


# Numbers that are no literals: the compiler would make a version of a function for each of these.
PUT, TAKE = np.int64(1), np.int64(-1)


@njit(cache=True)
def fill(q, s):  # type: ignore[no-untyped-def]
    """All sums of a state from its `device`."""
    s.parts.fill(0.0)
    s.pins.fill(0)
    s.away.fill(0)
    s.held.fill(0.0)
    s.readers.fill(0)
    s.wrong[0] = 0
    device, pins, home = s.device, s.pins, s.home
    pin_ptr, pin_net, net_source = q.pin_ptr, q.pin_net, q.net_source
    for e in range(len(home)):
        home[e] = device[net_source[e]]
    for g in range(len(device)):
        k = device[g]
        _weigh(q, s, g, k, PUT)
        for i in range(pin_ptr[g], pin_ptr[g + 1]):
            e = pin_net[i]
            pins[e, k] += 1
            if pins[e, k] == 1 and k != home[e]:
                _reach(q, s, e, home[e], k, PUT)


@njit(cache=True)
def _weigh(q, s, g, k, sign):  # type: ignore[no-untyped-def]
    """Put what unit g itself takes on device k, or take it away."""
    work, parts, held = q.work, s.parts, s.held
    for p in range(work.shape[0]):
        parts[p, k, 0] += sign * work[p, g, k]
    held[k] += sign * q.bytes[g]
    s.wrong[0] += sign * q.barred[g, k]
    first, last = q.share_ptr[g], q.share_ptr[g + 1]
    if first == last:
        return
    share, shared_bytes, readers = q.share, q.shared_bytes, s.readers
    for i in range(first, last):
        w = share[i]
        if sign > 0:
            if readers[w, k] == 0:
                held[k] += shared_bytes[w]
            readers[w, k] += 1
        else:
            readers[w, k] -= 1
            if readers[w, k] == 0:
                held[k] -= shared_bytes[w]


@njit(cache=True)
def _reach(q, s, e, a, k, sign):  # type: ignore[no-untyped-def]
    """Device k starts (1) or ends (-1) to receive net e from another device a."""
    staged, host, port, net_time = q.staged, q.host, q.port, q.net_time
    away, parts, p = s.away, s.parts, q.net_phase[e]
    link = port[k] if staged else q.wire[a, k]
    if not host[k]:
        parts[p, k, 1] += sign * net_time[e, link]
    if not host[a]:
        if not staged:
            parts[p, a, 2] += sign * net_time[e, link]
        elif away[e] == (0 if sign > 0 else 1):
            parts[p, a, 2] += sign * net_time[e, port[a]]
    away[e] += sign


@njit(cache=True)
def move(q, s, g, b):  # type: ignore[no-untyped-def]
    """Move unit g to device b; returns the steps that took."""
    pins, home, away = s.pins, s.home, s.away
    a, K = s.device[g], pins.shape[1]
    s.device[g] = b
    _weigh(q, s, g, a, TAKE)
    _weigh(q, s, g, b, PUT)
    first, last = q.pin_ptr[g], q.pin_ptr[g + 1]
    received = last - first
    nets = q.pin_net
    for i in range(first, last):
        e = nets[i]
        h = home[e]
        pins[e, a] -= 1
        if pins[e, a] == 0 and a != h:
            _reach(q, s, e, h, a, TAKE)
        pins[e, b] += 1
        if pins[e, b] == 1 and b != h:
            _reach(q, s, e, h, b, PUT)
    first, last = q.source_ptr[g], q.source_ptr[g + 1]
    nets = q.source_net
    staged, host, port = q.staged, q.host, q.port
    net_time, net_phase, parts = q.net_time, q.net_phase, s.parts
    for i in range(first, last):
        e = nets[i]
        home[e] = b
        if staged:
            # Only the two devices' own shares change.
            p = net_phase[e]
            before, after = away[e], away[e]
            if pins[e, b] > 0:
                after -= 1
                if not host[b]:
                    parts[p, b, 1] -= net_time[e, port[b]]
            if pins[e, a] > 0:
                after += 1
                if not host[a]:
                    parts[p, a, 1] += net_time[e, port[a]]
            if before > 0 and not host[a]:
                parts[p, a, 2] -= net_time[e, port[a]]
            if after > 0 and not host[b]:
                parts[p, b, 2] += net_time[e, port[b]]
            away[e] = after
            continue
        for k in range(K):
            if pins[e, k] > 0:
                if k != a:
                    _reach(q, s, e, a, k, TAKE)
                if k != b:
                    _reach(q, s, e, b, k, PUT)
    return 8 + 4 * received + (2 * K + 4) * (last - first)


@njit(cache=True)
def revert(q, s, g, a):  # type: ignore[no-untyped-def]
    """Move unit g back to device a, its loads and bytes left behind: the caller kept them."""
    pins, home, away = s.pins, s.home, s.away
    b = s.device[g]
    s.device[g] = a
    nets = q.pin_net
    for i in range(q.pin_ptr[g], q.pin_ptr[g + 1]):
        e = nets[i]
        pins[e, b] -= 1
        if pins[e, b] == 0 and b != home[e]:
            away[e] -= 1
        pins[e, a] += 1
        if pins[e, a] == 1 and a != home[e]:
            away[e] += 1
    nets = q.source_net
    for i in range(q.source_ptr[g], q.source_ptr[g + 1]):
        e = nets[i]
        home[e] = a
        away[e] += (1 if pins[e, b] > 0 else 0) - (1 if pins[e, a] > 0 else 0)
    first, last = q.share_ptr[g], q.share_ptr[g + 1]
    if first < last:
        share, readers = q.share, s.readers
        for i in range(first, last):
            readers[share[i], b] -= 1
            readers[share[i], a] += 1


@njit(cache=True)
def measure(q, s, scale):  # type: ignore[no-untyped-def]
    """Energy and violation, both parts of `scale` seconds, and the period in seconds."""
    P, K = s.parts.shape[:2]
    parts, overlap, held, memory = s.parts, q.overlap, s.held, q.memory
    energy, period, broken = 0.0, 0.0, 1.0 * s.wrong[0]
    for p in range(P):
        most, norm = -1.0, 0.0
        for k in range(K):
            comp, into, out = parts[p, k, 0], parts[p, k, 1], parts[p, k, 2]
            if overlap == 0:
                load = comp + into + out
            elif overlap == 1:
                load = max(comp, into + out)
            else:
                load = max(comp, into, out)
            if load > most:
                most = load
                s.worst[p] = k
            x = min(load / scale, 1e15)
            x *= x
            x *= x
            x *= x
            norm += x * x
        period += most
        energy += norm**0.0625
    for k in range(K):
        if held[k] > memory[k]:
            broken += 0.02 + (held[k] - memory[k]) / max(memory[k], 1.0)
    return energy, broken, period


@njit(cache=True)
def span(q, s, g):  # type: ignore[no-untyped-def]
    """First and last rank where the chain lets unit g be."""
    rank, low = s.rank, 0
    high = len(rank) - 1
    if q.chain:
        device = s.device
        first, last = q.pred_ptr[g], q.pred_ptr[g + 1]
        units = q.pred
        for i in range(first, last):
            low = max(low, rank[device[units[i]]])
        first, last = q.succ_ptr[g], q.succ_ptr[g + 1]
        units = q.succ
        for i in range(first, last):
            high = min(high, rank[device[units[i]]])
    return low, high


@njit(cache=True)
def may(q, s, g, k):  # type: ignore[no-untyped-def]
    """Whether the chain lets unit g be on device k."""
    low, high = span(q, s, g)
    return low <= s.rank[k] <= high
