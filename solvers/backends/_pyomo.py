"""The bridge to every solver that Pyomo knows; a backend file names the solver."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from solvers.backends._outcome import Outcome, Task
from solvers.model import Model

ENDED = 1e-7
"""Relative error of an optimum as solvers print it, their own tolerances with it."""


@dataclass(frozen=True)
class Solver:
    """A solver as Pyomo knows it.

    Attributes
    ----------
    name : str
        As ``SolverFactory`` calls it.
    names : mapping
        How the solver calls the options ``gap``, ``threads``, ``seed`` and ``tolerance``, as far
        as it has them.
    fixed : mapping
        More of its options.
    executable : str or None
        Path of the program, where it is one that is not on the search path.
    rounding : float
        Relative error of the bound that Pyomo reports of a search that was stopped, where it reads
        it off a printed log; of one that ended, :data:`ENDED`.
    least_seconds : float
        Shortest time limit that is passed on: Pyomo takes 0 for none with some solvers.
    """

    name: str
    names: Mapping[str, str]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    executable: str | None = None
    rounding: float = 0.0
    least_seconds: float = 0.0


def solve(model: Model, task: Task, solver: Solver) -> Outcome:
    """Solve a model; what is found and proved is reported at the end, not on the way.

    Raises
    ------
    RuntimeError
        If Pyomo does not find the solver, or it ends in a way that this module has no word for.
    """
    import pyomo.environ as pyo  # heavy, and not everybody has it

    program = {} if solver.executable is None else {"executable": solver.executable}
    opt = pyo.SolverFactory(solver.name, **program)
    if not opt.available(exception_flag=False):
        raise RuntimeError(f"Pyomo finds no solver {solver.name!r}")
    concrete = _convert(model, pyo, task.start)
    values = {
        "gap": task.gap,
        "threads": task.threads,
        "seed": task.seed % 2**31,
        "tolerance": 1e-7,
    }
    options = {solver.names[key]: value for key, value in values.items() if key in solver.names}
    limit = {}
    if math.isfinite(task.seconds):
        limit = {"timelimit": max(task.seconds, solver.least_seconds)}
    start = {"warmstart": True} if task.start is not None and opt.warm_start_capable() else {}
    try:
        results = opt.solve(
            concrete,
            load_solutions=False,
            tee=task.log,
            options={**options, **solver.fixed},
            **limit,
            **start,
        )
    except subprocess.TimeoutExpired:  # Pyomo ends a program that overruns, and keeps nothing
        return Outcome("stopped", f"Pyomo {solver.name}: ended by Pyomo after its time limit")
    return _outcome(model, task, solver, concrete, results, pyo)


def _outcome(
    model: Model, task: Task, solver: Solver, concrete: Any, results: Any, pyo: Any
) -> Outcome:
    condition = results.solver.termination_condition
    note = f"Pyomo {solver.name}: {condition}"
    kinds = pyo.TerminationCondition
    if condition == kinds.infeasible:
        return Outcome("infeasible", note)
    # CBC without an incumbent hands the relaxation's solution over.
    relaxed = condition == kinds.intermediateNonInteger
    if not relaxed and condition not in (kinds.optimal, kinds.maxTimeLimit, kinds.feasible):
        raise RuntimeError(note)
    if len(results.solution) and not relaxed:
        concrete.solutions.load_from(results)
        found = [concrete.x[j].value for j in range(len(model.cost))]
        # Pyomo leaves out a variable that stands in no row; any value of it will do.
        x = np.array([low if v is None else v for v, low in zip(found, model.lower, strict=True)])
        task.on_solution(x)
    ended = condition == kinds.optimal
    bound = results.problem.lower_bound
    if bound is not None and math.isfinite(float(bound)):
        bound = float(bound)
        if ended and task.gap and solver.rounding:
            # Pyomo calls the answer's value a bound where the log does not show the gap left open.
            bound = min(bound, bound * (1 - task.gap))
        error = min(solver.rounding, ENDED) if ended else solver.rounding
        task.on_bound(bound - error * abs(bound))
    return Outcome("optimal" if ended else "stopped", note)


def _convert(model: Model, pyo: Any, start: np.ndarray | None) -> Any:
    from pyomo.core.expr.numeric_expr import LinearExpression

    concrete = pyo.ConcreteModel()
    columns = range(len(model.cost))
    lower, upper = model.lower.tolist(), model.upper.tolist()
    concrete.x = pyo.Var(
        columns,
        domain=lambda _, j: pyo.Integers if model.integer[j] else pyo.Reals,
        bounds=lambda _, j: (lower[j], None if upper[j] == math.inf else upper[j]),
    )
    x = [concrete.x[j] for j in columns]
    if start is not None:
        for variable, value in zip(x, start.tolist(), strict=True):
            variable.set_value(value, skip_validation=True)
    paid = np.flatnonzero(model.cost).tolist()
    concrete.objective = pyo.Objective(expr=sum(float(model.cost[j]) * x[j] for j in paid))
    concrete.rows = pyo.ConstraintList()
    ptr, index, data = (
        each.tolist() for each in (model.matrix.indptr, model.matrix.indices, model.matrix.data)
    )
    sides = zip(model.row_lower.tolist(), model.row_upper.tolist(), strict=True)
    for i, (low, high) in enumerate(sides):
        entries = slice(ptr[i], ptr[i + 1])
        if entries.start == entries.stop:
            if low > 0 or high < 0:
                raise RuntimeError(f"row {i} is empty and cannot hold")
            continue
        activity = LinearExpression(
            constant=0, linear_coefs=data[entries], linear_vars=[x[j] for j in index[entries]]
        )
        if low == high:
            concrete.rows.add((activity, low))
        else:
            bounds = [None if math.isinf(side) else side for side in (low, high)]
            concrete.rows.add((bounds[0], activity, bounds[1]))
    return concrete
