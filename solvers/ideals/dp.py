"""`throughput`, contiguous: exact dynamic program over the ideals of the contracted order.

Tarnawski et al. 2020 (arXiv 2006.16423), run at rising levels of the load: see :mod:`_program`.
"""

from __future__ import annotations

from typing import Literal, cast

from problems import throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers import objective
from solvers.formulations._floor import floor
from solvers.ideals import _scope
from solvers.ideals._program import setting, solve
from solvers.keeper import Keeper
from solvers.method import Context, Gib, Method, Unsupported, options_of


def dp(instance: Instance, context: Context, *, max_gib: Gib = 4.0) -> Answer | None:
    """Dynamic program over ideals."""
    return run(instance, context, max_gib, refuses(instance))


def refuses(instance: Instance) -> str | None:
    """Why the program cannot solve the instance, or None."""
    return _scope.refuses(instance) or _scope.undecided(instance)


def run(instance: Instance, context: Context, max_gib: float, reason: str | None) -> Answer | None:
    """Run the program unless there is a reason not to."""
    if reason is not None:
        raise Unsupported(reason)
    if max_gib <= 0:
        raise ValueError(f"option max_gib={max_gib} is not positive")
    keeper = Keeper(context, lambda answer: value_of(instance, answer))
    for answer in objective.known(instance, context):
        keeper.take(answer)
    if keeper.value == 0.0:
        context.claim("optimal", 0.0, "the starting answer takes no time")
        return keeper.best
    least = floor(instance, context.time_left(), keeper.value)
    keeper.bound_by(max(least, context.bound))
    if keeper.proved():
        keeper.conclude("optimal", "the starting answer meets a known bound")
        return keeper.best
    status, note = solve(setting(instance, keeper, context), max_gib)
    keeper.conclude(cast(Literal["optimal", "infeasible", "stopped"], status), note)
    return keeper.best


def value_of(instance: Instance, answer: Answer) -> float | None:
    """Objective of an answer in seconds; None where it is not valid."""
    if not throughput.is_valid(instance, answer.device):
        return None
    return throughput.period(instance, answer.device)


METHOD = Method(
    name="dp",
    run=dp,
    problems=("throughput",),
    kind="exact",
    source="Tarnawski et al. 2020 (arXiv 2006.16423); levels and contraction: this suite",
    options=options_of(dp),
    warm=True,
    refuses=refuses,
    summary="Dynamic program over ideals, at rising levels of the load",
)
