"""Annealing of `latency` schedules for heuristics: the walk of :mod:`solvers.improve_walk`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heuristics.shared.space import Space
from problems.answer import Answer
from problems.instance import Instance
from solvers import improve_state as state_
from solvers import improve_times as times_
from solvers import improve_walk as walk_
from solvers.improve_state import TAKEN, Ground, Walk

FOCUS = 0.25
"""Share of moves that start from a critical node."""


class Run(NamedTuple):
    """A walk and the arrays that it reads."""

    ground: Ground
    walk: Walk

    @property
    def value(self) -> np.ndarray:
        """Makespan of the walk and of its best answer, seconds, shape (2,)."""
        return self.walk.value

    @property
    def best_device(self) -> np.ndarray:
        """Device of every node in the best answer, shape (n,)."""
        return self.walk.best_device

    @property
    def best_sequence(self) -> np.ndarray:
        """All nodes in a topological order that the best answer's devices keep, shape (n,)."""
        return self.walk.best_sequence


def search(space: Space, stream: np.ndarray) -> Run:
    """A run without an answer; :func:`restart` gives it one."""
    ground = Ground(
        **{name: getattr(space, name) for name in TAKEN},
        way=np.array(space.link_time.T, order="C"),
        links=space.links,
        sinks=np.flatnonzero(np.diff(space.succ_ptr) == 0),
        floor=times_.floors(space.time.min(axis=1), space.succ_ptr, space.succ),
        unit=space.unit,
        unit_ptr=space.unit_ptr,
        unit_node=space.unit_node,
        possible=np.isfinite(space.unit_time),
        size=space.unit_bytes,
        shared=space.shared_bytes,
        weight_ptr=space.weight_ptr,
        weight=space.weight,
        contended=space.contended,
        staged=bool(space.staged),
    )
    return Run(ground, state_.walk_of(ground, stream))


def restart(space: Space, run: Run, device: np.ndarray, sequence: np.ndarray) -> None:
    """Go on from a valid mapping and topological sequence, both of shape (n,)."""
    state_.restart(
        run.ground, run.walk, device.astype(np.int64), np.ascontiguousarray(sequence, np.int64)
    )


def anneal(
    space: Space,
    run: Run,
    first: int,
    moves: int,
    hot: float,
    cooling: float,
    step: int,
    focus: float = FOCUS,
) -> None:
    """Moves first..first+moves-1 of a round; see :func:`solvers.improve_walk.anneal`.

    Parameters
    ----------
    hot : float
        First temperature in seconds.
    """
    walk_.anneal(run.ground, run.walk, first, moves, hot, cooling, step, focus)


def answer(instance: Instance, run: Run) -> Answer:
    """The best answer of a run, with the order of transfers under ``contention: ports``."""
    return walk_.answer_of(instance, run.walk)
