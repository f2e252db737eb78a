"""PipeDream-style pipelines: the graph as a path, and the best consecutive pieces of it."""

from __future__ import annotations

from heuristics.orders.linear import paths
from heuristics.orders.slicer import Slicer
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method

# Seconds an edge that contracting takes at most; it cannot be cut off.
EDGE = 2e-5


@method(
    problems=["throughput"],
    source="Narayanan et al. 2019, as in Tarnawski et al. 2020 (arXiv 2006.16423)",
    warm=True,
)
def pipedream(instance: Instance, context: Context) -> Answer | None:
    """Contract what branches to a path; the best pieces of the path by dynamic program.

    The baseline of Tarnawski et al. 2020 for the planner of PipeDream, which takes paths only; see
    :func:`heuristics.orders.linear.paths`. Without data parallelism, as there. Beyond it: memory
    limits, unlike devices, overlap and phases that count apart. Over direct links a load is a guess
    while pieces are chosen.
    """
    best = Best(instance, context)
    baseline(instance, space_.build(instance), context, best)
    if not best.done() and context.time_left() > EDGE * instance.m:
        slicer = Slicer(instance, best)
        for order, cut in paths(slicer.space):
            slicer.solve(order, cut)
    return best.answer
