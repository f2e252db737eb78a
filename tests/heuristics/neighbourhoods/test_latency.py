"""Windows of schedules: found ones are better and worth what the model says; the search ends."""

import time

import numpy as np
import pytest

from heuristics.neighbourhoods import latency as neighbourhood
from heuristics.neighbourhoods import latency_window as window
from heuristics.shared import anneal_latency
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from problems import latency
from problems.checker import check
from solvers import rng as rng_
from solvers.method import Context
from tests.brute_force import optimum
from tests.heuristics.samples import samples

pytest.importorskip("ortools")


def begun(instance, seed=0):
    context = Context(seed=seed)
    best, space = Best(instance, context), space_.build(instance)
    baseline(instance, space, context, best)
    return context, best, space


def standing(space, answer, instance):
    run = anneal_latency.search(space, rng_.seeded(np.random.default_rng(0)))
    sequence = latency.sequence_of(instance, latency.complete(instance, answer))
    anneal_latency.restart(space, run, answer.device, sequence)
    return run


def test_a_window_over_everything_is_solved_to_the_optimum():
    gained = 0
    for _, instance in samples(60, problem="latency"):
        _, best, space = begun(instance)
        if best.answer is None:
            continue
        run = standing(space, best.answer, instance)
        n = instance.n
        found, complete, _ = window.solve(
            run.ground, run.walk, 0, n, np.ones((n, instance.K), bool), effort=5.0, seconds=60.0,
            seed=0,
        )  # fmt: skip
        assert complete
        least = optimum(instance).objective
        value = best.value
        if found is not None:
            answer = latency.answer_of(instance, *found)
            verdict = check(instance, answer)
            assert verdict.valid
            assert verdict.objective < value
            value = verdict.objective
            gained += 1
        assert value <= least * (1 + 10 * window.GAIN)
    assert gained >= 10


def test_windows_keep_what_is_around_them():
    gained = 0
    for seed, instance in samples(12, n=24, devices=3, problem="latency", density=0.3):
        _, best, space = begun(instance)
        if best.answer is None or instance.n < 8:
            continue
        run = standing(space, best.answer, instance)
        rng = np.random.default_rng(seed)
        for _ in range(4):
            first = int(rng.integers(instance.n - 6))
            last = first + 6
            inside = run.walk.sequence[first:last].copy()
            found, _, _ = window.solve(
                run.ground, run.walk, first, last, np.ones((instance.n, instance.K), bool),
                effort=1.0, seconds=60.0, seed=0,
            )  # fmt: skip
            if found is None:
                continue
            device, sequence = found
            outside = np.setdiff1d(np.arange(instance.n), inside)
            assert (device[outside] == run.walk.device[outside]).all()
            assert (sequence[:first] == run.walk.sequence[:first]).all()
            assert (sequence[last:] == run.walk.sequence[last:]).all()
            verdict = check(instance, latency.answer_of(instance, device, sequence))
            assert verdict.valid
            assert verdict.objective < run.walk.value[0]
            gained += 1
            anneal_latency.restart(space, run, device, sequence)
    assert gained >= 5


def test_improve_ends_and_finds_the_optimum_of_most():
    reached = count = 0
    for seed, instance in samples(6, problem="latency", n=5):
        context, best, space = begun(instance, seed)
        if best.answer is None:
            continue
        neighbourhood.improve(instance, space, context, best)
        assert check(instance, best.answer).valid
        count += 1
        reached += best.value <= optimum(instance).objective * (1 + 1e-4)
    assert reached >= count - 1 > 2


def test_improve_keeps_its_time_and_seed():
    instance = next(i for _, i in samples(50, n=60, devices=3, problem="latency", tight=None)
                    if i.n > 40 and i.K > 1)  # fmt: skip
    context, best, space = begun(instance)
    context.deadline = time.monotonic() + 0.3
    begin = time.monotonic()
    neighbourhood.improve(instance, space, context, best)
    assert time.monotonic() - begin < 2.0


def test_a_walk_in_a_race_returns_what_it_has_found_itself():
    worse = 0
    for _, instance in samples(20, n=8, problem="latency"):
        context, best, space = begun(instance)
        if best.answer is None:
            continue
        search = neighbourhood._Search(instance, space, context, best, [best.answer])
        # From the worst of some placements, without a move: others have been better.
        rng = np.random.default_rng(0)
        devices = [best.answer.device, *rng.integers(instance.K, size=(20, instance.n))]
        answers = [latency.dispatch(instance, device) for device in devices]
        valid = [each for each in answers if latency.is_valid(instance, each)]
        answer = max(valid, key=lambda each: latency.makespan(instance, each))
        start = search._schedule(answer)
        value, schedule = search._go(start, 0, 1e-3, 1e-5)
        assert np.array_equal(schedule[0], start[0])
        assert value == pytest.approx(latency.makespan(instance, answer), rel=1e-6)
        worse += value > best.value * (1 + 1e-6)
    assert worse >= 3
