"""CBC through Pyomo: the program that the package `pulp` carries, no system package."""

from __future__ import annotations

from dataclasses import replace

from solvers.backends import _pyomo
from solvers.backends._outcome import Outcome, Task
from solvers.model import Model

NEEDS = ("pyomo", "pulp")
SOLVER = _pyomo.Solver(
    "cbc",
    {
        "gap": "ratioGap",
        "threads": "threads",
        "seed": "randomCbcSeed",
        "tolerance": "primalTolerance",
    },
    # CBC passes over what is better by less than its increment, which it sets large by itself.
    fixed={"allowableGap": 1e-9, "increment": 1e-9, "integerTolerance": 1e-7},
    rounding=1e-5,  # Pyomo reads bounds off the log, some with six digits
    least_seconds=0.01,
)


def solve(model: Model, task: Task) -> Outcome:
    """Solve a model; see :func:`solvers.backends._pyomo.solve`."""
    import pulp  # optional

    program = pulp.PULP_CBC_CMD.pulp_cbc_path
    return _pyomo.solve(model, task, replace(SOLVER, executable=program))
