"""What every entry of `chips` begins with: one chip, balanced cuts, or any valid partition."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

from heuristics.chips.units import Units
from heuristics.shared.best import MARGIN, Best
from problems.single import best_single
from solvers.method import Context
from solvers.repair.first import first_valid
from solvers.repair.modes import Repair
from solvers.repair.orders import orders
from solvers.rng import seeded
from solvers.start_chips import level_start

TURN = 0.5
"""Share of the time left that one repair may take at the start."""


def single(units: Units, context: Context, best: Best) -> None:
    """Offer the start that was given and all on chip 0; without one, what repair finds."""
    best.offer(context.start)
    single = best_single(best.instance)
    best.offer(None if single is None else single[0])
    if single is not None:
        return
    found = first_valid(units.problem, deadline(context))
    if found is not None:
        best.offer_device(found[units.unit])
    best.offer(level_start(best.instance, deadline(context)))
    if best.answer is None:
        _search(units, context, best)


def baseline(units: Units, context: Context, best: Best) -> None:
    """What :func:`single` offers, and balanced cuts: none of the other entries is worse."""
    single(units, context, best)
    balanced(units, best)


def balanced(units: Units, best: Best) -> None:
    """Offer cuts of topological orders into runs of equal work, of every number of runs.

    Cuts that are not valid are repaired: nodes keep their chips as far as steps of one chip along
    every edge allow.
    """
    repair = Repair(units.problem, "difference", known=place_of(units, best))
    stream = seeded(np.random.default_rng(0))
    for order in orders(units.problem):
        for runs, chip in even_cuts(units, order):
            if best.answer is not None and best.done():
                return
            if best.offer_device(chip[units.unit]) or runs < units.problem.chips:
                continue
            fixed = repair.fix(chip, order, stream, deadline(best.context))
            if fixed is not None:
                best.offer_device(fixed.chip[units.unit])


def place_of(units: Units, best: Best) -> np.ndarray | None:
    """Chips of the units in the best answer, shape (U,); None without one."""
    if best.answer is None:
        return None
    place = np.empty(len(units.nets.time), np.int64)
    place[units.unit] = best.answer.device
    return place


def even_cuts(units: Units, order: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """C, C - 1, ..., 2 runs of equal work along an order, shape (U,); not always valid."""
    work = units.nets.time[order]
    middle = np.cumsum(work) - work / 2
    total = float(work.sum())
    for runs in range(units.problem.chips, 1, -1):
        chip = np.empty(len(order), np.int64)
        share = middle / total if total > 0 else (np.arange(len(order)) + 0.5) / len(order)
        chip[order] = np.minimum((share * runs).astype(np.int64), runs - 1)
        yield runs, chip


def deadline(context: Context, share: float = TURN) -> float:
    """When a part that may take a share of the time left has to end."""
    if context.deadline == math.inf:
        return math.inf
    return time.monotonic() + share * max(0.0, context.time_left() - MARGIN)


def _search(units: Units, context: Context, best: Best) -> None:
    """Sample until something is found, or there is known to be nothing, or time is up."""
    stream = seeded(np.random.default_rng(0))
    rng = np.random.default_rng(0)
    U, C = len(units.nets.time), units.problem.chips
    likely = np.ones((U, C))
    repair = Repair(units.problem)
    for attempt in range(TRIES):
        order = np.arange(U) if attempt % 2 == 0 else rng.permutation(U)
        found = repair.sample(likely, order, stream, deadline(context, 1.0))
        if found is not None:
            best.offer_device(found.chip[units.unit])
        if found is not None or repair.none or context.time_left() < MARGIN:
            return


TRIES = 500
"""Samples that a search for any valid partition takes."""
