import numpy as np
import pytest

from problems import latency
from problems.answer import Answer
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.improve import _anneal, _parts, _tails, improve
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


@pytest.mark.parametrize("topology", ["staged", "direct"])
@pytest.mark.parametrize("contention", ["none", "ports"])
def test_the_makespan_that_the_walk_keeps_is_that_of_its_answer(contention, topology):
    case = large(rules={"contention": contention}, topology=topology)
    start = latency.complete(case, latency_start(case))
    device, sequence = start.device.copy(), latency.sequence_of(case, start)
    best_device, best_sequence = device.copy(), sequence.copy()
    value = latency.makespan(case, start) * 2  # any answer of the walk is better
    parts = _parts(case)
    for seed in range(30):
        value = _anneal(
            device, sequence, best_device, best_sequence, value, 5.0, 1.0, 200, seed,
            seed % 2 / 2, *parts,
            case.pred_ptr, case.pred, case.succ_ptr, case.succ, case.unlimited, case.memory,
            case.link_time, latency.communication(case), case.group,
            _tails(parts[0], case.succ_ptr, case.succ),
            (contention == "ports", case.staged, case.port, case.wire, case.host),
        )  # fmt: skip
        answer = latency.answer_of(case, best_device, best_sequence)
        assert check(case, answer).objective == pytest.approx(value, rel=1e-12)
        # Where the walk itself stands is valid as well.
        assert check(case, latency.answer_of(case, device, sequence)).valid
