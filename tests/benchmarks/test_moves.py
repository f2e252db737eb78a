"""Moves of the walks evaluated per second: a round of :data:`MOVES` moves by size and devices.

A kernel is a function of this file named in :data:`KERNELS`: it takes an instance and returns a
function that makes so many moves of a walk that is under way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from heuristics.shared import anneal_latency, anneal_throughput
from heuristics.shared import rng as rng_
from heuristics.shared import space as space_
from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle

MOVES = 20_000
CONSUMERS = 2.0  # of a node, on average


def _throughput(instance: Instance) -> Callable[[], object]:
    space = space_.build(instance)
    run = anneal_throughput.search(space, rng_.seeded(np.random.default_rng(0)))
    place = np.random.default_rng(0).integers(0, instance.K, len(space.unit_bytes))
    anneal_throughput.restart(space, run, place)
    hot = 0.001 * run.energy[1]
    return lambda: anneal_throughput.anneal(space, run, 0, MOVES, hot, 0.99, MOVES)


def _latency(instance: Instance) -> Callable[[], object]:
    space = space_.build(instance)
    run = anneal_latency.search(space, rng_.seeded(np.random.default_rng(0)))
    place = np.random.default_rng(0).integers(0, instance.K, len(space.unit_bytes))
    anneal_latency.restart(space, run, place[space.unit], np.arange(instance.n))
    hot = 0.0003 * run.value[1]
    return lambda: anneal_latency.anneal(space, run, 0, MOVES, hot, 0.99, MOVES)


KERNELS: dict[str, Callable[[Instance], Callable[[], object]]] = {
    "throughput": _throughput,
    "latency": _latency,
}


@pytest.mark.parametrize("devices", [4, 16])
@pytest.mark.parametrize("nodes", [100, 1_000, 10_000])
@pytest.mark.parametrize("problem", KERNELS)
def test_moves(benchmark, problem, nodes, devices):
    density = min(1.0, 2 * CONSUMERS / nodes)
    bundle = random_bundle(0, n=nodes, devices=devices, density=density, problem=problem)
    go = KERNELS[problem](from_bundle(bundle))
    go()  # compiled before the clock
    benchmark.group = f"{problem}: {MOVES:,} moves, {nodes:,} nodes x {devices} devices"
    benchmark.pedantic(go, rounds=3)
    benchmark.extra_info["moves_per_s"] = MOVES / benchmark.stats.stats.min
