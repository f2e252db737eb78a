"""What every backend is given and gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

Status = Literal["optimal", "infeasible", "stopped"]


@dataclass(frozen=True)
class Task:
    """How a model is to be solved.

    Attributes
    ----------
    start : float64 array, shape (N,), or None
        A known solution.
    seconds : float
        Time limit; inf without one.
    threads, seed : int
    gap : float
        Relative gap at which the search may stop.
    on_solution : callable
        Takes a solution, shape (N,), as soon as it is found.
    on_bound : callable
        Takes a proved lower bound on the objective, in the model's units.
    log : bool
        Let the solver write its own log to standard output. The harness keeps the end of it in
        the record; nothing reads it.
    nodes : int or None
        Nodes of the search tree at most, so that it ends at the same place on any machine. For
        CP-SAT, which has no tree to count: ten to a unit of its deterministic time.
    """

    start: np.ndarray | None
    seconds: float
    threads: int
    seed: int
    gap: float
    on_solution: Callable[[np.ndarray], None]
    on_bound: Callable[[float], None]
    log: bool = True
    nodes: int | None = None


@dataclass(frozen=True)
class Outcome:
    """How the solver ended: its status in our words, and in its own."""

    status: Status
    note: str
