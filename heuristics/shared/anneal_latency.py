"""Annealing moves for `latency` over a mapping and one topological sequence, compiled.

Every device runs its nodes as they follow in the sequence. A move changes the device of a unit, of
two units or of a run of the sequence, or the place of a node in the sequence, or both; times are
computed again from the first place that changed, and only until the move is known to be refused.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.shared import rng as rng_
from heuristics.shared import state as state_
from heuristics.shared.space import Space
from heuristics.shared.state import State


class Search(NamedTuple):
    """The state of one annealing run; a kernel call goes on where the last one left.

    Attributes
    ----------
    state : State
        Units, memory; loads are not kept.
    stream : uint64 array, shape (1,)
    value : float64 array, shape (2,)
        Makespan of the walk and of the best answer, seconds.
    device, sequence, place : int64 arrays, shape (n,)
        Device of every node; all nodes in order; where each stands in it.
    start, latest : float64 arrays, shape (n,)
        Start of every node; latest finish up to each place of the sequence.
    tail : float64 array, shape (n,)
        Least seconds from the finish of a node to the end.
    best_device, best_sequence : int64 arrays, shape (n,)
    old_start, old_latest : float64 arrays, shape (n,)
        What a refused move brings back, by place.
    touched, old : int64 arrays, shape (U,)
        Units that the move at hand took elsewhere, and from where.
    """

    state: State
    stream: np.ndarray
    value: np.ndarray
    device: np.ndarray
    sequence: np.ndarray
    place: np.ndarray
    start: np.ndarray
    latest: np.ndarray
    tail: np.ndarray
    best_device: np.ndarray
    best_sequence: np.ndarray
    old_start: np.ndarray
    old_latest: np.ndarray
    touched: np.ndarray
    old: np.ndarray


def search(space: Space, stream: np.ndarray) -> Search:
    """A run without an answer; :func:`restart` gives it one."""
    n, U = len(space.unit), len(space.unit_bytes)
    whole = [np.zeros(n, np.int64) for _ in range(5)]
    real = [np.zeros(n) for _ in range(4)]
    tail = _tails(space.time, space.succ_ptr, space.succ)
    return Search(
        state=state_.empty(space),
        stream=stream,
        value=np.full(2, np.inf),
        device=whole[0],
        sequence=whole[1],
        place=whole[2],
        start=real[0],
        latest=real[1],
        tail=tail,
        best_device=whole[3],
        best_sequence=whole[4],
        old_start=real[2],
        old_latest=real[3],
        touched=np.zeros(U, np.int64),
        old=np.zeros(U, np.int64),
    )


@njit(cache=True)
def _tails(time, succ_ptr, succ):  # type: ignore[no-untyped-def]
    n = time.shape[0]
    tail = np.zeros(n)
    for u in range(n - 1, -1, -1):
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            v = succ[i]
            tail[u] = max(tail[u], time[v].min() + tail[v])
    return tail


@njit(cache=True)
def restart(space, run, device, sequence):  # type: ignore[no-untyped-def]
    """Go on from a valid mapping and topological sequence, both of shape (n,)."""
    state_.clear(run.state)
    for g in range(len(space.unit_bytes)):
        state_.shift(space, run.state, g, device[space.unit_node[space.unit_ptr[g]]])
    run.device[:] = device
    run.sequence[:] = sequence
    for i in range(len(sequence)):
        run.place[sequence[i]] = i
    retime(space, run, 0, np.inf)
    _keep(run)


@njit(cache=True)
def _keep(run):  # type: ignore[no-untyped-def]
    run.value[0] = run.latest[-1]
    if run.value[0] < run.value[1] * (1 - 1e-9) or run.value[1] == np.inf:
        run.value[1] = run.value[0]
        run.best_device[:] = run.device
        run.best_sequence[:] = run.sequence


@njit(cache=True)
def retime(space, run, first, limit):  # type: ignore[no-untyped-def]
    """Time the nodes from place `first` on, until the makespan is known to exceed `limit`.

    Returns the place after the last one that was timed: n where none exceeds.
    """
    n, K = space.time.shape
    links, link_time = space.links, space.link_time
    free = np.full(K, -1.0)
    missing = K
    for i in range(first - 1, -1, -1):  # the last node of every device before `first`
        u = run.sequence[i]
        if free[run.device[u]] < 0:
            free[run.device[u]] = run.start[u] + space.time[u, run.device[u]]
            missing -= 1
            if missing == 0:
                break
    latest = run.latest[first - 1] if first > 0 else 0.0
    for i in range(first, n):
        v = run.sequence[i]
        k = run.device[v]
        t = 0.0 if space.unlimited[k] else max(free[k], 0.0)
        for j in range(space.pred_ptr[v], space.pred_ptr[v + 1]):
            u = space.pred[j]
            other = run.device[u]
            arrival = run.start[u] + space.time[u, other]
            if other != k:
                arrival += link_time[links[other, k, 0], u] + link_time[links[other, k, 1], u]
            t = max(t, arrival)
        run.start[v] = t
        finish = t + space.time[v, k]
        free[k] = finish
        latest = max(latest, finish)
        run.latest[i] = latest
        if finish + run.tail[v] > limit:
            return i + 1
    return n


@njit(cache=True)
def anneal(space, run, first, moves, hot, cooling, step):  # type: ignore[no-untyped-def]
    """Try moves first..first+moves-1 of a round; the temperature is hot * cooling**(move // step).

    The clock is not looked at: the caller cuts a round into calls, which changes nothing else.
    """
    n, stream = len(run.device), run.stream
    heat = hot * cooling ** (first // step)
    for i in range(first, first + moves):
        if i % step == 0:
            heat = hot * cooling ** (i // step)
        count, v, before = propose(space, run)
        if count == 0 and v < 0:
            continue
        begin = n
        for j in range(count):
            g = run.touched[j]
            for a in range(space.unit_ptr[g], space.unit_ptr[g + 1]):
                begin = min(begin, run.place[space.unit_node[a]])
        if v >= 0:
            begin = min(begin, min(before, run.place[v]))
        limit = run.value[0] - heat * np.log(1.0 - rng_.uniform(stream))
        accepted = state_.fits(space, run.state)
        # Rounding aside: a move that leaves all times alone is taken.
        slack = limit * (1 + 1e-12)
        if accepted:
            for j in range(begin, n):
                run.old_start[j] = run.start[run.sequence[j]]
                run.old_latest[j] = run.latest[j]
            # The saved starts go by the sequence as it is now: nodes between are only shifted.
            end = retime(space, run, begin, slack)
            accepted = end == n and run.latest[n - 1] <= slack
            if not accepted:
                for j in range(begin, end):
                    run.start[run.sequence[j]] = run.old_start[j]
                    run.latest[j] = run.old_latest[j]
        if accepted:
            _keep(run)
        else:
            _undo(space, run, count, v, before)


@njit(cache=True)
def _undo(space, run, count, v, before):  # type: ignore[no-untyped-def]
    if v >= 0:
        _slide(run, v, before)
    for i in range(count - 1, -1, -1):
        _put(space, run, run.touched[i], run.old[i])


@njit(cache=True)
def propose(space, run):  # type: ignore[no-untyped-def]
    """Make one random move, times left behind.

    Returns how many units changed device, the node that changed place or -1, and its old place.
    """
    stream, state = run.stream, run.state
    n, K = space.time.shape
    draw = rng_.uniform(stream)
    v = rng_.below(stream, n)
    g = space.unit[v]
    count = 0
    if draw < 0.55 and K > 1:
        count = _try(space, run, 0, g, _target(space, run, v))
    elif draw < 0.65 and K > 1:
        h = space.unit[rng_.below(stream, n)]
        a, b = state.place[g], state.place[h]
        if a != b:
            count = _try(space, run, 0, g, b)
            if count > 0:
                count = _try(space, run, count, h, a)
    elif draw < 0.75 and K > 1:
        k, to = run.device[v], _target(space, run, v)
        last = min(run.place[v] + (2 << rng_.below(stream, 1 + int(np.log2(n)) // 2)), n)
        for i in range(run.place[v], last):
            h = space.unit[run.sequence[i]]
            if state.place[h] == k:
                count = _try(space, run, count, h, to)
    if draw >= 0.4 and (draw < 0.55 or draw >= 0.75):  # half of the single moves slide as well
        before = run.place[v]
        low, high = -1, n
        for i in range(space.pred_ptr[v], space.pred_ptr[v + 1]):
            low = max(low, run.place[space.pred[i]])
        for i in range(space.succ_ptr[v], space.succ_ptr[v + 1]):
            high = min(high, run.place[space.succ[i]])
        reach = 2 << rng_.below(stream, 1 + int(np.log2(n)))
        low, high = max(low + 1, before - reach), min(high - 1, before + reach)
        after = low + rng_.below(stream, high - low + 1)
        if after != before:
            _slide(run, v, after)
            return count, v, before
    return count, -1, 0


@njit(cache=True)
def _try(space, run, count, g, to):  # type: ignore[no-untyped-def]
    """Move one unit and log it, if its device changes and supports it."""
    k = run.state.place[g]
    if k == to or space.unit_time[g, to] == np.inf:
        return count
    run.touched[count], run.old[count] = g, k
    _put(space, run, g, to)
    return count + 1


@njit(cache=True)
def _put(space, run, g, to):  # type: ignore[no-untyped-def]
    state_.shift(space, run.state, g, to)
    for i in range(space.unit_ptr[g], space.unit_ptr[g + 1]):
        run.device[space.unit_node[i]] = to


@njit(cache=True)
def _target(space, run, v):  # type: ignore[no-untyped-def]
    """A device for v: as often where a neighbour is as anywhere."""
    ins = space.pred_ptr[v + 1] - space.pred_ptr[v]
    outs = space.succ_ptr[v + 1] - space.succ_ptr[v]
    if ins + outs > 0 and rng_.uniform(run.stream) < 0.5:
        i = rng_.below(run.stream, ins + outs)
        if i < ins:
            return run.device[space.pred[space.pred_ptr[v] + i]]
        return run.device[space.succ[space.succ_ptr[v] + i - ins]]
    return rng_.below(run.stream, space.time.shape[1])


@njit(cache=True)
def _slide(run, v, to):  # type: ignore[no-untyped-def]
    """Take v out of the sequence and put it back at place `to`."""
    at = run.place[v]
    step = 1 if to > at else -1
    for i in range(at, to, step):
        u = run.sequence[i + step]
        run.sequence[i] = u
        run.place[u] = i
    run.sequence[to] = v
    run.place[v] = to
