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


def improve(instance: Instance, space: Space, context: Context, best: Best) -> None:
    """Improve `best` until its time is up or, without a deadline, for a fixed effort."""
    IMPROVE[instance.problem](instance, space, context, best)
