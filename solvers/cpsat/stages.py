"""`throughput` in CP-SAT: a device literal a group, prefix literals along a chain.

All times are rounded down to whole units, so that the model is a relaxation: its bound is a bound
of the instance, and its answers are re-evaluated in exact arithmetic. Placement is exact.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from problems import throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers import objective
from solvers.backends._outcome import Status
from solvers.cpsat._pipeline import build
from solvers.cpsat._search import search
from solvers.formulations._floor import floor
from solvers.keeper import Keeper
from solvers.method import Context, Gap, Method, Unsupported, options_of

__all__ = ["METHOD", "build", "stages"]

ROUNDS = 3
"""Times that a model is built: units follow the best answer, which may turn out much better."""

FIRST = 0.15, 5.0
"""What a first run on one strategy may take: a share of the time, at most so many seconds."""

LARGEST = 3_000_000
"""Literals beyond which the model takes minutes to build."""


def refuses(instance: Instance) -> str | None:
    """Why the method cannot take the instance, or None."""
    throughput.rules_of(instance)
    literals = instance.n * instance.K * (2 if instance.staged else instance.K)
    if literals <= LARGEST:
        return None
    return f"stages needs about {literals:,} literals here, {LARGEST:,} are the most it builds"


def stages(
    instance: Instance,
    context: Context,
    *,
    symmetry: bool = True,
    gap: Gap = 0.0,
) -> Answer | None:
    """Device and prefix literals in CP-SAT."""
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
    least = floor(instance, context.time_left(), keeper.value)
    keeper.bound_by(max(least, context.bound))  # a large model may end before CP-SAT bounds any
    if keeper.proved(gap):
        keeper.conclude("optimal", "the starting answer meets a known bound", gap)
        return keeper.best
    if context.time_left() <= 0:
        keeper.conclude("stopped", "no time was left for a model")
        return keeper.best
    for _ in range(ROUNDS):
        known = keeper.value
        program = build(instance, known, cp_model.CpModel(), symmetry=symmetry)
        status: Status = "stopped"
        note = ""
        # Two strategies where neither is best, see _strategy.
        for first in (True, False) if context.threads == 1 and not program.at else (False,):
            if status == "stopped":
                if keeper.best is not None:
                    program.hint(keeper.best)
                share, most = FIRST if first else (1.0, math.inf)
                tune = partial(_strategy, context.threads, bool(program.at), first)
                status, note = search(
                    program, context, keeper, gap, share=share, most=most, tune=tune
                )
        # Proved in units, not in seconds: once more in the finer units of the answer found.
        if status != "optimal" or keeper.proved(gap) or not keeper.value < known:
            break
    keeper.conclude(status, note, gap)
    return keeper.best


def _strategy(threads: int, chain: bool, first: bool, parameters: Any) -> None:
    """Choose how CP-SAT searches.

    Along a chain propagation is all, and an LP at every node only slows it down. Placed freely,
    some instances fall to the full LP at once and some to propagation, and none says which
    beforehand: a short run with the LP, then both by turns.
    """
    if threads == 1 and (chain or first):
        parameters.linearization_level = 0 if chain else 2
        return
    second = "quick_restart_no_lp" if chain else "max_lp"
    names = ["no_lp", second, "default_lp", "quick_restart"]
    parameters.subsolvers.extend(names[: max(threads, 2)])
    parameters.interleave_search = threads == 1


METHOD = Method(
    name="stages",
    run=stages,
    problems=("throughput",),
    kind="exact",
    source="this suite; rules of Tarnawski et al. 2020 (arXiv 2006.16423)",
    options=options_of(stages),
    warm=True,
    needs=("ortools",),
    refuses=refuses,
    summary="Device and prefix literals in CP-SAT",
)
