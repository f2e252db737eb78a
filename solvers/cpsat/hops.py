"""`chips` in CP-SAT: prefix literals along the chain, and the triangle rule as it is defined.

Which chip feeds which, and which reaches which over others, are literals of their own: the direct
model of Xie et al. 2022 (arXiv 2112.04041), whose clauses grow with edges x chips squared. It is
for small instances; larger ones are refused.

All times are rounded down to whole units, so that the model is a relaxation: its bound is a bound
of the instance, and its answers are re-evaluated in exact arithmetic. Placement is exact.
"""

from __future__ import annotations

from problems import chips
from problems.answer import Answer
from problems.bounds.pipeline import as_pipeline
from problems.instance import Instance
from solvers import objective
from solvers.cpsat._chips import build
from solvers.cpsat._search import search
from solvers.formulations._floor import floor
from solvers.keeper import Keeper
from solvers.method import Context, Gap, Method, Unsupported, options_of

__all__ = ["METHOD", "build", "hops"]

ROUNDS = 3
"""Times that a model is built: units follow the best answer, which may turn out much better."""

LARGEST = 500_000
"""Clauses of the triangle rule beyond which the model takes minutes to build."""
CLAUSE = 4e-5
"""Seconds that a clause takes to build, to hand over and to read into CP-SAT, about."""


def clauses(instance: Instance) -> int:
    """Clauses of the triangle rule and of through traffic, about."""
    rules = chips.rules_of(instance)
    K = instance.K
    pairs = K * (K - 1) // 2 + (2 * K if rules.through_traffic else K * K)
    return instance.m * pairs + K**3 // 3


def refuses(instance: Instance) -> str | None:
    """Why the method cannot take the instance, or None."""
    count = clauses(instance)
    if count <= LARGEST:
        return None
    return f"hops needs about {count:,} clauses here, {LARGEST:,} are the most it builds"


def hops(
    instance: Instance,
    context: Context,
    *,
    symmetry: bool = True,
    gap: Gap = 0.0,
) -> Answer | None:
    """Prefix literals and the exact triangle rule in CP-SAT."""
    reason = refuses(instance)
    if reason is not None:
        raise Unsupported(reason)
    from ortools.sat.python import cp_model  # heavy: out of start-up

    keeper = Keeper(context, lambda answer: objective.value(instance, answer))
    for answer in objective.known(instance, context):
        keeper.take(answer)
    if keeper.value == 0.0:
        context.claim("optimal", 0.0, "the starting answer takes no time")
        return keeper.best
    least = floor(as_pipeline(instance), context.time_left(), keeper.value)
    keeper.bound_by(max(least, context.bound))
    if keeper.proved(gap):
        keeper.conclude("optimal", "the starting answer meets a known bound", gap)
        return keeper.best
    for _ in range(ROUNDS):
        known = keeper.value
        program = build(instance, known, cp_model.CpModel(), symmetry=symmetry)
        if keeper.best is not None:
            program.hint(keeper.best)
        status, note = search(program, context, keeper, gap)
        # Proved in units, not in seconds: once more in the finer units of the answer found.
        if status != "optimal" or keeper.proved(gap) or not keeper.value < known:
            break
    keeper.conclude(status, note, gap)
    return keeper.best


METHOD = Method(
    name="hops",
    run=hops,
    problems=("chips",),
    kind="exact",
    source="this suite; rules of Xie et al. 2022 (arXiv 2112.04041)",
    options=options_of(hops),
    warm=True,
    needs=("ortools",),
    refuses=refuses,
    summary="Prefix literals and the exact triangle rule in CP-SAT",
)
