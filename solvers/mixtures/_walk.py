"""A walk over mappings whose energy is their weighted load, compiled.

The moves are those of :mod:`solvers.walk_throughput`, for which the load is the period: here it is
what the pricing minimises, a sum over engines. What the mixture holds already costs no memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers import rng as rng_
from solvers.by_reference import by_reference
from solvers.moves_throughput import fill
from solvers.proposals_throughput import exchange, propose, swap_ranks
from solvers.walk_throughput import (
    CHEAPEST,
    EXCHANGE,
    FALL,
    PRICE,
    RISE,
    keep,
    keep_loads,
    undo,
)

REFRESH = 1024
"""Moves after which the sums are made afresh and the price of a violation changes."""


@by_reference
class Costs(NamedTuple):
    """What a mapping is priced by.

    Attributes
    ----------
    weight : float64 array, shape (K, 3)
        Of a second of computing, receiving and sending.
    credit : float64 array, shape (U, K)
        Bytes of a unit that the device holds anyway.
    spent : float64 array, shape (K,)
        Bytes that it holds anyway.
    kept : bool array, shape (T, K)
        Shared weights that it holds anyway.
    """

    weight: np.ndarray
    credit: np.ndarray
    spent: np.ndarray
    kept: np.ndarray


@njit(cache=True)
def judge(q, c, s):  # type: ignore[no-untyped-def]
    """Weighted load in seconds, and violation, of a filled state."""
    weight, parts, device = c.weight, s.parts, s.device
    credit, spent, kept = c.credit, c.spent, c.kept
    held, memory, readers, shared_bytes = s.held, q.memory, s.readers, q.shared_bytes
    K = len(memory)
    load, broken = 0.0, 1.0 * s.wrong[0]
    for k in range(K):
        for i in range(3):
            load += weight[k, i] * parts[0, k, i]
    for k in range(K):
        use = spent[k] + held[k]
        if use <= memory[k]:
            continue
        if spent[k] > 0.0:
            for g in range(len(device)):
                if device[g] == k:
                    use -= credit[g, k]
            for w in range(len(shared_bytes)):
                if kept[w, k] and readers[w, k] > 0:
                    use -= shared_bytes[w]
        if use > memory[k]:
            broken += 0.02 + (use - memory[k]) / max(memory[k], 1.0)
    return load, broken


@njit(cache=True)
def begin(q, c, w, device, rank):  # type: ignore[no-untyped-def]
    """Start from a mapping of units, shape (U,), and forget the best one so far."""
    s, real, energy = w.state, w.real, w.energy
    for g in range(len(device)):
        s.device[g] = device[g]
    for k in range(len(rank)):
        s.rank[k] = rank[k]
        w.at[rank[k]] = k
    fill(q, s)
    load, broken = judge(q, c, s)
    real[0], real[1] = load if load > 0.0 else 1.0, PRICE
    energy[0] = load + real[0] * real[1] * broken
    energy[1] = np.inf
    w.best[0] = -1
    if broken == 0.0:
        keep(w, load)


@njit(cache=True)
def anneal(q, c, w, first, moves, hot, cooling):  # type: ignore[no-untyped-def]
    """Try moves first..first+moves-1; the temperature is hot * cooling**move, in seconds."""
    s, stream, energy, real = w.state, w.stream, w.energy, w.real
    K = s.parts.shape[1]
    swaps = min(EXCHANGE, 2.0 / len(s.device))
    for i in range(first, first + moves):
        heat = hot * cooling**i
        if i % REFRESH == 0:
            fill(q, s)
            load, broken = judge(q, c, s)
            real[1] = max(real[1] * (RISE if broken > 0.0 else FALL), CHEAPEST)
            energy[0] = load + real[0] * real[1] * broken
        keep_loads(w, False)
        wrong = s.wrong[0]
        s.worst[0] = rng_.below(stream, K)  # no device is the one to relieve
        a = b = 0
        if rng_.uniform(stream) < swaps:
            a, b = rng_.below(stream, K), rng_.below(stream, K)
            count = exchange(q, w, a, b) if a != b else 0
        else:
            count = propose(q, w)
        if count == 0:
            continue
        load, broken = judge(q, c, s)
        value = load + real[0] * real[1] * broken
        rise = value - energy[0]
        if rise <= 0.0 or rng_.uniform(stream) < np.exp(-rise / (heat + 1e-300)):
            energy[0] = value
            if broken == 0.0 and load < energy[1]:
                keep(w, load)
            continue
        undo(q, w, count)
        keep_loads(w, True)
        s.wrong[0] = wrong
        if a != b:
            swap_ranks(w, a, b)
