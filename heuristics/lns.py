"""Large neighbourhood search."""

from __future__ import annotations

import time
from typing import Annotated, Literal

from heuristics.annealing import anneal
from heuristics.neighbourhoods.dispatch import improve
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.starts.dispatch import starts
from heuristics.starts.race_throughput import race
from problems import ports
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, Range, method

# What starts, and then annealing, may take of the time left, and how many answers it goes out from.
STARTS, ANNEALING, RACE = 0.3, 0.2, 0.3
FROM = 3


@method(problems=["throughput", "latency", "calls"], source="this suite", warm=True)
def lns(
    instance: Instance,
    context: Context,
    *,
    start: Literal["all", "single"] = "all",
    rounds: Annotated[int, Range(0, 1_000_000)] = 0,
) -> Answer | None:
    """Large neighbourhood search from the best of several constructive answers.

    The starts (`all`, or the best single device) are annealed for some rounds; under `latency`
    walks from them race, now and again later; for free `throughput` walks from chunks on other
    orders of devices race after it. The best answer is then improved window by window: most of it
    keeps its place, the rest is placed anew. It ends after so many `rounds` in vain (0: when time
    is up). Without a deadline each phase has a fixed effort.
    """
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    if start == "all":
        own = _within(best, STARTS)
        found = starts(instance, space, own.context, own)
    else:
        found = [] if best.answer is None else [best.answer]
    if best.answer is None:
        return None
    if instance.problem != "latency" or ports.has_ports(instance):
        own, few = _within(best, ANNEALING), found[:FROM]
        anneal(instance, space, own.context, own, few, rounds=len(few) + 2)
    if start == "all" and instance.problem == "throughput" and not space.contiguous:
        own = _within(best, RACE)
        found += race(instance, space, own.context, own)
    improve(instance, space, context, best, rounds, found)
    return best.answer


def _within(best: Best, share: float) -> Best:
    """A best answer that is shared with another, and has a share of its time only."""
    context = best.context
    own = Best(
        best.instance,
        Context(
            seed=int(context.rng.integers(2**31)),
            deadline=time.monotonic() + share * context.time_left(),
            threads=context.threads,
            start=best.answer,
            bound=context.bound,
            on_answer=lambda answer: _take(best, answer),
        ),
    )
    own.answer, own.value = best.answer, best.value
    return own


def _take(best: Best, answer: Answer) -> None:
    best.offer(answer)
