"""Compiled evaluators beside the plain checker: the ratio is pytest-benchmark's, in one run."""

from __future__ import annotations

import numpy as np
import pytest

from problems import checker, latency, throughput
from problems.answer import Answer
from problems.generate.random import random_bundle
from problems.resolve import from_bundle


@pytest.fixture(scope="module", params=["throughput", "latency"])
def case(request):
    """A random instance of 1,000 nodes on 4 devices, and a random valid answer."""
    bundle = random_bundle(0, n=1000, devices=4, density=0.002, problem=request.param)
    instance = from_bundle(bundle)
    device = np.random.default_rng(0).integers(0, instance.K, instance.n)
    if request.param == "throughput":
        return instance, Answer(device), lambda: throughput.period(instance, device)
    answer = latency.dispatch(instance, device)
    return instance, answer, lambda: latency.makespan(instance, answer)


def test_compiled(benchmark, case):
    instance, answer, evaluate = case
    evaluate()  # compiled before the clock
    benchmark.group = f"evaluate 1,000 nodes x 4 devices, {instance.problem}"
    assert benchmark(evaluate) == pytest.approx(checker.check(instance, answer).objective)


def test_checker(benchmark, case):
    instance, answer, _ = case
    benchmark.group = f"evaluate 1,000 nodes x 4 devices, {instance.problem}"
    assert benchmark(checker.check, instance, answer).valid
