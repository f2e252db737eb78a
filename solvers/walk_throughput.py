"""A walk over `throughput` mappings: simulated annealing whose moves keep the chain, compiled.

The energy is a high norm of the loads: the period nearly, but it also falls when one of several
full devices is relieved. Support and memory may be violated at a price that rises while they are
and falls while they are not, so that the walk can cross what is full.

Moves: one unit; two units that change places; a run of units as they are numbered; free: a
connected cluster; along a chain, where devices have ranks: a unit with all that must follow it to a
later device, or with all that must precede it to an earlier one, and such a set the other way in
return; two devices that exchange all they hold, and their ranks. Half of the units are drawn from
the device with the largest load.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers import rng as rng_
from solvers.by_reference import by_reference
from solvers.moves_throughput import State, blank, fill, measure, revert
from solvers.proposals_throughput import exchange, propose, swap_ranks
from solvers.units_throughput import Problem

REFRESH = 4096
"""Moves after which the sums are made afresh and the price changes."""
PRICE = 5.0
"""First price of a violation; see :func:`measure` for what is counted."""
RISE, FALL, CHEAPEST = 1.2, 0.95, 0.5
EXCHANGE = 0.005
"""Share of moves in which two devices exchange all they hold."""


@by_reference
class Walk(NamedTuple):
    """A walk; every call of :func:`anneal` goes on where the last one left.

    Attributes
    ----------
    state : State
    stream : uint64 array, shape (1,)
        See :mod:`solvers.rng`.
    energy : float64 array, shape (2,)
        Energy of the placement and period of the best valid one, in seconds.
    best : int64 array, shape (G,)
        The best valid placement.
    real : float64 array, shape (2,)
        Scale of the energy in seconds; price of a violation.
    counter : int64 array, shape (2,)
        Moves tried, and the last mark given.
    touched, old : int64 arrays, shape (2 G,)
        Log of the move at hand.
    mark : int64 array, shape (G,)
    at : int64 array, shape (K,)
        Device at each rank.
    parts, held : float64 arrays
        Loads and bytes before the move at hand.
    """

    state: State
    stream: np.ndarray
    energy: np.ndarray
    best: np.ndarray
    real: np.ndarray
    counter: np.ndarray
    touched: np.ndarray
    old: np.ndarray
    mark: np.ndarray
    at: np.ndarray
    parts: np.ndarray
    held: np.ndarray


def walk(q: Problem, stream: np.ndarray) -> Walk:
    """A walk without a placement; :func:`restart` gives it one."""
    s = blank(q)
    G, K = q.barred.shape
    return Walk(
        s, stream, np.full(2, np.inf), np.full(G, -1, np.int64), np.array([1.0, PRICE]),
        np.zeros(2, np.int64), np.empty(2 * G, np.int64), np.empty(2 * G, np.int64),
        np.zeros(G, np.int64), np.arange(K), np.empty_like(s.parts), np.empty(K),
    )  # fmt: skip


def restart(q: Problem, w: Walk, device: np.ndarray, rank: np.ndarray) -> None:
    """Go on from a placement of units that keeps the chain by `rank`, shape (K,), if nothing else.

    The best answer stays.
    """
    w.state.device[:] = device
    w.state.rank[:] = rank
    w.at[rank] = np.arange(len(rank))
    w.real[1] = PRICE
    _settle(q, w)


@njit(cache=True)
def _settle(q, w):  # type: ignore[no-untyped-def]
    """Sums, scale and energy of a placement; it counts if it is the best one."""
    fill(q, w.state)
    _rescale(q, w)
    _, broken, period = measure(q, w.state, w.real[0])
    if broken == 0.0:
        keep(w, period)


@njit(cache=True)
def keep(w, period):  # type: ignore[no-untyped-def]
    """Note the placement as the best one, if its period is less."""
    energy, best, device = w.energy, w.best, w.state.device
    if period < energy[1] * (1 - 1e-9) or energy[1] == np.inf:
        energy[1] = period
        for g in range(len(device)):
            best[g] = device[g]


@njit(cache=True)
def keep_loads(w, back):  # type: ignore[no-untyped-def]
    """Note loads and bytes before a move, or take them `back`."""
    # Loops: an assignment of slices compiles what it would say if shapes differed.
    s = w.state
    parts, kept, held, kept_held = s.parts, w.parts, s.held, w.held
    if back:
        parts, kept, held, kept_held = kept, parts, kept_held, held
    for k in range(len(held)):
        kept_held[k] = held[k]
        for p in range(len(parts)):
            for i in range(3):
                kept[p, k, i] = parts[p, k, i]


@njit(cache=True)
def _rescale(q, w):  # type: ignore[no-untyped-def]
    """Measure the energy in parts of the period, which keeps the norm in range."""
    period = measure(q, w.state, 1.0)[2]
    w.real[0] = period if period > 0.0 else 1.0
    energy, broken, _ = measure(q, w.state, w.real[0])
    w.energy[0] = w.real[0] * (energy + w.real[1] * broken)


@njit(cache=True)
def anneal(q, w, first, moves, hot, cooling, step):  # type: ignore[no-untyped-def]
    """Try moves first..first+moves-1 of a round; the temperature is hot * cooling**(move // step).

    Temperatures are in seconds. The clock is not looked at: the caller cuts a round into calls,
    which changes nothing else. Returns the steps (a net or a device looked at) that it took.
    """
    s, stream, energy_, real, counter = w.state, w.stream, w.energy, w.real, w.counter
    P, K = s.parts.shape[:2]
    steps = 0
    if K == 1:
        return moves
    swaps = min(EXCHANGE, 2.0 / len(s.device))
    heat = hot * cooling ** (first // step)
    for i in range(first, first + moves):
        if i % step == 0:
            heat = hot * cooling ** (i // step)
        counter[0] += 1
        if counter[0] % REFRESH == 0:
            fill(q, s)
            steps += 4 * len(s.device)
            broken = measure(q, s, real[0])[1]
            real[1] = max(real[1] * (RISE if broken > 0.0 else FALL), CHEAPEST)
            _rescale(q, w)
        steps += 6 * P * K
        keep_loads(w, False)
        wrong = s.wrong[0]
        a = b = 0
        if rng_.uniform(stream) < swaps:
            a, b = rng_.below(stream, K), rng_.below(stream, K)
            count = exchange(q, w, a, b) if a != b else 0
        else:
            count = propose(q, w)
        if count == 0:
            continue
        steps += 12 * count
        energy, broken, period = measure(q, s, real[0])
        value = real[0] * (energy + real[1] * broken)
        rise = value - energy_[0]
        if rise <= 0.0 or rng_.uniform(stream) < np.exp(-rise / (heat + 1e-300)):
            energy_[0] = value
            if broken == 0.0 and period < energy_[1]:
                keep(w, period)
            continue
        undo(q, w, count)
        keep_loads(w, True)
        s.wrong[0] = wrong
        if a != b:
            swap_ranks(w, a, b)
    return steps


@njit(cache=True)
def undo(q, w, count):  # type: ignore[no-untyped-def]
    """Take back the move at hand, all but the loads and bytes."""
    for j in range(count - 1, -1, -1):
        revert(q, w.state, w.touched[j], w.old[j])
