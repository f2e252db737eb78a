"""Evaluations of whole placements per second by size and devices, and the plain checker beside.

The ratio of the two is pytest-benchmark's, in one run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from problems import checker, latency, throughput
from problems.answer import Answer
from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle

CONSUMERS = 2.0  # of a node, on average


def _case(problem: str, nodes: int, devices: int) -> tuple[Instance, Answer, Callable[[], float]]:
    """A random instance, a random valid answer, and its compiled evaluation."""
    density = min(1.0, 2 * CONSUMERS / nodes)
    bundle = random_bundle(0, n=nodes, devices=devices, density=density, problem=problem)
    instance = from_bundle(bundle)
    device = np.random.default_rng(0).integers(0, instance.K, instance.n)
    if problem == "throughput":
        return instance, Answer(device), lambda: throughput.period(instance, device)
    answer = latency.dispatch(instance, device)
    return instance, answer, lambda: latency.makespan(instance, answer)


@pytest.mark.parametrize("devices", [4, 16])
@pytest.mark.parametrize("nodes", [100, 1_000, 10_000])
@pytest.mark.parametrize("problem", ["throughput", "latency"])
def test_compiled(benchmark, problem, nodes, devices):
    instance, answer, evaluate = _case(problem, nodes, devices)
    evaluate()  # compiled before the clock
    benchmark.group = f"{problem}: evaluate {nodes:,} nodes x {devices} devices"
    value = benchmark(evaluate)
    benchmark.extra_info["evaluations_per_s"] = 1 / benchmark.stats.stats.min
    if nodes <= 1_000:
        assert value == pytest.approx(checker.check(instance, answer).objective)


@pytest.mark.parametrize("problem", ["throughput", "latency"])
def test_checker(benchmark, problem):
    instance, answer, _ = _case(problem, 1_000, 4)
    benchmark.group = f"{problem}: evaluate 1,000 nodes x 4 devices"
    assert benchmark(checker.check, instance, answer).valid
