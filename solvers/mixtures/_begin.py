"""Where memory is shared: cheap bounds and mixtures before column generation begins."""

from __future__ import annotations

import time

from problems.answer import Answer
from problems.compiled import REHEARSAL
from problems.instance import Instance
from solvers import objective
from solvers.keeper import Keeper
from solvers.method import Context
from solvers.mixtures._counts import counts_of
from solvers.mixtures._stages import stages

STAGES, COUNTS = 0.1, 0.3
"""Shares of the time left that pipelines of stages and counts of groups take at most."""

STARTS = 4
"""Answers at most from which mixtures grow."""


def begin(instance: Instance, context: Context, keeper: Keeper, scale: float) -> list[Answer]:
    """Take pipelines of stages and mappings by counts of groups, and what the counts bound.

    Returns
    -------
    list of Answer
        Valid ones, the best known first: from each of them, a mixture may grow.
    """
    found = [] if keeper.best is None else [(keeper.value, 0, keeper.best)]

    def offer(answer: Answer) -> None:
        value = objective.value(instance, answer)
        if value is not None:  # memory, or a chain, is not seen there
            keeper.take(answer)
            found.append((value, len(found), answer))

    for answer in stages(instance, time.monotonic() + STAGES * context.time_left()):
        offer(answer)
    end = time.monotonic() + COUNTS * context.time_left()
    counts = counts_of(instance, scale)
    if counts is None:
        return starts(found)
    keeper.bound_by(counts.bound(keeper.value, lambda: end - time.monotonic()))
    left = end - time.monotonic()
    if (not keeper.proved() or instance.n <= REHEARSAL) and left > 0:
        at_least = max(keeper.bound, 0.0)
        counts.solve(at_least, left, context.threads, context.seed, keeper.bound_by, offer)
    return starts(found)


def starts(found: list[tuple[float, int, Answer]]) -> list[Answer]:
    """The best of the answers, with their values, best first."""
    return [answer for _, _, answer in sorted(found, key=lambda each: each[:2])[:STARTS]]
