"""The best cuts of one topological order, by dynamic program.

Restriction: every chip holds a run of consecutive units of the order, and every edge stays on its
chip or goes to the next one (:mod:`solvers.repair.cuts`: such partitions are valid). Within it the
result is optimal. A payload that crosses a cut is then read within the next run, so a run's load is
its units' time, what crosses its first cut and what crosses its last one.

For a limit T a program over cuts says whether runs of load T at most exist, and if not, which
larger load would have been the next to allow; T is bisected between these two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.chips.units import Units
from solvers.repair.cuts import fit, reach

CLOSE = 1e-12
"""Relative distance of bounds that end a bisection."""
FIRST = 1.3
"""First limit, over the mean work a chip, and the factor of the next one."""


class Line(NamedTuple):
    """One order to cut, with U units and C chips.

    Attributes
    ----------
    order : int64 array, shape (U,)
    reach : int64 array, shape (U + 1,)
    fit : int64 array, shape (C, U + 1)
    time : float64 array, shape (U + 1,)
        Seconds of the units before a cut.
    crossing : float64 array, shape (C, U + 1)
        Seconds of what crosses a cut on the link from chip c to the next.
    overlap : int
    """

    order: np.ndarray
    reach: np.ndarray
    fit: np.ndarray
    time: np.ndarray
    crossing: np.ndarray
    overlap: int


def line(units: Units, order: np.ndarray) -> Line:
    """What is to be known of an order, shape (U,), topological."""
    problem, nets = units.problem, units.nets
    U, C = len(order), problem.chips
    alike = {int(b): fit(problem, order, b) for b in set(problem.capacity.tolist())}
    return Line(
        order=order,
        reach=reach(problem, order),
        fit=np.stack([alike[int(b)] for b in problem.capacity]),
        time=np.concatenate([[0.0], np.cumsum(nets.time[order])]),
        crossing=_crossing(nets, order, np.zeros((C, U + 2)))[:, : U + 1].copy(),
        overlap=nets.overlap,
    )


def best_cuts(each: Line, done: Callable[[], bool], below: float = np.inf) -> np.ndarray | None:
    """Chips of the units for the least largest load, shape (U,).

    None where no cuts are valid, or none has a load under `below` seconds. When `done` says so the
    best one known is returned.
    """
    low, high, best = 0.0, below, None
    # Little more than the work alone would take, and more and more until something is found.
    limit = min(below, FIRST * float(each.time[-1]) / len(each.fit))
    while low < high * (1 - CLOSE) and not done():
        worst, larger, begin = _runs(*each, limit)
        if begin[0, 0] >= 0 and worst < high:
            high, best = worst, _chips(each.order, begin)
        elif begin[0, 0] < 0 and larger < high:
            low = larger
        else:
            break
        limit = max(low, FIRST * limit if high == np.inf else (low + high) / 2)
    return best


def _chips(order: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """Chips of the units from the cuts that :func:`_runs` found."""
    c, end = int(begin[0, 0]), len(order)
    chip = np.empty(end, np.int64)
    while c > 0:
        first = int(begin[c, end])
        chip[order[first:end]] = c - 1
        c, end = c - 1, first
    return chip


@njit(cache=True)
def _crossing(nets, order, result):  # type: ignore[no-untyped-def]
    U = len(order)
    position = np.empty(U, np.int64)
    for i in range(U):
        position[order[i]] = i
    for j in range(len(nets.owner)):
        first = position[nets.owner[j]] + 1
        last = first
        for i in range(nets.reader_ptr[j], nets.reader_ptr[j + 1]):
            last = max(last, position[nets.reader[i]] + 1)
        for c in range(len(result)):
            result[c, first] += nets.hop[c, j]
            result[c, last] -= nets.hop[c, j]
    for c in range(len(result)):
        for i in range(1, U + 1):
            result[c, i] += result[c, i - 1]
    # What has been added and taken off again leaves rounding where nothing crosses.
    for c in range(len(result)):
        result[c, 0] = result[c, U] = 0.0
        for i in range(U + 1):
            result[c, i] = max(result[c, i], 0.0)
    return result


@njit(cache=True)
def load_of(overlap, comp, receive, send):  # type: ignore[no-untyped-def]
    """Load of a chip in seconds."""
    if overlap == 0:
        return comp + receive + send
    if overlap == 1:
        return max(comp, receive + send)
    return max(comp, max(receive, send))


@njit(cache=True)
def _runs(order, reach, fit, time, crossing, overlap, limit):  # type: ignore[no-untyped-def]
    """Runs of load `limit` at most: their largest load, the next larger limit, and the cuts.

    ``begin[c, j]`` is where the run of chip c - 1 that ends at j begins; ``begin[0, 0]`` is the
    number of runs, -1 without an answer.
    """
    U, C = len(order), len(fit)
    begin = np.full((C + 1, U + 1), -1, np.int64)
    worst = np.full((C + 1, U + 1), np.inf)
    worst[0, 0] = 0.0
    larger = np.inf
    for c in range(C):
        for i in range(U):
            if worst[c, i] == np.inf:
                continue
            share = (time[U] - time[i]) / (C - c)
            if share > limit * (1 + 1e-9):
                larger = min(larger, share)  # the chips that are left cannot hold the rest
                continue
            receive = crossing[c - 1, i] if c > 0 else 0.0
            for j in range(max(reach[i], i + 1), fit[c, i] + 1):
                comp = time[j] - time[i]
                least = load_of(overlap, comp, receive, 0.0)
                if least > limit:
                    larger = min(larger, least)  # and so for all that end later
                    break
                load = load_of(overlap, comp, receive, crossing[c, j])
                if load > limit:
                    larger = min(larger, load)
                    continue
                load = max(load, worst[c, i])
                if load < worst[c + 1, j]:
                    worst[c + 1, j], begin[c + 1, j] = load, i
    best = np.inf
    for c in range(1, C + 1):
        if worst[c, U] < best:
            best = worst[c, U]
            begin[0, 0] = c
    return best, larger, begin
