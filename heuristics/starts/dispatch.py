"""Starts of any problem."""

from __future__ import annotations

from heuristics.shared.best import Best
from heuristics.shared.space import Space
from heuristics.starts import calls, latency, throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context

STARTS = {"throughput": throughput.starts, "latency": latency.starts, "calls": calls.starts}


def starts(instance: Instance, space: Space, context: Context, best: Best) -> list[Answer]:
    """Different valid answers, best first; each is offered to `best`."""
    return STARTS[instance.problem](instance, space, context, best)
