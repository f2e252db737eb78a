"""Windows and walks on `throughput`: valid, never worse, the same under a seed, and good."""

from __future__ import annotations

import time

import numpy as np
import pytest

from heuristics.neighbourhoods import throughput as neighbourhoods
from heuristics.neighbourhoods.throughput_window import solve
from heuristics.shared import anneal_throughput
from heuristics.shared import rng as rng_
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from problems import throughput
from problems.checker import check
from solvers.method import Context
from tests.brute_force import optimum
from tests.heuristics.samples import sample, samples


def improved(instance, seed=0, **given):
    reports = []
    context = Context(seed=seed, on_answer=reports.append, **given)
    best, space = Best(instance, context), space_.build(instance)
    baseline(instance, space, context, best)
    neighbourhoods.improve(instance, space, context, best)
    return best, reports


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(neighbourhoods, "ROUNDS", 12)


def test_answers_are_valid_and_nearly_all_of_tiny_ones_optimal():
    reached = feasible = 0
    for seed, instance in samples(60, problem="throughput"):
        value = optimum(instance).objective
        best, reports = improved(instance, seed)
        for each in reports:
            assert check(instance, each).valid, seed
        if value is not None:
            feasible += 1
            assert best.value >= value * (1 - 1e-12), seed
            reached += best.value <= value * (1 + 1e-9)
    assert feasible >= 40
    assert reached >= 0.9 * feasible


def test_same_seed_same_answer():
    for _, instance in samples(4, n=24, devices=4, problem="throughput", density=0.2):
        (first, _), (second, _) = improved(instance, 3), improved(instance, 3)
        if first.answer is not None:
            assert np.array_equal(first.answer.device, second.answer.device)


def test_a_window_of_all_units_is_the_optimum():
    """The model is the instance then: its answer is the best one along the ranks at hand."""
    compared = 0
    for seed, instance in samples(120, problem="throughput", rules={"split_phases": False}):
        context, space = Context(), space_.build(instance)
        best = Best(instance, context)
        value = optimum(instance).objective
        if not baseline(instance, space, context, best) or instance.K == 1 or best.value == 0.0:
            continue
        run = anneal_throughput.search(space, rng_.seeded(np.random.default_rng(0)))
        anneal_throughput.restart(
            space, run, best.answer.device[space.unit_node[space.unit_ptr[:-1]]]
        )
        everything, devices = np.arange(len(space.unit_bytes)), np.arange(instance.K)
        place, complete, _ = solve(
            run.problem, run.walk.state, everything, devices, effort=5.0, seconds=5.0, seed=0
        )
        assert complete, seed
        found = best.value
        if place is not None:
            assert throughput.is_valid(instance, place[space.unit]), seed
            found = throughput.period(instance, place[space.unit])
            assert found < best.value, seed
        if not space.contiguous:
            assert found == pytest.approx(value, rel=1e-4), seed
            compared += 1
    assert compared >= 25


def test_time_limit():
    instance = sample(3, problem="throughput", n=400, devices=4, density=0.02, tight=None)
    improved(sample(3, problem="throughput"))  # compiled before the clock starts
    begin = time.monotonic()
    improved(instance, deadline=begin + 0.5)
    assert time.monotonic() - begin < 2.5
