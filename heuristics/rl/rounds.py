"""A round: several proposals from one state, each repaired and measured; needs torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from heuristics.rl import features
from heuristics.rl.draws import draw, keys
from heuristics.rl.features import Seen
from heuristics.rl.policy import Graph, Policy, logits
from heuristics.rl.task import Task


class Round(NamedTuple):
    """What one round has shown.

    Attributes
    ----------
    seen : Seen
        The state.
    wished : int64 array, shape (B, U)
        Wished places, B proposals.
    reward : float64 array, shape (B,)
        log(greedy / objective) after repair, or of the state where that is better.
    place : int64 array, shape (U,)
        The best of the repaired proposals that differ from the state; the state where none does.
    value, loads : float, float64 array of shape (C,)
        Its objective in seconds, and loads.
    """

    seen: Seen
    wished: np.ndarray
    reward: np.ndarray
    place: np.ndarray
    value: float
    loads: np.ndarray


class State(NamedTuple):
    """A valid placement, shape (U,), with objective in seconds and loads, shape (C,)."""

    place: np.ndarray
    value: float
    loads: np.ndarray


def state_of(task: Task, place: np.ndarray) -> State:
    """Measure a placement."""
    return State(place, *task.measure(place))


def play(
    task: Task,
    policy: Policy,
    graph: Graph,
    state: State,
    greedy: float,
    batch: int,
    stream: np.ndarray,
    done: Callable[[], bool] = lambda: False,
    vector: torch.Tensor | None = None,
) -> Round:
    """Draw `batch` proposals and repair them; fewer where `done` says so.

    Parameters
    ----------
    greedy : float
        Objective of the greedy answer in seconds.
    stream : uint64 array, shape (1,)
        Of :func:`solvers.rng.seeded`.
    vector : float tensor, shape (U, hidden)
        Of :func:`heuristics.rl.policy.vectors`, if known.
    """
    seen = features.seen(task, state.place, state.loads)
    with torch.no_grad():
        likely = logits(policy, graph, [seen], vector)[0].exp().double().cpu().numpy()
    wished = draw(np.cumsum(likely, axis=1), state.place, batch, stream)
    # What is worse than the state is not taken, so it counts as the state: with a penalty the
    # policy soon learns to move nothing (it did).
    reward = np.full(batch, _reward(greedy, state.value))
    best, count = None, batch
    task.begin(state.place)
    for b in range(batch):
        moved = np.flatnonzero(wished[b] != state.place)
        if len(moved) == 0:
            continue
        if done():
            count = b
            break
        # In no order of their own: the first one is surely kept.
        moved = moved[np.argsort(keys(stream, len(moved)), kind="stable")]
        place = task.repair(wished[b], moved)
        if place is None:
            continue
        value, loads = task.measure(place)
        reward[b] = _reward(greedy, min(value, state.value))
        if (best is None or value < best.value) and (place != state.place).any():
            best = State(place, value, loads)
    best = state if best is None else best
    return Round(seen, wished[:count], reward[:count], *best)


def _reward(greedy: float, value: float) -> float:
    return math.log(greedy / value) if greedy > 0 and value > 0 else 0.0
