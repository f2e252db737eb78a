"""The parts by name: each improves the best answer within a context of its own."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from heuristics.annealing import anneal, constructive
from heuristics.champion import bounds
from heuristics.champion.plan import ENDLESS, KINDS
from heuristics.greedy import construct
from heuristics.neighbourhoods.dispatch import improve
from heuristics.orders import runs
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.shared.space import Space
from heuristics.splitting import splitting
from heuristics.starts.dispatch import starts
from heuristics.starts.race_throughput import race
from problems import ports
from problems.answer import Answer
from problems.bounds.linear import at_most
from problems.bounds.registry import REGISTRY
from problems.instance import Instance
from solvers import catalogue
from solvers.method import Context

Part = Callable[["Task"], None]

LOOKS = 100
"""Looks at the clock, each after about a tenth of a second of work, of `dp` without a deadline."""
GIB = 2.0
"""Memory of `dp`."""
LATE = {"highs": 0.25, "": 0.12}
"""Seconds before the end of the run at which whole models of a backend have to stop: a solver looks
at its clock between steps, and those of HiGHS (presolve, the root's program) have taken as long."""
STARTS = 3
"""Starts that annealing goes out from."""
SPRINT = 3, 0.25
"""Walks of a short race, and their moves, a part of those of a long one."""


class Task:
    """What parts share and are given.

    Attributes
    ----------
    limit, end : float
        Seconds of the whole run; when it ends, on :func:`time.monotonic`'s scale.
    context : Context
        With the part's deadline.
    best : Best
        Reports to `context`.
    found : list of Answer
        Starts, best first, and behind them where walks ended.
    met : callable
        Whether the known bound is met.
    """

    def __init__(
        self,
        instance: Instance,
        space: Space,
        limit: float,
        end: float,
        context: Context,
        best: Best,
        found: list[Answer],
        met: Callable[[], bool],
    ) -> None:
        self.instance, self.space, self.limit, self.end = instance, space, limit, end
        self.context, self.best, self.found, self.met = context, best, found, met


class Looks(Context):
    """A context whose time is up after so many looks at the clock."""

    left = LOOKS

    def time_left(self) -> float:
        """Infinity, or -1 after :data:`LOOKS` looks."""
        self.left -= 1
        return math.inf if self.left >= 0 else -1.0


def _bounds(task: Task) -> None:
    for name in bounds.names(task.instance, task.limit):
        if task.met() or task.context.time_left() <= 0:
            return
        with at_most(task.context.time_left()):
            task.context.claim("bound", REGISTRY[name](task.instance).value, name)


def _single(task: Task) -> None:
    baseline(task.instance, task.space, task.context, task.best)


def _greedy(task: Task) -> None:
    construct(task.instance, task.space, task.best)


def _lists(task: Task) -> None:
    task.found[:] = constructive(task.instance, task.space, task.context, task.best)


def _starts(task: Task) -> None:
    task.found[:] = starts(task.instance, task.space, task.context, task.best)


def _runs(task: Task) -> None:
    refusal = runs.refuses(task.instance)
    if refusal is None and runs.cut(task.instance, np.arange(task.instance.n), task.best):
        task.context.claim("optimal", task.best.value, "all cuts of the order of nodes")


def _race(task: Task) -> None:
    if task.best.answer is not None:
        task.found += race(task.instance, task.space, task.context, task.best)


def _sprint(task: Task) -> None:
    if task.best.answer is not None:
        task.found += race(task.instance, task.space, task.context, task.best, *SPRINT)


def _walk(task: Task) -> None:
    if task.best.answer is not None:
        task.found += race(task.instance, task.space, task.context, task.best, 1)


def _annealing(task: Task) -> None:
    if task.best.answer is not None:
        found = task.found[:STARTS] or [task.best.answer]
        # Where windows are weak or missing the walk goes on for all of its share.
        alone = task.instance.problem == "calls" or ports.has_ports(task.instance)
        rounds = 0 if alone else len(found) + 2
        anneal(task.instance, task.space, task.context, task.best, found, rounds=rounds)


def _long_annealing(task: Task) -> None:
    if task.best.answer is not None:
        found = task.found[:STARTS] or [task.best.answer]
        anneal(task.instance, task.space, task.context, task.best, found)


def _splitting(task: Task) -> None:
    # From nothing: what is known would win over the modules, and the polish go out from there.
    def take(answer: Answer) -> None:
        task.best.offer(answer)

    given = task.context
    context = Context(
        seed=given.seed, deadline=given.deadline, threads=given.threads, bound=given.bound,
        on_answer=take,
    )  # fmt: skip
    splitting(task.instance, context)


def _lns(task: Task) -> None:
    if task.best.answer is not None:
        improve(task.instance, task.space, task.context, task.best, found=task.found)


def _exact(name: str) -> Part:
    def part(task: Task) -> None:
        entry, context = catalogue.load(name), task.context
        if name == "dp" and catalogue.load("dp").refusal(task.instance) is not None:
            entry = catalogue.load("dp-relaxed")
        if entry.refusal(task.instance) is not None:
            return
        if context.deadline == math.inf:
            context = Looks(
                seed=context.seed, threads=context.threads, start=context.start,
                bound=context.bound, on_answer=context.on_answer, on_bound=context.on_bound,
                on_claim=context.on_claim,
            )  # fmt: skip
        if name in ENDLESS:
            context.deadline = min(context.deadline, task.end - LATE[name.partition("@")[2]])
            if context.time_left() <= 0:
                return
        context.start = task.best.answer
        entry.run(task.instance, context, **({"max_gib": GIB} if name == "dp" else {}))

    return part


PARTS: dict[str, Part] = {
    "bounds": _bounds,
    "single": _single,
    "greedy": _greedy,
    "lists": _lists,
    "starts": _starts,
    "walk": _walk,
    "sprint": _sprint,
    "race": _race,
    "annealing": _annealing,
    "long-annealing": _long_annealing,
    "splitting": _splitting,
    "lns": _lns,
    **{name: _exact(name) for name, kind in KINDS.items() if kind == "exact"},
    "runs": _runs,
}
