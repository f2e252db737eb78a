"""CP-SAT on a native model: what it finds and proves in units, handed on in seconds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

from problems.answer import Answer
from problems.cp_sat import keep_sound
from solvers.backends._outcome import Status
from solvers.formulations._windows import SAFETY
from solvers.keeper import Keeper
from solvers.method import Context


class Native(Protocol):
    """What the ``build(instance, upper, model, *, symmetry)`` of a native formulation returns.

    Attributes
    ----------
    model : ortools.sat.python.cp_model.CpModel
        A relaxation of the instance, its objective in units.
    unit : float
        Seconds.
    """

    @property
    def model(self) -> Any: ...
    @property
    def unit(self) -> float: ...
    def read(self, value: Callable[[Any], int]) -> Answer:
        """The answer of a solution, given as the value of a variable or literal."""


def search(
    program: Native,
    context: Context,
    keeper: Keeper,
    gap: float,
    *,
    share: float = 1.0,
    most: float = math.inf,
    tune: Callable[[Any], None] | None = None,
) -> tuple[Status, str]:
    """Run CP-SAT; how it ended, in our words and in its own.

    Parameters
    ----------
    share, most : float
        What it may take: a share of the time left, at most so many seconds.
    tune : callable
        Sets further parameters; without it, CP-SAT chooses its strategies by the threads.

    Raises
    ------
    RuntimeError
        If CP-SAT refuses the model.
    """
    from ortools.sat.python import cp_model  # heavy: out of start-up

    solver = cp_model.CpSolver()
    keep_sound(solver.parameters)
    solver.parameters.num_workers = context.threads
    solver.parameters.random_seed = context.seed % 2**31
    solver.parameters.relative_gap_limit = gap
    if tune is not None:
        tune(solver.parameters)
    left = context.time_left()
    left = min(share * (left - min(0.05 * left, 1.0)), most)
    if math.isfinite(left):
        solver.parameters.max_time_in_seconds = max(left, 0.01)
    seconds = program.unit * SAFETY
    solver.best_bound_callback = lambda bound: keeper.bound_by(bound * seconds)

    class Stream(cp_model.CpSolverSolutionCallback):  # type: ignore[misc] # the base is untyped
        def on_solution_callback(self) -> None:
            keeper.take(program.read(self.Value))

    context.built()
    status = solver.solve(program.model, Stream())
    note = f"CP-SAT: {solver.status_name(status)}, unit {program.unit:.3g} s"
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"{note}: {program.model.validate()}")
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        keeper.take(program.read(solver.value))
    if status != cp_model.INFEASIBLE:
        keeper.bound_by(solver.best_objective_bound * seconds)
    words: dict[Any, Status] = {
        cp_model.OPTIMAL: "optimal",
        cp_model.INFEASIBLE: "infeasible",
    }
    return words.get(status, "stopped"), note
