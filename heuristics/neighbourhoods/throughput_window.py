"""A few units of a `throughput` mapping placed anew by CP-SAT, all others where they are.

The largest load of the window's devices shall fall below what it is; every other device may rise,
but stays below the period. Along a chain devices keep their ranks.
"""

from __future__ import annotations

import numpy as np

from heuristics.neighbourhoods.throughput_model import Window
from problems.cp_sat import keep_sound
from solvers.moves_throughput import State
from solvers.units_throughput import Problem


def solve(
    q: Problem,
    s: State,
    free: np.ndarray,
    devices: np.ndarray,
    other: np.ndarray | None = None,
    *,
    effort: float,
    seconds: float,
    seed: int,
) -> tuple[np.ndarray | None, bool, float]:
    """Look for a better place of some units.

    Parameters
    ----------
    q, s : Problem, State
        What is to be placed, and a valid mapping with its sums.
    free : int array
        Units of the window, each on one of `devices`.
    devices : int array
        Where they may go; along a chain by rank, neighbours.
    other : int array, shape (G,), optional
        A second mapping: each unit stays or goes to its place there. Not along a chain.
    effort : float
        Deterministic seconds that CP-SAT may take.
    seconds : float
        Seconds on the clock after which it is cut.

    Returns
    -------
    device : int array, shape (G,), or None
        The mapping with the window's units placed anew.
    complete : bool
        Whether CP-SAT came to an end.
    used : float
        Deterministic seconds.
    """
    from ortools.sat.python import cp_model  # heavy: out of start-up

    window = Window(cp_model.CpModel(), q, s, free, devices, other)
    solver = cp_model.CpSolver()
    keep_sound(solver.parameters)
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = effort
    if np.isfinite(seconds):
        solver.parameters.max_time_in_seconds = max(seconds, 0.01)
    solver.parameters.cp_model_probing_level = 0
    status = solver.solve(window.model)
    used = float(solver.response_proto.deterministic_time)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, status == cp_model.INFEASIBLE, used
    device = s.device.copy()
    for g, row in zip(free.tolist(), window.x, strict=True):
        for k, on in row.items():
            if solver.boolean_value(on):
                device[g] = k
    return device, status == cp_model.OPTIMAL, used
