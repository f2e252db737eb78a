"""Annealing moves for `throughput`, evaluated by what they change, compiled.

Free: one unit, two units swapped, a run of units. Contiguous: a unit with all that follows it on
its device to a later one, or with all that precedes it to an earlier one (both keep the chain),
the two together, one unit alone. Both: two devices exchanged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.shared import rng as rng_
from heuristics.shared import state as state_
from heuristics.shared.space import Space
from heuristics.shared.state import State

# What the mean load weighs beside the largest one: moves that leave the largest load alone still
# get a direction.
MEAN = 0.05


class Search(NamedTuple):
    """The state of one annealing run; a kernel call goes on where the last one left.

    Attributes
    ----------
    state : State
    stream : uint64 array, shape (1,)
        See :mod:`heuristics.shared.rng`.
    energy : float64 array, shape (2,)
        Energy of the placement and period of the best one, in seconds.
    best : int64 array, shape (U,)
        The best placement.
    touched, old : int64 arrays, shape (U,)
        Log of the move at hand.
    mark : int64 array, shape (U + 1,)
        Scratch; the last entry counts.
    position : int64 array, shape (K,)
        Place of each device in the chain (contiguous).
    """

    state: State
    stream: np.ndarray
    energy: np.ndarray
    best: np.ndarray
    touched: np.ndarray
    old: np.ndarray
    mark: np.ndarray
    position: np.ndarray


def search(space: Space, stream: np.ndarray) -> Search:
    """A run without a placement; :func:`restart` gives it one."""
    U, K = space.unit_time.shape
    return Search(
        state_.empty(space),
        stream,
        np.full(2, np.inf),
        np.full(U, -1, np.int64),
        np.empty(U, np.int64),
        np.empty(U, np.int64),
        np.zeros(U + 1, np.int64),
        np.arange(K),
    )


@njit(cache=True)
def restart(space, run, place):  # type: ignore[no-untyped-def]
    """Go on from a valid placement, shape (U,)."""
    state_.set_all(space, run.state, place)
    if space.contiguous:
        state_.chain(run.state, run.position)
    run.energy[0] = energy(space, run.state)
    value = state_.period(space, run.state)
    if value < run.energy[1]:
        run.energy[1] = value
        run.best[:] = place


@njit(cache=True)
def energy(space, state):  # type: ignore[no-untyped-def]
    """What annealing minimises, in seconds: the period and a little of the mean load."""
    period, total = state_.objectives(space, state)
    return period + MEAN * total / len(state.use)


@njit(cache=True)
def anneal(space, run, first, moves, hot, cooling, step):  # type: ignore[no-untyped-def]
    """Try moves first..first+moves-1 of a round; the temperature is hot * cooling**(move // step).

    The clock is not looked at: the caller cuts a round into calls, which changes nothing else.
    """
    state, stream = run.state, run.stream
    saved = np.empty_like(state.parts)
    heat = hot * cooling ** (first // step)
    for i in range(first, first + moves):
        if i % step == 0:
            heat = hot * cooling ** (i // step)
        saved[:] = state.parts
        count = propose(space, run)
        if count == 0:
            continue
        accepted = state_.fits(space, state)
        if accepted and space.contiguous:
            accepted = state_.chain(state, run.position)
        if accepted:
            now, total = state_.objectives(space, state)
            value = now + MEAN * total / len(state.use)
            rise = value - run.energy[0]
            accepted = rise <= 0 or rng_.uniform(stream) < np.exp(-rise / heat)
        if not accepted:
            undo(space, run, count)
            state.parts[:] = saved  # exactly as before: rounding cannot add up over rejections
            continue
        run.energy[0] = value
        if now < run.energy[1] * (1 - 1e-9):
            run.energy[1] = now
            run.best[:] = state.place


@njit(cache=True)
def undo(space, run, count):  # type: ignore[no-untyped-def]
    """Take back the move at hand; the loads keep rounding errors."""
    for i in range(count - 1, -1, -1):
        state_.move(space, run.state, run.touched[i], run.old[i])
    if space.contiguous:
        state_.chain(run.state, run.position)


@njit(cache=True)
def propose(space, run):  # type: ignore[no-untyped-def]
    """Make one random move; returns how many units it touched, 0 for none."""
    stream, state = run.stream, run.state
    U, K = space.unit_time.shape
    if K == 1:
        return 0
    if rng_.uniform(stream) < min(0.02, 2.0 / U):
        return _exchange(space, run)
    g = rng_.below(stream, U)
    draw = rng_.uniform(stream)
    if space.contiguous:
        cap = 1 << rng_.below(stream, 2 + int(np.log2(U)))
        if draw < 0.2:
            return _put(space, run, 0, g, _target(space, run, g))
        forward = rng_.uniform(stream) < 0.5
        to = _neighbour(run, state.place[g], forward)
        if rng_.uniform(stream) < 0.1:
            to = rng_.below(stream, K)
        if to < 0 or to == state.place[g]:
            return 0
        if draw < 0.7:
            return _closure(space, run, 0, g, to, forward, cap)
        h = rng_.below(stream, U)
        if state.place[h] != to:
            return 0
        back = state.place[g]
        count = _closure(space, run, 0, g, to, forward, cap)
        if count == 0:
            return 0
        # h's closure is taken as if g's had not moved: what came with g stays.
        return _closure(space, run, count, h, back, not forward, cap)
    if draw < 0.5:
        return _put(space, run, 0, g, _target(space, run, g))
    if draw < 0.75:
        h = rng_.below(stream, U)
        a, b = state.place[g], state.place[h]
        if a == b:
            return 0
        count = _put(space, run, 0, g, b)
        if count == 0:
            return 0
        return _put(space, run, count, h, a)
    length = 2 << rng_.below(stream, 1 + int(np.log2(U)) // 2)
    k, to = state.place[g], _target(space, run, g)
    count = 0
    for h in range(g, min(g + length, U)):
        if state.place[h] == k:
            count = _put(space, run, count, h, to)
    return count


@njit(cache=True)
def _put(space, run, count, g, to):  # type: ignore[no-untyped-def]
    """Move one unit and log it, if its device changes and supports it."""
    k = run.state.place[g]
    if k == to or space.unit_time[g, to] == np.inf:
        return count
    run.touched[count], run.old[count] = g, k
    state_.move(space, run.state, g, to)
    return count + 1


@njit(cache=True)
def _target(space, run, g):  # type: ignore[no-untyped-def]
    """A device for unit g: as often where a neighbour is as anywhere."""
    if rng_.uniform(run.stream) < 0.5:
        first, last = space.unit_ptr[g], space.unit_ptr[g + 1]
        v = space.unit_node[first + rng_.below(run.stream, last - first)]
        ins = space.pred_ptr[v + 1] - space.pred_ptr[v]
        outs = space.succ_ptr[v + 1] - space.succ_ptr[v]
        if ins + outs > 0:
            i = rng_.below(run.stream, ins + outs)
            if i < ins:
                return run.state.device[space.pred[space.pred_ptr[v] + i]]
            return run.state.device[space.succ[space.succ_ptr[v] + i - ins]]
    return rng_.below(run.stream, space.time.shape[1])


@njit(cache=True)
def _neighbour(run, k, forward):  # type: ignore[no-untyped-def]
    """The device next to k in the chain; -1 beyond its ends."""
    wanted = run.position[k] + (1 if forward else -1)
    for j in range(len(run.position)):
        if run.position[j] == wanted:
            return j
    return -1


@njit(cache=True)
def _closure(space, run, count, g, to, forward, cap):  # type: ignore[no-untyped-def]
    """Move g with all that follows (precedes) it on its device; nothing beyond `cap` units.

    Units that the move at hand has touched already stay where they are. With more than `cap`
    units, or one that `to` does not support, g's closure is left alone.
    """
    state = run.state
    k, begin = state.place[g], count
    if forward:
        ptr, other = space.after_ptr, space.after
    else:
        ptr, other = space.before_ptr, space.before
    run.mark[-1] += 1
    stamp = run.mark[-1]
    for i in range(begin):
        run.mark[run.touched[i]] = stamp
    if run.mark[g] == stamp:
        return count
    run.mark[g] = stamp
    run.touched[count] = g
    count += 1
    i = begin
    while i < count:
        h = run.touched[i]
        if count - begin > cap or space.unit_time[h, to] == np.inf:
            return begin
        for j in range(ptr[h], ptr[h + 1]):
            if state.place[other[j]] == k and run.mark[other[j]] != stamp:
                run.mark[other[j]] = stamp
                run.touched[count] = other[j]
                count += 1
        i += 1
    for i in range(begin, count):
        run.old[i] = k
        state_.move(space, state, run.touched[i], to)
    return count


@njit(cache=True)
def _exchange(space, run):  # type: ignore[no-untyped-def]
    """Exchange two devices as a whole."""
    state, (U, K) = run.state, space.unit_time.shape
    a = rng_.below(run.stream, K)
    b = rng_.below(run.stream, K)
    if a == b:
        return 0
    for g in range(U):
        if state.place[g] == a and space.unit_time[g, b] == np.inf:
            return 0
        if state.place[g] == b and space.unit_time[g, a] == np.inf:
            return 0
    count = 0
    for g in range(U):
        if state.place[g] == a:
            count = _put(space, run, count, g, b)
        elif state.place[g] == b:
            count = _put(space, run, count, g, a)
    return count
