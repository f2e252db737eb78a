"""Local search on `throughput` mappings, so that exact methods start with a good upper bound.

Simulated annealing, see :mod:`solvers.walk_throughput`: from every candidate, within steps of work.
Memory and support may be violated at a price, which is how it finds a first valid mapping where
memory is tight.
"""

from __future__ import annotations

import math
import time

import numpy as np

from problems import placement, throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers import rng as rng_
from solvers.units_throughput import Problem, problem_of
from solvers.walk_throughput import Walk, anneal, restart, walk

STEPS = 12_000_000
"""Steps (a net or a device looked at) in all: about half a second."""
STEPS_PER_PLACE = 10_000
"""Steps a pair of a group and a device at most: enough for small ones."""
HOT, COLD = 1e-2, 2e-4
"""First and last temperature, parts of the period."""
PIECE = 256
"""Moves at one temperature."""


def improve(
    instance: Instance,
    units: np.ndarray,
    candidates: list[np.ndarray],
    *,
    steps: int | None = None,
    hot: float = HOT,
    seed: int = 0,
    deadline: float = math.inf,
) -> Answer | None:
    """The best valid mapping found; None without one.

    Parameters
    ----------
    units : int array, shape (n,)
        What moves as one: numbers 0..U-1 of colocation groups or, along a chain, of groups that the
        order ties together.
    candidates : list of int arrays, shape (n,)
        Mappings that keep each unit together and the rule of the chain, if nothing else.
    steps : int, optional
        By default grows with the instance up to :data:`STEPS`; shared among the candidates.
    deadline : float
        On :func:`time.monotonic`'s scale, seconds: it cuts the search once there is a valid
        mapping; its course depends on the seed alone.
    """
    problem = problem_of(instance, units)
    first = np.unique(units, return_index=True)[1]
    if steps is None:
        steps = min(STEPS, STEPS_PER_PLACE * len(first) * instance.K)
    run = walk(problem, rng_.seeded(np.random.default_rng(seed)))
    for device in candidates:
        restart(problem, run, device[first], ranks(instance, device))
        _cool(problem, run, steps // len(candidates), hot, deadline)
    if run.best[0] < 0:
        return None
    mapping = run.best[units]
    # Sums that are kept along the search round differently: judge anew.
    return Answer.of(mapping) if throughput.is_valid(instance, mapping) else None


def ranks(instance: Instance, device: np.ndarray) -> np.ndarray:
    """Place of each device in the chain, shape (K,); by number where there is none."""
    result = np.arange(instance.K)
    if throughput.rules_of(instance).contiguous:
        order = throughput.chain(instance, device)
        if order is not None:
            result[order] = np.arange(instance.K)
    return result


def _cool(problem: Problem, run: Walk, steps: int, hot: float, deadline: float) -> None:
    """One round of annealing within so many steps."""
    used = 0
    while used < steps and run.energy[1] > 0.0:
        if run.best[0] >= 0 and time.monotonic() > deadline:
            return
        heat = run.real[0] * hot * (COLD / hot) ** (used / steps)
        used += anneal(problem, run, 0, PIECE, heat, 1.0, PIECE)


def violation(instance: Instance, device: np.ndarray) -> float:
    """How far a mapping breaks support and memory: 0 where it keeps them."""
    wrong = ~np.isfinite(instance.time[np.arange(instance.n), device])
    finite = np.isfinite(instance.memory)
    excess = placement.memory_use(instance, device)[finite] / np.maximum(instance.memory[finite], 1)
    return float(wrong.mean() + np.maximum(excess - 1, 0).sum())
