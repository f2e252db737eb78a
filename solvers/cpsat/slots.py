"""`calls` by slots in CP-SAT: times bound to literals, no big-M.

All times are rounded down to whole units, so that the model is a relaxation: its bound is a bound
of the instance, and its answers are re-evaluated in exact arithmetic. Ranks order the calls and
host nodes, as in :mod:`solvers.formulations.calls`: calls that take no time could wait for each
other in a circle otherwise.
"""

from __future__ import annotations

import math

from problems.answer import Answer
from problems.bounds.calls_path import as_schedule
from problems.bounds.destructive import destructive
from problems.instance import Instance
from solvers import objective
from solvers.cpsat._calls import build
from solvers.cpsat._search import search
from solvers.formulations._windows import SAFETY
from solvers.formulations.calls import refuses
from solvers.keeper import Keeper
from solvers.method import Context, Gap, Method, Unsupported, options_of

SHARE, LONGEST = 0.15, 10.0
"""What a bound of schedules may take before: a share of the time left, at most so many seconds."""


def slots(
    instance: Instance,
    context: Context,
    *,
    symmetry: bool = True,
    gap: Gap = 0.0,
) -> Answer | None:
    """Subgraph calls by slots in CP-SAT."""
    from ortools.sat.python import cp_model  # heavy: out of start-up

    reason = refuses(instance)
    if reason is not None:
        raise Unsupported(reason)
    keeper = Keeper(context, lambda answer: objective.value(instance, answer))
    for answer in objective.known(instance, context):
        keeper.take(answer)
    if keeper.value == 0.0:
        context.claim("optimal", 0.0, "the starting answer takes no time")
        return keeper.best
    known = _schedule_bound(instance, context) if keeper.best is not None else 0.0
    keeper.bound_by(known)
    if context.time_left() <= 0:
        keeper.conclude("stopped", "no time was left for a model")
        return keeper.best
    program = build(instance, keeper.value, cp_model.CpModel(), symmetry=symmetry)
    program.model.add(program.total >= math.floor(known / program.unit * SAFETY))
    if keeper.best is not None:
        program.hint(keeper.best)
    status, note = search(program, context, keeper, gap)
    keeper.conclude(status, note, gap)
    return keeper.best


def _schedule_bound(instance: Instance, context: Context) -> float:
    case = as_schedule(instance)
    if destructive.valid_for(case) is not None:
        return 0.0
    value = destructive(case, min(SHARE * max(context.time_left(), 0.0), LONGEST)).value
    return value * SAFETY if math.isfinite(value) else 0.0


METHOD = Method(
    name="slots",
    run=slots,
    problems=("calls",),
    kind="exact",
    source="this suite; the slot model is that of Tarnawski et al. 2020 (arXiv 2006.16423)",
    options=options_of(slots),
    warm=True,
    needs=("ortools",),
    refuses=refuses,
    summary="Subgraph calls by slots in CP-SAT",
)
