"""`latency` by intervals in CP-SAT: one optional interval a node and device, no big-M.

All times are rounded down to whole units, so that the model is a relaxation: its bound is a bound
of the instance, and its schedules are re-evaluated in exact arithmetic. Heads and tails
(:mod:`problems.bounds.headtail`) stand as redundant rows. Transfers that take turns at ports:
:mod:`solvers.cpsat._ports`.
"""

from __future__ import annotations

from problems import latency
from problems.answer import Answer
from problems.bounds.headtail import headtail
from problems.instance import Instance
from solvers import objective
from solvers.cpsat._schedule import build
from solvers.cpsat._search import search
from solvers.improve import improve
from solvers.keeper import Keeper
from solvers.method import Context, Gap, Method, options_of

SEARCH = 0.4
"""Most of the time that local search takes before CP-SAT, which improves long schedules hardly."""


def intervals(
    instance: Instance,
    context: Context,
    *,
    symmetry: bool = True,
    gap: Gap = 0.0,
) -> Answer | None:
    """Optional intervals in CP-SAT with heads and tails."""
    from ortools.sat.python import cp_model  # heavy: out of start-up

    keeper = Keeper(context, lambda answer: _value(instance, answer))
    for answer in objective.known(instance, context):
        keeper.take(answer)
    if keeper.best is not None and keeper.best is not context.start:
        seconds = SEARCH * context.time_left()
        keeper.take(improve(instance, keeper.best, seconds=seconds, seed=context.seed))
    if keeper.value == 0.0:
        context.claim("optimal", 0.0, "the starting answer takes no time")
        return keeper.best
    # What the heads and tails of the model say before presolve is through.
    simple = headtail(instance).value
    for bound in (simple, context.bound):
        keeper.bound_by(bound)
    if keeper.proved():
        keeper.conclude("optimal", "the start meets a known bound", gap)
        return keeper.best
    if context.time_left() <= 0:
        keeper.conclude("stopped", "no time was left for a model")
        return keeper.best
    program = build(
        instance, keeper.value, cp_model.CpModel(), symmetry=symmetry,
        lower=max(context.bound, simple),
    )  # fmt: skip
    if keeper.best is not None:
        program.hint(keeper.best)
    status, note = search(program, context, keeper, gap)
    keeper.conclude(status, note, gap)
    return keeper.best


def _value(instance: Instance, answer: Answer) -> float | None:
    if not latency.is_valid(instance, answer):
        return None
    return latency.makespan(instance, answer)


METHOD = Method(
    name="intervals",
    run=intervals,
    problems=("latency",),
    kind="exact",
    source="this suite; optional intervals are the field's",
    options=options_of(intervals),
    warm=True,
    needs=("ortools",),
    summary="Optional intervals in CP-SAT with heads and tails",
)
