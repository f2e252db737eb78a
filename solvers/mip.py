"""From an instance through a formulation and a backend to a checked answer."""

from __future__ import annotations

import math
from dataclasses import replace
from types import ModuleType

from problems.answer import Answer
from problems.instance import Instance
from solvers import objective
from solvers.backends._outcome import Outcome, Task
from solvers.formulations._floor import floor
from solvers.keeper import TOLERANCE, Keeper
from solvers.method import Context, Gap, Method, Run, Unsupported, options_of
from solvers.model import Model

RESERVE = 0.05, 1.0
"""What is kept of the time left for reading the answer: a share, at most so many seconds."""


ROOM = 1 + 10 * TOLERANCE
"""A known answer's value is an upper bound times this, or tolerance could cut off the answer."""


def pair(name: str, formulation: ModuleType, backend: ModuleType) -> Method:
    """The method that solves `formulation` by `backend`."""

    def run(
        instance: Instance,
        context: Context,
        *,
        symmetry: bool = True,
        gap: Gap = 0.0,
    ) -> Answer | None:
        reason = formulation.refuses(instance)
        if reason is not None:
            raise Unsupported(reason)
        return solve(instance, context, formulation, backend, symmetry=symmetry, gap=gap)

    typed: Run = run
    return Method(
        name=name,
        run=typed,
        problems=formulation.PROBLEMS,
        kind="exact",
        source=formulation.SOURCE,
        options=options_of(typed),
        warm=True,
        needs=backend.NEEDS,
        refuses=formulation.refuses,
        summary=f"{(formulation.__doc__ or '').splitlines()[0]}",
    )


def solve(
    instance: Instance,
    context: Context,
    formulation: ModuleType,
    backend: ModuleType,
    *,
    symmetry: bool,
    gap: float,
) -> Answer | None:
    """Build, solve, report; see :func:`pair`."""
    if gap < 0:
        raise ValueError(f"option gap={gap} is negative")
    keeper = Keeper(context, lambda answer: objective.value(instance, answer), slack=TOLERANCE)
    for answer in objective.known(instance, context):
        keeper.take(answer)
    if keeper.value == 0.0:
        context.claim("optimal", 0.0, "the starting answer takes no time")
        return keeper.best
    if instance.problem == "throughput":
        least = floor(instance, context.time_left(), keeper.value)
        keeper.bound_by(max(least, context.bound))
        if keeper.proved(gap):
            keeper.conclude("optimal", "the starting answer meets a known bound", gap)
            return keeper.best
    if context.time_left() <= 0:
        keeper.conclude("stopped", "no time was left for a model")
        return keeper.best
    scale = keeper.value if math.isfinite(keeper.value) else guess(instance)
    upper = keeper.value * ROOM
    model: Model = formulation.build(instance, symmetry=symmetry, upper=upper, scale=scale)
    task = Task(
        start=None if keeper.best is None else model.encode(keeper.best),
        seconds=_seconds(context),
        threads=context.threads,
        seed=context.seed,
        gap=gap,
        on_solution=lambda x: keeper.take(model.read(x)),
        on_bound=lambda bound: keeper.bound_by(bound * scale),
    )
    context.built()
    outcome: Outcome = backend.solve(model, task)
    if outcome.status == "optimal" and not keeper.proved(gap) and task.start is not None:
        # Seen in HiGHS (see its backend), whoever calls it: a start that is mapped wrongly.
        outcome = backend.solve(model, replace(task, start=None, seconds=_seconds(context)))
    keeper.conclude(outcome.status, outcome.note, gap)
    return keeper.best


def _seconds(context: Context) -> float:
    left = context.time_left()
    return left - min(RESERVE[0] * left, RESERVE[1])


def guess(instance: Instance) -> float:
    """Some positive number of seconds of the order of the objective."""
    least = instance.time.min(axis=1)
    return max(float(least.sum()) / instance.K, float(least.max())) or 1.0
