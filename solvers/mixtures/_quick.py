"""One good mapping to begin with, so that no mixture ends worse than that."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

from problems.instance import Instance
from solvers.improve_throughput import improve
from solvers.keeper import Keeper
from solvers.method import Context
from solvers.start import even_chunks, throughput_start, units_of

SHARE = 0.15
"""Of the time left that it takes at most, but for what a first valid mapping takes."""
NEAR = 1e-3
"""First temperature of walks that stay near chunks, parts of the period."""
HEATS = 1e-2, 3e-1, 3e-3
"""First temperatures from the best mapping, in turns."""
SEEDS = 3
"""Short walks from chunks."""
SHORT = 1_000
"""Steps of a short walk, a pair of group and device; at most :data:`MOST`."""
MOST = 1_200_000


def quick(instance: Instance, context: Context, keeper: Keeper) -> None:
    """Take mappings by annealing while that gains and its time lasts."""
    left = context.time_left()
    deadline = time.monotonic() + SHARE * left
    units = units_of(instance)
    for chunks in _chunkings(instance, deadline):
        steps = min(SHORT * (int(units.max()) + 1) * instance.K, MOST)
        for i in range(SEEDS):
            answer = improve(
                instance, units, [chunks], steps=steps, hot=NEAR, seed=context.seed + i,
                deadline=deadline,
            )  # fmt: skip
            if answer is not None:
                keeper.take(answer)
    answer, turn, idle = throughput_start(instance, deadline=deadline), 0, 0
    while answer is not None:
        before = keeper.value
        keeper.take(answer)
        idle = 0 if keeper.value < before else idle + 1
        over = time.monotonic() > deadline or idle > len(HEATS)
        if math.isinf(left) or over or keeper.proved():
            return
        assert keeper.best is not None
        hot, turn = HEATS[turn % len(HEATS)], turn + 1
        best, seed = [keeper.best.device], context.seed + turn
        answer = improve(instance, units, best, hot=hot, seed=seed, deadline=deadline)


def _chunkings(instance: Instance, deadline: float) -> Iterator[np.ndarray]:
    """The most even chunks with devices by number, and the fastest first."""
    finite = np.isfinite(instance.time)
    mean = np.where(finite, instance.time, 0.0).sum(axis=0) / np.maximum(finite.sum(axis=0), 1)
    orders = [np.arange(instance.K), np.argsort(mean, kind="stable")]
    for order in orders[: 1 if np.array_equal(orders[0], orders[1]) else 2]:
        chunks = even_chunks(instance, order, deadline)
        if chunks is not None:
            yield chunks
