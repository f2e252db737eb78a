"""Solving a module's model exactly, within an effort that does not depend on the machine."""

from __future__ import annotations

import math
from functools import partial
from types import ModuleType
from typing import Any, Literal, get_args

import numpy as np

from heuristics.shared.best import MARGIN
from problems import throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers import objective
from solvers.backends._outcome import Task
from solvers.cpsat import _pipeline
from solvers.cpsat._search import search
from solvers.formulations import assign, prefix
from solvers.keeper import TOLERANCE, Keeper
from solvers.method import Context
from solvers.mip import ROOM, guess
from solvers.model import Model
from solvers.start import throughput_start

Backend = Literal["cp-sat", "highs", "scip"]
BACKENDS = get_args(Backend)
NODES = 100
"""Nodes of a tree for a unit of CP-SAT's deterministic time: about as long."""
STEPS, EACH = 1_000_000, 1_000
"""Of the local search that a first module starts from, about a tenth of a second; for each group
and device at most.
"""
LARGEST = 400_000
"""Literals beyond which a model takes seconds to build."""
BUILDING = 5e-5
"""Seconds a literal that a model may take until its search heeds the clock, on a busy machine."""


def mapping(
    instance: Instance,
    start: Answer | None,
    backend: Backend,
    effort: float,
    context: Context,
) -> Answer | None:
    """Solve a `throughput` instance.

    Parameters
    ----------
    start : Answer or None
        A known answer.
    effort : float
        CP-SAT's deterministic time at most, roughly seconds; trees get :data:`NODES` for each.
    context : Context
        Its deadline cuts.

    Returns
    -------
    Answer or None
        The best one known: optimal unless cut. None where there is none, or none is found.
    """
    runs = np.ones((int(instance.group.max()) + 1, instance.K), bool)
    np.logical_and.at(runs, instance.group, np.isfinite(instance.time))
    if not runs.any(axis=1).all():  # parts that no device takes as a whole
        return None
    keeper = Keeper(context, lambda answer: objective.value(instance, answer))
    first = start or throughput_start(instance, steps=min(STEPS, EACH * runs.size))
    if first is not None:
        keeper.take(first)
    size = instance.n * instance.K * (2 if instance.staged else instance.K)
    if keeper.value == 0.0 or size > LARGEST or context.time_left() < MARGIN + size * BUILDING:
        return keeper.best
    if backend == "cp-sat":
        from ortools.sat.python import cp_model  # heavy: out of start-up

        program = _pipeline.build(instance, keeper.value, cp_model.CpModel(), symmetry=True)
        if keeper.best is not None:
            program.hint(keeper.best)
        chain = throughput.rules_of(instance).contiguous
        search(program, context, keeper, 0.0, tune=partial(limit, effort, chain))
        return keeper.best
    formulation = prefix if throughput.rules_of(instance).contiguous else assign
    scale = keeper.value if math.isfinite(keeper.value) else guess(instance)
    model = formulation.build(instance, symmetry=True, upper=keeper.value * ROOM, scale=scale)
    tree(model, keeper, backend, effort, context)
    return keeper.best


def tree(model: Model, keeper: Keeper, backend: str, effort: float, context: Context) -> None:
    """Run a tree search on a model and hand what it finds to `keeper`."""
    task = Task(
        start=None if keeper.best is None else model.encode(keeper.best),
        seconds=max(context.time_left() - MARGIN, 0.0),
        threads=1,
        seed=context.seed,
        gap=TOLERANCE,
        on_solution=lambda x: keeper.take(model.read(x)),
        on_bound=lambda bound: None,
        log=False,
        nodes=max(1, round(NODES * effort)),
    )
    _module(backend).solve(model, task)


def _module(backend: str) -> ModuleType:
    # Solver bindings: heavy, and not everybody has every one.
    if backend == "highs":
        from solvers.backends import highs

        return highs
    from solvers.backends import scip

    return scip


def limit(effort: float, propagate: bool, parameters: Any) -> None:
    """Tell CP-SAT how far to go: one worker, deterministic time.

    Along a chain, and of schedules, propagation is all; placed freely some models fall to the LP
    and some to propagation: strategies take turns, which is deterministic on one worker too.
    """
    parameters.num_workers = 1
    parameters.max_deterministic_time = effort
    if propagate:
        parameters.linearization_level = 0
    else:
        parameters.subsolvers.extend(["no_lp", "max_lp", "default_lp", "quick_restart"])
        parameters.interleave_search = True
