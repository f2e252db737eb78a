"""HiGHS through Pyomo; copy this file with another name for another of Pyomo's solvers."""

from __future__ import annotations

from solvers.backends import _pyomo
from solvers.backends._outcome import Outcome, Task
from solvers.model import Model

NEEDS = ("pyomo", "highspy")
SOLVER = _pyomo.Solver(
    "appsi_highs",
    {
        "gap": "mip_rel_gap",
        "threads": "threads",
        "seed": "random_seed",
        "tolerance": "mip_feasibility_tolerance",
    },
)


def solve(model: Model, task: Task) -> Outcome:
    """Solve a model; see :func:`solvers.backends._pyomo.solve`."""
    return _pyomo.solve(model, task, SOLVER)
