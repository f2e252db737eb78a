"""The suite's own champion: every other part by turns, as the clock allows."""

from __future__ import annotations

from heuristics.champion.conductor import Conductor
from heuristics.champion.plan import TINY, Parts, plan
from heuristics.shared import space as space_
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method

LARGE = {"throughput": 50_000, "latency": 10_000, "calls": 10_000}
"""Places (nodes times devices) above which greedy goes first, with all the time that there is: with
a share of a short limit it would not come to an end, and everything after it starts from worse."""


@method(problems=["throughput", "latency", "calls", "chips"], source="this suite", warm=True)
def portfolio(instance: Instance, context: Context, *, parts: Parts = "all") -> Answer | None:
    """Bounds, constructive answers, annealing, large neighbourhoods and exact methods, by a plan.

    It stops as soon as an answer meets a lower bound or an exact part has proved it, and claims
    that. The plan depends on problem, size and limit alone (:mod:`heuristics.champion.plan`); the
    clock only cuts the parts. Large instances begin with the greedy answer whatever the plan says,
    so that nothing ends worse than that. A part that fails is named in the claim, and the others go
    on. `parts` leaves out the exact ones or all heuristic ones but the best single device.
    """
    if instance.problem == "chips":
        from heuristics.chips.champion import Portfolio  # slow to load: for those who need it

        return Portfolio(instance, context, parts).run()
    conductor = Conductor(instance, space_.build(instance), context)
    conductor.take("single", 1.0)
    places, steps = instance.n * instance.K, plan(instance, conductor.limit, parts)
    if places > LARGE[instance.problem] and parts != "exact":
        conductor.take("greedy", 1.0)
        steps = tuple(step for step in steps if step[0] != "greedy")
    conductor.run(steps, thorough=places <= TINY)
    conductor.conclude()
    return conductor.best.answer
