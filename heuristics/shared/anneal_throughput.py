"""The walk over `throughput` mappings (:mod:`solvers.walk_throughput`) on a space of heuristics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heuristics.shared import state as state_
from heuristics.shared.space import Space
from solvers import walk_throughput
from solvers.units_throughput import Problem, assemble
from solvers.walk_throughput import Walk


class Search(NamedTuple):
    """An annealing run; a call of :func:`anneal` goes on where the last one left.

    Attributes
    ----------
    problem : Problem
    walk : Walk
    energy : float64 array, shape (2,)
        Energy of the placement and period of the best one, in seconds.
    best : int64 array, shape (U,)
        The best placement; -1 without one.
    """

    problem: Problem
    walk: Walk
    energy: np.ndarray
    best: np.ndarray


def search(space: Space, stream: np.ndarray) -> Search:
    """A run without a placement; :func:`restart` gives it one."""
    U = len(space.unit_bytes)
    reads = np.stack([np.repeat(np.arange(U), np.diff(space.weight_ptr)), space.weight], axis=1)
    order = np.stack([np.repeat(np.arange(U), np.diff(space.after_ptr)), space.after], axis=1)
    problem = assemble(
        space, space.unit, space.unit_bytes, reads, order, space.overlap,
        contiguous=space.contiguous, split=space.split,
    )  # fmt: skip
    walk = walk_throughput.walk(problem, stream)
    return Search(problem, walk, walk.energy, walk.best)


def restart(space: Space, run: Search, place: np.ndarray) -> None:
    """Go on from a placement of units, shape (U,), that keeps the chain, if nothing else."""
    rank = np.arange(space.time.shape[1])
    if space.contiguous:
        state = state_.empty(space)
        for g in range(len(place)):
            state_.shift(space, state, g, place[g])
        state_.chain(state, rank)
    walk_throughput.restart(run.problem, run.walk, place, rank)


def anneal(
    space: Space, run: Search, first: int, moves: int, hot: float, cooling: float, step: int
) -> None:
    """Try moves first..first+moves-1 of a round; the temperature is hot * cooling**(move // step).

    Temperatures are in seconds. The clock is not looked at: the caller cuts a round into calls,
    which changes nothing else.
    """
    walk_throughput.anneal(run.problem, run.walk, first, moves, hot, cooling, step)
