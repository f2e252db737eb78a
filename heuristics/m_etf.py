"""m-ETF: earliest task first under memory limits."""

from __future__ import annotations

from typing import Literal

import numpy as np

from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.earliest import offer_earliest
from heuristics.shared.feasible import baseline
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method


@method(problems=["latency"], source="Jeon et al. 2020", name="m-etf", warm=True)
def m_etf(
    instance: Instance, context: Context, *, by: Literal["start", "finish"] = "start"
) -> Answer | None:
    """The pair of operator and device that can start first among devices with memory for it.

    A group takes its memory as a whole when its first operator is placed. Ties by the order of the
    graph: the paper has no priorities, which is what sets it apart from `etf` here. Where all
    devices that are left are too small, the publication gives up; here a way out is kept open.
    `by`: see `etf`.
    """
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    if not best.done():
        offer_earliest(instance, space, best, np.zeros(instance.n), by == "finish")
    return best.answer
