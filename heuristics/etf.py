"""ETF: earliest task first."""

from __future__ import annotations

from typing import Literal

import numpy as np

from heuristics.shared import ranks
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.earliest import offer_earliest
from heuristics.shared.feasible import baseline
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method


@method(problems=["latency"], source="Hwang, Chow, Anger and Lee 1989", warm=True)
def etf(
    instance: Instance,
    context: Context,
    *,
    by: Literal["start", "finish"] = "start",
    level: Literal["static", "upward"] = "static",
) -> Answer | None:
    """Of all ready operators and devices the pair that can start first, ties by level.

    The level is the longest time to the end, without transfers as published (`static`) or with them
    (`upward`). The paper has equal devices; `by=finish` is the same rule for unequal ones. Extended
    to memory limits, groups, unlimited devices and ports, see :mod:`heuristics.shared.placing`.
    """
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    if not best.done():
        seconds, between = ranks.averages(instance, space)
        transfers = between if level == "upward" else np.zeros(instance.n)
        rank = ranks.upward(space, seconds, transfers)
        offer_earliest(instance, space, best, rank, by == "finish")
    return best.answer
