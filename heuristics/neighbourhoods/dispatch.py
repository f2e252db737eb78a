"""Large neighbourhoods of any problem."""

from __future__ import annotations

from heuristics.neighbourhoods import calls, latency, throughput
from heuristics.shared.best import Best
from heuristics.shared.space import Space
from problems.instance import Instance
from solvers.method import Context

IMPROVE = {
    "throughput": throughput.improve,
    "latency": latency.improve,
    "calls": calls.improve,
}


def improve(
    instance: Instance, space: Space, context: Context, best: Best, rounds: int = 0
) -> None:
    """Improve `best` until it is done or, if `rounds` are given, for so many rounds in vain.

    Without a deadline the effort is fixed in any case.
    """
    IMPROVE[instance.problem](instance, space, context, best, rounds)
