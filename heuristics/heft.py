"""HEFT: heterogeneous earliest finish time."""

from __future__ import annotations

from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.shared.lists import mean_rank, offer_schedule
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method


@method(problems=["latency"], source="Topcuoglu, Hariri and Wu 2002", warm=True)
def heft(instance: Instance, context: Context, *, insertion: bool = True) -> Answer | None:
    """List scheduling by upward rank, each operator where it finishes first.

    Extended to memory limits, colocation groups and unlimited devices; see
    :mod:`heuristics.shared.lists`. The best single device is answered where it is better.
    """
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    offer_schedule(instance, space, best, mean_rank(instance, space), insertion)
    return best.answer
