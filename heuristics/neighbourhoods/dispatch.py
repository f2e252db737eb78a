"""Large neighbourhoods of any problem."""

from __future__ import annotations

from collections.abc import Sequence

from heuristics.neighbourhoods import calls, latency, throughput
from heuristics.shared.best import Best
from heuristics.shared.space import Space
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context

IMPROVE = {"throughput": throughput.improve, "latency": latency.improve}


def improve(
    instance: Instance,
    space: Space,
    context: Context,
    best: Best,
    rounds: int = 0,
    found: Sequence[Answer] = (),
) -> None:
    """Improve `best` until it is done or, if `rounds` are given, for so many rounds in vain.

    Without a deadline the effort is fixed in any case. Under `latency` the answers in `found` are
    starts as well, under `throughput` they are crossed with the best one; `calls` has no use.
    """
    if instance.problem == "calls":
        calls.improve(instance, space, context, best, rounds)
    else:
        IMPROVE[instance.problem](instance, space, context, best, rounds, found)
