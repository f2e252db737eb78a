import numpy as np
import pytest

from problems import latency
from problems.bounds.headtail import heads, headtail, tails
from problems.bounds.propagation import case_of
from problems.bounds.series import series
from problems.bounds.spans import Steps, spans
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from tests.brute_force import optimum
from tests.problems.bounds.test_part import costs_of
from tests.tiny import instance


def steps_of(case):
    return Steps(case, case_of(case), costs_of(case))


def aside(delay):
    """Two forks in a row, and a node aside of both: nothing is passed by all."""
    times = [[1, 1], [2, 2], [2, 2], [1, 1], [2, 2], [2, 2], [1, 1], [1, 1]]
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)]
    return instance(times, edges, delay={(0, 1): delay})


def test_parts_are_steps_of_the_longest_path():
    case = aside(1.5)  # a fork takes 3.5: half of it moves to where the next node is
    assert series.valid_for(case) is not None
    assert headtail(case).value == pytest.approx(7, rel=1e-9)
    best = optimum(case).objective
    assert best == 10
    assert best * (1 - 1e-5) < spans(case, 60.0).value <= best


def test_without_parts_heads_and_tails_are_those_over_edges():
    case = aside(0.25)
    steps = steps_of(case)
    assert steps.value()[0] == pytest.approx(headtail(case).value, rel=1e-9)
    np.testing.assert_allclose(steps.head, heads(case))
    np.testing.assert_allclose(steps.tail, tails(case))


@pytest.mark.parametrize("seed", range(12))
def test_no_schedule_is_ahead_of_heads_and_tails(seed):
    case = from_bundle(
        random_bundle(
            seed, n=5 + seed % 2, devices=2 + seed % 2, problem="latency", like=seed % 3 < 2,
            topology=("staged", "direct")[seed % 2], hosts=seed // 2 % 2,
            unlimited=seed % 5 == 0, density=0.5,
        )
    )  # fmt: skip
    best, answer = optimum(case)
    steps = steps_of(case)
    device = np.asarray(answer.device)
    place = {-1: 0, case.n: 0} | dict(enumerate(device.tolist()))
    for a in range(-1, case.n):
        for b in range(a + 2, case.n + 1):
            inside = a < 0 or b == case.n or steps.case.below[a, b]
            if inside and steps.between(a, b).sum() > 1:
                for _ in range(2):  # for any devices, then for those of the answer
                    steps.ask((a, place[a]), (b, place[b]), 5.0, np.inf)
    steps.value()
    begin = latency.starts(case, answer)
    at = np.arange(case.n), device
    assert (steps.head[at] <= begin * (1 + 1e-9)).all()
    assert (begin + case.time[at] + steps.tail[at] <= best * (1 + 1e-9)).all()
    assert steps.asked > 0


def test_what_holds_for_two_devices_holds_for_alike_ones():
    steps = steps_of(aside(1.5))
    for devices in ((0, 1), (0, 1), (0, 0)):  # the first time for any devices
        steps.ask((0, devices[0]), (3, devices[1]), 5.0, np.inf)
    np.testing.assert_allclose(steps.parts[0, 3].least, [[4, 3.5], [3.5, 4]], rtol=1e-5)
    steps = steps_of(aside(1.5))
    for _ in range(2):
        steps.ask((0, 0), (3, 0), 5.0, np.inf)
    np.testing.assert_allclose(np.diag(steps.parts[0, 3].least), 4, rtol=1e-5)
    assert steps.parts[0, 3].least[0, 1] < 3.6
