"""HEFT: heterogeneous earliest finish time."""

from __future__ import annotations

from typing import Literal

from heuristics.shared import ranks
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.shared.lists import offer_schedule
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method


@method(problems=["latency"], source="Topcuoglu, Hariri and Wu 2002", warm=True)
def heft(
    instance: Instance,
    context: Context,
    *,
    rank: ranks.How = "mean",
    direction: Literal["upward", "downward"] = "upward",
    insertion: bool = True,
) -> Answer | None:
    """List scheduling by upward rank, each operator where it finishes first.

    `rank` and `direction` are the rank functions of Zhao and Sakellariou 2003; the defaults are the
    published HEFT. Extended to memory limits, colocation groups, unlimited devices and ports; see
    :mod:`heuristics.shared.lists`. The best single device is answered where it is better.
    """
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    if not best.done():
        times = ranks.averages(instance, space, rank)
        upward = direction == "upward"
        order = ranks.upward(space, *times) if upward else -ranks.downward(space, *times)
        offer_schedule(instance, space, best, order, insertion)
    return best.answer
