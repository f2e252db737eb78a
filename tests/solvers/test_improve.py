import numpy as np
import pytest

from problems import latency
from problems.answer import Answer
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.improve import improve
from solvers.start import latency_start
from tests.brute_force import optimum
from tests.solvers.tiny import instances


def test_answers_stay_valid_and_mostly_become_optimal():
    started = reached = 0
    for seed, case in instances("latency", range(100)):
        best = optimum(case)
        if best.objective is None:
            continue
        start = next(
            (a for a in (Answer.of(np.full(case.n, k)) for k in range(case.K))
             if latency.is_valid(case, a)),
            best.answer,
        )  # fmt: skip
        found = improve(case, start, seed=seed)
        verdict = check(case, found)
        assert verdict.valid, (seed, verdict)
        assert best.objective <= verdict.objective <= check(case, start).objective
        started += check(case, start).objective <= best.objective * (1 + 1e-9)
        reached += verdict.objective <= best.objective * (1 + 1e-9)
    assert reached >= 80 > started + 20


def large(**traits):
    return from_bundle(
        random_bundle(5, n=120, devices=3, density=0.05, problem="latency", tight=1.3, tied=20,
                      groups=20, **traits)
    )  # fmt: skip


@pytest.mark.parametrize("contention", ["none", "ports"])
def test_a_larger_answer_gets_better(contention):
    case = large(rules={"contention": contention})
    start = latency_start(case)
    found = improve(case, start, steps=10**7)
    assert check(case, found).valid
    again = improve(case, start, steps=10**7)
    assert again.device.tolist() == found.device.tolist()  # the seed alone decides
    poor = latency.answer_of(case, start.device, np.arange(case.n))
    value = latency.makespan(case, improve(case, poor, steps=10**8))
    assert value < 0.97 * latency.makespan(case, poor)


def test_no_time_changes_nothing():
    case = large()
    start = latency_start(case)
    assert latency.makespan(case, improve(case, start, seconds=0.0)) == latency.makespan(
        case, start
    )
    assert latency.makespan(case, improve(case, start, steps=0)) == latency.makespan(case, start)
