"""Modularity splitting as a whole; its parts are tested under ``modules/``."""

import time

import numpy as np
import pytest

from heuristics import splitting as whole
from heuristics.greedy import greedy
from heuristics.splitting import splitting
from problems.answer import Answer
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.method import Context
from tests.brute_force import optimum
from tests.heuristics.samples import sample, samples

pytest.importorskip("ortools")


@pytest.mark.parametrize(
    ("backend", "count", "given"),
    [
        ("cp-sat", 60, {}),
        ("cp-sat", 20, {"problem": "latency", "rules": {"contention": "ports"}}),
        ("highs", 16, {}),
        ("scip", 16, {}),
    ],
)
def test_one_module_is_the_whole(backend, count, given):
    pytest.importorskip({"cp-sat": "ortools", "highs": "highspy", "scip": "pyscipopt"}[backend])
    for _, case in samples(count, **given):
        best = optimum(case)
        answer = splitting(case, Context(), backend=backend, count=1, effort=20.0, polish=False)
        assert (answer is None) == (best.objective is None)
        if answer is not None:
            assert check(case, answer).objective == pytest.approx(best.objective, rel=1e-5)


@pytest.mark.parametrize("problem", ["throughput", "latency"])
@pytest.mark.parametrize("how", ["louvain", "greedy", "sese"])
def test_the_clock_only_cuts(problem, how):
    case = sample(7, problem=problem, n=120, devices=3, density=0.05, tight=None)
    splitting(case, Context(), modules=how, effort=0.01, polish=False)  # compiled before
    for seconds in (0.0, 0.05, 0.4):
        begin = time.monotonic()
        answer = splitting(case, Context(deadline=begin + seconds), modules=how, polish=False)
        assert check(case, answer).valid
        assert time.monotonic() - begin < seconds + 1.5  # loose: others use the machine as well


@pytest.mark.parametrize("problem", ["throughput", "latency"])
def test_many_modules_beat_the_best_device_and_repeat_themselves(problem):
    case = sample(7, problem=problem, n=60, devices=3, density=0.05, tight=None)
    single = min(
        value for k in range(case.K)
        if (value := check(case, _all_on(case, k)).objective) is not None
    )  # fmt: skip
    one, two = (
        splitting(case, Context(seed=2), count=6, effort=0.3, polish=False) for _ in range(2)
    )
    assert np.array_equal(one.device, two.device)
    assert check(case, one).objective < single


def _all_on(case, k):
    return Answer.of([k] * case.n)


def test_one_device_leaves_nothing_to_polish():
    case = from_bundle(random_bundle(3, n=8, devices=1, problem="throughput"))
    begin = time.monotonic()
    answer = splitting(case, Context(deadline=begin + 20.0))
    assert check(case, answer).valid
    assert time.monotonic() - begin < 15  # doubling rounds that cost nothing did not end


@pytest.mark.parametrize("problem", ["throughput", "latency"])
def test_large_instances_have_the_greedy_answer_before_modules_are_sought(problem, monkeypatch):
    case = sample(7, problem=problem, n=60, devices=3, density=0.05, tight=None)
    reports, known = [], []
    cut = whole.split
    monkeypatch.setattr(whole, "split", lambda *given: (known.extend(reports), cut(*given))[1])
    for large in (10_000, 0):
        monkeypatch.setattr(whole, "LARGE", large)
        reports.clear()
        known.clear()
        context = Context(on_answer=reports.append)
        splitting(case, context, effort=0.01, polish=False)
        value = check(case, greedy(case, Context())).objective
        assert (check(case, known[-1]).objective <= value) == (large == 0)
