"""A global polish of the best answer: annealing rounds, within what is left of the clock."""

from __future__ import annotations

import math

from heuristics.annealing import WALKS
from heuristics.shared import rng as rng_
from heuristics.shared.best import Best
from heuristics.shared.space import Space
from problems.instance import Instance

COOLING, HOT, COLD = 0.98, 0.0003, 0.00001
"""As the defaults of ``annealing``; temperatures in parts of the best objective."""
EFFORT = 30
"""Moves of the first round for every unit; each one after it has twice as many."""
ROUNDS = 4
"""Rounds where there is no clock."""


def polish(instance: Instance, space: Space, best: Best) -> None:
    """Anneal from the best answer, cool and hot rounds by turns, until time is up."""
    if best.answer is None:
        return
    steps = math.ceil(math.log(COLD / HOT) / math.log(COOLING))
    effort, turn = EFFORT * len(space.unit_bytes), 0
    rounds = ROUNDS if best.context.deadline == math.inf else math.inf
    go = WALKS[instance.problem](instance, space, best, rng_.seeded(best.context.rng))
    while turn < rounds and not best.done() and best.value > 0:
        heat = best.value * (HOT if turn % 2 == 0 else 10 * HOT)
        go(None, heat, COOLING, steps, max(1, effort // steps))
        effort, turn = 2 * effort, turn + 1
