"""Local search on `latency` answers, so that exact methods start with narrow windows.

Simulated annealing by the walk of :mod:`solvers.improve_walk`, in longer and longer rounds;
in every second one, half of the moves start from a critical node.
"""

from __future__ import annotations

import math
import time

import numpy as np

from problems import latency
from problems.answer import Answer
from problems.instance import Instance
from solvers import improve_state as state_
from solvers import improve_walk as walk_
from solvers import rng as rng_

HOT, COLD, STEPS_DOWN = 3e-3, 1e-5, 200
"""First and last temperature of a round, parts of the best makespan, and steps between them."""
MOVES = 100
"""Moves a node of the first round; each round has twice as many as the one before."""
ROUNDS = 7
IDLE = 2
"""Rounds, and rounds in a row that bring nothing, after which it ends."""
STEPS = 2_000_000_000
"""Steps (a node or an edge looked at) in all, without a clock: some seconds."""
FOCUS = (0.5, 0.0)
"""Share of moves that start from a critical path, round by round in turns."""
PIECE = 2_000_000
"""Steps between two looks at the clock: a hundredth of a second or so."""


def improve(
    instance: Instance,
    answer: Answer,
    *,
    seconds: float = math.inf,
    steps: int | None = None,
    seed: int = 0,
) -> Answer:
    """A better answer, or the same one with all its orders.

    The clock only cuts the search: its course depends on the seed alone.

    Parameters
    ----------
    answer : Answer
        A valid answer.
    seconds, steps : float, int
        When to stop at the latest; without either, after :data:`STEPS`.
    """
    deadline = time.monotonic() + seconds
    if steps is None:
        steps = STEPS if math.isinf(seconds) else 2**62
    answer = latency.complete(instance, answer)
    sequence = latency.sequence_of(instance, answer)
    assert sequence is not None
    first = latency.makespan(instance, answer)
    ground = state_.ground_of(instance)
    walk = state_.walk_of(ground, rng_.seeded(np.random.default_rng(seed)))
    state_.restart(ground, walk, answer.device, sequence)
    size = instance.n + instance.m
    piece, left = max(1, PIECE // size), steps // size
    cooling = (COLD / HOT) ** (1 / STEPS_DOWN)
    idle = 0
    for turn in range(ROUNDS):
        before = walk.value[1]
        if turn > 0:
            state_.restart(ground, walk, walk.best_device.copy(), walk.best_sequence.copy())
        moves, at = min(MOVES * instance.n * 2**turn, left), 0
        left -= moves
        step = max(1, moves // STEPS_DOWN)
        while walk.value[1] > 0 and at < moves and time.monotonic() < deadline:
            count = min(piece, moves - at)
            walk_.anneal(
                ground, walk, at, count, HOT * before, cooling, step, FOCUS[turn % len(FOCUS)]
            )
            at += count
        idle = 0 if walk.value[1] < before else idle + 1
        if idle == IDLE:
            break
    found = walk_.answer_of(instance, walk)
    return found if latency.makespan(instance, found) < first else answer
