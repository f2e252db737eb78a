"""The bridge to every solver that Pyomo knows; a backend file names the solver."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from solvers.backends._outcome import Outcome, Task
from solvers.model import Model


def solve(model: Model, task: Task, solver: str, names: Mapping[str, str]) -> Outcome:
    """Solve a model.

    Parameters
    ----------
    solver : str
        As Pyomo's ``SolverFactory`` calls it.
    names : mapping
        How the solver calls the options ``gap``, ``threads``, ``seed`` and ``tolerance``, as far
        as it has them.

    Raises
    ------
    RuntimeError
        If Pyomo does not find the solver, or it ends in a way that this module has no word for.
    """
    import pyomo.environ as pyo  # heavy, and not everybody has it

    opt = pyo.SolverFactory(solver)
    if not opt.available(exception_flag=False):
        raise RuntimeError(f"Pyomo finds no solver {solver!r}")
    concrete = _convert(model, pyo, task.start)
    values = {
        "gap": task.gap,
        "threads": task.threads,
        "seed": task.seed % 2**31,
        "tolerance": 1e-7,
    }
    limit = {"timelimit": max(task.seconds, 0.0)} if math.isfinite(task.seconds) else {}
    results = opt.solve(
        concrete,
        load_solutions=False,
        options={names[key]: value for key, value in values.items() if key in names},
        **limit,
        **({"warmstart": True} if task.start is not None and opt.warm_start_capable() else {}),
    )
    condition = results.solver.termination_condition
    note = f"Pyomo {solver}: {condition}"
    kinds = pyo.TerminationCondition
    if condition == kinds.infeasible:
        return Outcome("infeasible", note)
    if condition not in (kinds.optimal, kinds.maxTimeLimit, kinds.feasible):
        raise RuntimeError(note)
    bound = results.problem.lower_bound
    if len(results.solution):
        concrete.solutions.load_from(results)
        found = [concrete.x[j].value for j in range(len(model.cost))]
        # Pyomo leaves out a variable that stands in no row; any value of it will do.
        task.on_solution(
            np.array([low if v is None else v for v, low in zip(found, model.lower, strict=True)])
        )
    if bound is not None and math.isfinite(float(bound)):
        task.on_bound(float(bound))
    return Outcome("optimal" if condition == kinds.optimal else "stopped", note)


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
