"""CP-SAT on a model in integers (:mod:`solvers.backends._integers`), whose bounds stay true."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from problems.cp_sat import keep_sound
from solvers.backends._integers import Rounded, UnboundedError, rounded
from solvers.backends._outcome import Outcome, Task
from solvers.method import Unsupported
from solvers.model import Model

NEEDS = ("ortools",)


def solve(model: Model, task: Task) -> Outcome:
    """Solve a model.

    Raises
    ------
    Unsupported
        If a variable is unbounded.
    RuntimeError
        If CP-SAT refuses the model.
    """
    from ortools.sat.python import cp_model  # heavy: out of start-up

    try:
        whole = rounded(model)
    except UnboundedError as error:
        raise Unsupported(str(error)) from None
    program, x = _program(whole, cp_model)
    if task.start is not None:
        for variable, value in zip(x, whole.units(task.start).tolist(), strict=True):
            program.add_hint(variable, value)
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = task.threads
    parameters.random_seed = task.seed % 2**31
    parameters.relative_gap_limit = task.gap
    keep_sound(parameters)
    parameters.log_search_progress = task.log
    parameters.log_to_stdout = False
    if math.isfinite(task.seconds):
        parameters.max_time_in_seconds = max(task.seconds, 0.0)
    if task.nodes is not None:
        parameters.max_deterministic_time = task.nodes / 10
    solver.log_callback = print

    def bound(value: float) -> None:
        task.on_bound(whole.bound(value))

    def hand_on(value: Any) -> None:
        task.on_solution(whole.step * np.array([value(each) for each in x], float))

    class Stream(cp_model.CpSolverSolutionCallback):  # type: ignore[misc] # the base is untyped
        def on_solution_callback(self) -> None:
            hand_on(self.value)

    solver.best_bound_callback = bound
    status = solver.solve(program, Stream())
    note = f"CP-SAT: {solver.status_name(status)}"
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"{note}: {program.validate()}")
    if status == cp_model.INFEASIBLE:
        return Outcome("infeasible", note)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        hand_on(solver.value)
    bound(solver.best_objective_bound)
    return Outcome("optimal" if status == cp_model.OPTIMAL else "stopped", note)


def _program(whole: Rounded, cp_model: Any) -> tuple[Any, list[Any]]:
    program = cp_model.CpModel()
    x = [
        program.new_int_var(low, high, f"x{j}")
        for j, (low, high) in enumerate(
            zip(whole.lower.tolist(), whole.upper.tolist(), strict=True)
        )
    ]
    matrix = whole.matrix
    ptr, index, data = (each.tolist() for each in (matrix.indptr, matrix.indices, matrix.data))
    sides = zip(whole.row_lower.tolist(), whole.row_upper.tolist(), strict=True)
    for i, (low, high) in enumerate(sides):
        entries = slice(ptr[i], ptr[i + 1])
        activity = cp_model.LinearExpr.weighted_sum([x[j] for j in index[entries]], data[entries])
        program.add_linear_constraint(
            activity,
            cp_model.INT_MIN if low == -math.inf else int(low),
            cp_model.INT_MAX if high == math.inf else int(high),
        )
    paid = np.flatnonzero(whole.cost).tolist()
    program.minimize(
        cp_model.LinearExpr.weighted_sum([x[j] for j in paid], whole.cost[paid].tolist())
    )
    return program, x
