"""The entries of `chips`: what each heuristic does for this problem."""

from __future__ import annotations

import math

import numpy as np

from heuristics.chips import lines, walk
from heuristics.chips.base import baseline, deadline, place_of, single
from heuristics.chips.units import Units, build_units
from heuristics.shared.best import Best
from heuristics.shared.pieces import in_pieces
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context
from solvers.repair import partition
from solvers.repair.modes import Repair
from solvers.repair.orders import orders
from solvers.rng import seeded

RESTARTS = 200
"""Samples without a deadline and without a number of restarts."""
HEAT = 10.0
"""Over the temperatures of the other problems: here a move shifts whole nodes of a few chips."""


def begin(instance: Instance, context: Context) -> tuple[Units, Best]:
    """Units of an instance, and the best answer that every entry begins with."""
    units, best = build_units(instance), Best(instance, context)
    baseline(units, context, best)
    return units, best


def alone(instance: Instance, context: Context) -> Answer | None:
    """All on chip 0, or any valid partition where that does not hold everything."""
    best = Best(instance, context)
    single(build_units(instance), context, best)
    return best.answer


def sampled(units: Units, context: Context, best: Best, restarts: int = 0) -> None:
    """SAMPLE with equal probabilities in random order, with the exact rules and with steps of one.

    By turns: the exact rules reach every valid partition, steps of one chip do so sooner.
    """
    if restarts == 0 and context.deadline == math.inf:
        restarts = RESTARTS
    U, C = len(units.nets.time), units.problem.chips
    likely, stream = np.ones((U, C)), seeded(context.rng)
    known = place_of(units, best)
    repairs = Repair(units.problem, known=known), Repair(units.problem, "difference", known=known)
    count = 0
    while not best.done() and (restarts == 0 or count < restarts):
        repair = repairs[count % 2]
        order = context.rng.permutation(U)
        found = repair.sample(likely, order, stream, deadline(context, 1.0))
        count += 1
        if found is not None:
            best.offer_device(found.chip[units.unit])
        if repairs[0].none:
            return


def cuts(units: Units, best: Best) -> None:
    """The best cuts of several topological orders."""
    for order in orders(units.problem):
        if best.done():
            return
        found = lines.best_cuts(lines.line(units, order), best.done, best.value)
        if found is not None:
            best.offer_device(found[units.unit])


class Walker:
    """A walk over valid partitions of an instance."""

    def __init__(self, units: Units, best: Best, stream: np.ndarray) -> None:
        self.units, self.best = units, best
        self.walk, self.partition = walk.walk(units, stream), partition.empty(units.problem)

    def go(self, hot: float, cooling: float, steps: int, step: int) -> None:
        """One round from the best answer: `steps` temperatures from `hot` seconds on."""
        units, w, best = self.units, self.walk, self.best
        assert best.answer is not None
        place = place_of(units, best)
        w.energy[:] = math.inf
        walk.restart(units.problem, units.nets, self.partition, w, place)
        known = float(w.energy[2])

        def some(at: int, moves: int) -> None:
            walk.anneal(units.problem, units.nets, self.partition, w, at, moves, hot, cooling, step)

        def offer() -> None:
            nonlocal known
            if w.energy[2] < known:
                known = float(w.energy[2])
                best.offer_device(w.best[units.unit])

        in_pieces(steps * step, some, best.done, offer)


def annealed(
    units: Units,
    context: Context,
    best: Best,
    cooling: float = 0.98,
    hot: float = 0.0003,
    cold: float = 0.00001,
    rounds: int = 0,
    effort: int = 30,
) -> None:
    """Walks from the best answer, each twice as long as the one before."""
    if best.answer is None or units.problem.chips == 1 or len(units.nets.time) == 1:
        return
    if rounds == 0 and context.deadline == math.inf:
        rounds = 8
    steps = max(1, math.ceil(math.log(cold / hot) / math.log(cooling)))
    walker = Walker(units, best, seeded(context.rng))
    moves, count = effort * len(units.nets.time), 0
    while not best.done() and (rounds == 0 or count < rounds) and best.value > 0:
        heat = hot if count % 2 == 0 else 10 * hot
        walker.go(HEAT * heat * best.value, cooling, steps, max(1, moves // steps))
        moves = min(2 * moves, 2**40)
        count += 1
