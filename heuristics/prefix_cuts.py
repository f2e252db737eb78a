"""The best cuts of topological orders into runs, one a chip."""

from __future__ import annotations

from heuristics.chips import entries
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method


@method(problems=["chips"], source="this suite", warm=True)
def prefix_cuts(instance: Instance, context: Context) -> Answer | None:
    """The best runs of consecutive nodes of topological orders, by dynamic program.

    Exact for each order among partitions whose edges stay on their chip or go to the next one; five
    orders, from breadth first to depth first.
    """
    units, best = entries.begin(instance, context)
    entries.cuts(units, best)
    return best.answer
