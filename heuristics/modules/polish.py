"""A global polish of the best answer: annealing rounds, within what is left of the clock."""

from __future__ import annotations

import math

from heuristics.annealing import anneal
from heuristics.shared.best import Best
from heuristics.shared.space import Space
from problems.instance import Instance

ROUNDS = 4
"""Rounds where there is no clock."""


def polish(instance: Instance, space: Space, best: Best) -> None:
    """Anneal from the best answer, cool and hot rounds by turns, until time is up."""
    if best.answer is not None:
        rounds = ROUNDS if best.context.deadline == math.inf else 0
        anneal(instance, space, best.context, best, [best.answer], rounds=rounds)
