"""The best single device."""

from __future__ import annotations

from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method


@method(
    problems=["throughput", "latency", "calls", "chips"],
    source="this suite",
    warm=True,
    mixtures=True,
)
def single(instance: Instance, context: Context) -> Answer | None:
    """The best single device, or a first fit where no device takes the whole graph.

    None where no valid placement is found in time, or where there is none.
    """
    if instance.problem == "chips":
        from heuristics.chips import entries as chips_  # slow to load: for those who need it

        return chips_.alone(instance, context)
    best = Best(instance, context)
    baseline(instance, space_.build(instance), context, best)
    return best.answer
