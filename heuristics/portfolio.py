"""The suite's own champion: every other part by turns, as the clock allows."""

from __future__ import annotations

from heuristics.champion.conductor import Conductor
from heuristics.champion.plan import TINY, Parts, plan
from heuristics.chips.champion import Portfolio
from heuristics.shared import space as space_
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method


@method(problems=["throughput", "latency", "calls", "chips"], source="this suite", warm=True)
def portfolio(instance: Instance, context: Context, *, parts: Parts = "all") -> Answer | None:
    """Bounds, constructive answers, annealing, large neighbourhoods and exact methods, by a plan.

    It stops as soon as an answer meets a lower bound or an exact part has proved it, and claims
    that. The plan depends on problem, size and limit alone (:mod:`heuristics.champion.plan`); the
    clock only cuts the parts. A part that fails is named in the claim, and the others go on.
    `parts` leaves out the exact ones or all heuristic ones but the best single device.
    """
    if instance.problem == "chips":
        return Portfolio(instance, context, parts).run()
    conductor = Conductor(instance, space_.build(instance), context)
    conductor.take("single", 1.0)
    conductor.run(plan(instance, conductor.limit, parts), thorough=instance.n * instance.K <= TINY)
    conductor.conclude()
    return conductor.best.answer
