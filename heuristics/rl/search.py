"""The policy under a clock: rounds from the best answer, learning on the way if asked; needs torch.

An episode begins at the best answer so far. Each of its rounds goes on from the best proposal of
the one before if that is within a tolerance of the best answer; the tolerance changes from episode
to episode, so that some episodes climb and others wander.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import torch

from heuristics.rl import ppo
from heuristics.rl.policy import Policy, graph_of, vectors
from heuristics.rl.rounds import Round, State, play, state_of
from heuristics.rl.task import Task
from heuristics.shared.best import MARGIN, Best
from solvers.rng import seeded

BATCH = 16
"""Proposals of a round."""
ROUNDS = 8
"""Rounds of an episode."""
TOLERANCES = (0.0, 0.003, 0.0, 0.01)
"""Tolerated parts above the best objective, by episode."""


def device_of() -> torch.device:
    """A GPU if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def episode(
    play_round: Callable[[State], Round], first: State, tolerance: float, rounds: int = ROUNDS
) -> Iterator[Round]:
    """Rounds one after another.

    Parameters
    ----------
    tolerance : float
        A round goes on from the best proposal of the one before if its objective is within
        1 + tolerance of the best one of the episode.
    """
    state, least = first, first.value
    for _ in range(rounds):
        found = play_round(state)
        least = min(least, found.value)
        if found.value <= least * (1 + tolerance):
            state = State(found.place, found.value, found.loads)
        yield found


def search(
    task: Task, policy: Policy, best: Best, start: np.ndarray, samples: int, learn: bool
) -> int:
    """Improve `best` until its context says so, or for so many proposals; returns their number.

    Parameters
    ----------
    start : int64 array, shape (U,)
        The places of the best answer.
    samples : int
        Proposals at most; 0: no limit but the clock's.
    """
    context, stream = best.context, seeded(best.context.rng)
    graph = graph_of(task, next(policy.parameters()).device)
    optimizer = ppo.optimizer_of(policy)
    top = state_of(task, start)
    greedy, count = top.value, 0
    asked, longest = time.monotonic(), 0.0

    def ends() -> bool:
        """What takes as long as the longest wait for this question so far is not begun."""
        nonlocal asked, longest
        now = time.monotonic()
        asked, longest = now, max(longest, now - asked)
        return best.done() or context.time_left() < MARGIN + longest

    def more() -> bool:
        return not ends() and (samples == 0 or count < samples)

    def play_round(state: State) -> Round:
        batch = min(BATCH, samples - count) if samples else BATCH
        return play(task, policy, graph, state, greedy, batch, stream, ends, vector)

    turn, vector = 0, None
    while more():
        if learn or vector is None:
            vector = vectors(policy, graph)
        played = []
        for found in episode(play_round, top, TOLERANCES[turn % len(TOLERANCES)]):
            count += len(found.reward)
            played.append(found)
            if found.value < top.value:
                top = State(found.place, found.value, found.loads)
                best.offer_device(found.place[task.unit])
            if not more():
                break
        if learn and not ends():
            ppo.update(policy, graph, optimizer, played, done=ends)
        turn += 1
    return count
