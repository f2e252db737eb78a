"""The best slices of one order: a dynamic program over where a slice ends, compiled.

Every device takes consecutive units of the order. A state is how far the order is placed and which
devices are used (:mod:`heuristics.orders.ways`); its value is the largest load so far. DPL of
Tarnawski et al. 2020, and what SliceGraph (Archer et al. 2024) does with every order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.orders.ways import Ways

# Units added to slices between two looks at the clock: a few milliseconds.
VISITS = 20_000
# Relative; above the rounding of a load.
ROUNDING = 1e-9


class Table(NamedTuple):
    """What the program knows: values and the way to them, by units placed and state.

    Attributes
    ----------
    value : float64 array, shape (U + 1, S)
    start, state, kind : int32 arrays, shape (U + 1, S)
        Where the last slice begins, the state before it, and its class.
    """

    value: np.ndarray
    start: np.ndarray
    state: np.ndarray
    kind: np.ndarray


def table(units: int, ways: Ways) -> Table:
    """Room for the program; it is written afresh for every order."""
    shape = units + 1, len(ways.step)
    return Table(np.empty(shape), *(np.empty(shape, np.int32) for _ in range(3)))


@njit(cache=True)
def begin(space, ways, known, order, remaining):  # type: ignore[no-untyped-def]
    """Start afresh; `remaining`, shape (U + 1, 2), gets the least times after each place."""
    known.value[:] = np.inf
    known.value[0, 0] = 0.0
    remaining[:] = 0.0
    for i in range(len(order) - 1, -1, -1):
        for r in range(2):
            least = np.inf
            for c in range(len(ways.device)):
                least = min(least, ways.rate[r, c] * space.unit_time[order[i], ways.device[c]])
            remaining[i, r] = remaining[i + 1, r] + least


@njit(cache=True)
def expand(space, ways, known, order, cut, remaining, split, caps, at, visits):  # type: ignore[no-untyped-def]
    """Lay slices that begin at place `at` or later, until `visits` units have been added to some.

    Parameters
    ----------
    order : int64 array, shape (U,)
        Units; where the rules ask for a chain, in a topological order.
    cut : bool array, shape (U + 1,)
        Places where a slice may end.
    split : bool
        Whether loads of the two phases count apart: ``caps[0]`` then holds the forward loads, and
        the value is the backward one's.
    caps : float64 array, shape (2,)
        Seconds; loads above ``caps[1]`` are of no use.

    Returns
    -------
    int
        The place to go on from; U when all is done.
    """
    U, S = len(order), known.value.shape[1]
    C, n = len(ways.device), len(space.unit)
    value, step, receive, send = known.value, ways.step, ways.receive, ways.send
    succ_ptr, pred_ptr, pred, phase = space.succ_ptr, space.pred_ptr, space.pred, space.phase
    inside = np.zeros(n, np.int64)  # consumers of each node in the slice at hand
    counted = np.full(n, -1, np.int64)  # which slice `inside` counts
    member = np.full(n, -1, np.int64)  # last slice that each node was in
    weighed = np.full(len(space.shared_bytes), -1, np.int64)
    parts = np.zeros((2, C, 3))  # phase, class, compute, receive, send
    able = np.zeros(C, np.bool_)
    active = np.empty(S, np.int64)
    most = caps[1] + (caps[0] if split else 0.0)
    while at < U and visits > 0:
        j = at
        at += 1
        count = 0
        for s in range(S):
            if value[j, s] < caps[1]:
                active[count] = s
                count += 1
        if count == 0:
            continue
        parts[:] = 0.0
        able[:] = True
        size = 0.0
        for i in range(j, U):
            visits -= 1
            g = order[i]
            size += space.unit_bytes[g]
            for b in range(space.weight_ptr[g], space.weight_ptr[g + 1]):
                w = space.weight[b]
                if weighed[w] != j:
                    weighed[w] = j
                    size += space.shared_bytes[w]
            for a in range(space.unit_ptr[g], space.unit_ptr[g + 1]):
                v = space.unit_node[a]
                f = phase[v]
                member[v] = j
                if counted[v] != j:
                    counted[v] = j
                    inside[v] = 0
                received = inside[v] > 0
                sent = inside[v] < succ_ptr[v + 1] - succ_ptr[v]
                for c in range(C):
                    parts[f, c, 0] += space.time[v, ways.device[c]]
                    if received:
                        parts[f, c, 1] -= receive[c, v]
                    if sent:
                        parts[f, c, 2] += send[c, v]
                for b in range(pred_ptr[v], pred_ptr[v + 1]):
                    u = pred[b]
                    if counted[u] != j:
                        counted[u] = j
                        inside[u] = 0
                    inside[u] += 1
                    if member[u] == j:
                        if inside[u] == succ_ptr[u + 1] - succ_ptr[u]:
                            for c in range(C):
                                parts[phase[u], c, 2] -= send[c, u]
                    elif inside[u] == 1:
                        for c in range(C):
                            parts[phase[u], c, 1] += receive[c, u]
            some = False
            for c in range(C):
                if not able[c]:
                    continue
                forward, backward = parts[0, c, 0], parts[1, c, 0]
                if size > space.memory[ways.device[c]]:
                    able[c] = False
                elif split:
                    able[c] = forward <= caps[0] and backward < caps[1]
                else:
                    able[c] = forward + backward < caps[1]
                some = some or able[c]
                if not able[c] or not cut[i + 1]:
                    continue
                if split:
                    if _load(parts[0, c], space.overlap) > caps[0]:
                        continue
                    load = _load(parts[1, c], space.overlap)
                else:
                    load = _load(parts[0, c] + parts[1, c], space.overlap)
                if load >= caps[1]:
                    continue
                for x in range(count):
                    s = active[x]
                    to = step[s, c]
                    if to < 0:
                        continue
                    worst = max(value[j, s], load)
                    if worst >= value[i + 1, to]:
                        continue
                    # What is left has to fit the devices that are left.
                    if remaining[i + 1, 0] > ways.room[to, 0] * most * (1 + ROUNDING) or remaining[
                        i + 1, 1
                    ] > ways.room[to, 1] * most * (1 + ROUNDING):
                        continue
                    value[i + 1, to] = worst
                    known.start[i + 1, to] = j
                    known.state[i + 1, to] = s
                    known.kind[i + 1, to] = c
            if not some:
                break
    return at


@njit(cache=True)
def _load(part, overlap):  # type: ignore[no-untyped-def]
    if overlap == 0:
        return part[0] + part[1] + part[2]
    if overlap == 1:
        return max(part[0], part[1] + part[2])
    return max(part[0], max(part[1], part[2]))


@njit(cache=True)
def trace(ways, known, order, place):  # type: ignore[no-untyped-def]
    """Fill in the device of every unit, shape (U,); returns the value, inf without a way."""
    i = len(order)
    s = known.value[i].argmin()
    value = known.value[i, s]
    if value == np.inf:
        return value
    while i > 0:
        start, before = known.start[i, s], known.state[i, s]
        place[order[start:i]] = ways.taken[before, known.kind[i, s]]
        i, s = start, before
    return value
