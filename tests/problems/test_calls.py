"""The `calls` evaluator: small cases by hand, the judge, and all slots of tiny instances."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from problems import calls
from problems.answer import Answer
from problems.checker import calls as judge
from problems.checker import check
from problems.files import FileError
from tests.brute_force import optimum
from tests.brute_force_calls import slots
from tests.solvers.tiny import calls_instances
from tests.tiny import instance

DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]
TWO = {"problem": "calls", "hosts": [0], "delay": [0.0, 1.0], "payload": [2, 3, 4, 5]}


def diamond(**rules):
    """a -> b, c -> d on a host (10 s each) and an accelerator (1 s each)."""
    return instance([[10, 1]] * 4, DIAMOND, rules=rules, **TWO)


@pytest.mark.parametrize(
    ("device", "slot", "value"),
    [
        ([0, 0, 0, 0], [-1] * 4, 30),  # the two in the middle run side by side
        ([1, 1, 1, 1], [0] * 4, 4),  # one call, no transfers
        ([1, 1, 0, 0], [0, 0, -1, -1], 2 + (3 + 4) + 10 + 10),  # out: a (2 + 1) and b (3 + 1)
        ([0, 0, 0, 1], [-1, -1, -1, 0], 20 + (4 + 5) + 1),  # in: b and c
        ([1, 1, 1, 1], [0, 0, 1, 2], (2 + 3 + 4) + (3 + 1 + 5) + (4 + 5 + 1)),
        ([1, 0, 0, 1], [0, -1, -1, 1], (1 + 3) + 10 + (4 + 5 + 1)),
    ],
)
def test_values_by_hand(device, slot, value):
    answer = Answer.of(device, slot=slot)
    assert calls.makespan(diamond(), answer) == pytest.approx(value, rel=1e-12)
    assert check(diamond(), answer).objective == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("device", "slot", "what"),
    [
        ([1, 0, 0, 1], [0, -1, -1, 0], "in a circle"),  # not convex
        ([1, 1, 1, 1], [1, 0, 0, 0], "in a circle"),  # order against an edge
        ([1, 1, 1, 1], [0, 1, 2, 3], "has slot 3, not one of 0..2"),
        ([1, 1, 1, 1], [0, 0, 0, -1], "numbers its calls 0, 1, ..."),
        ([1, 1, 1, 0], [0, 0, 0, 1], "on a host it is -1"),
    ],
)
def test_what_is_no_answer(device, slot, what):
    case = diamond(slots=3)
    answer = Answer.of(device, slot=slot)
    assert not calls.is_valid(case, answer)
    assert calls.makespan(case, answer) == math.inf
    ((rule, said),) = check(case, answer).violations
    assert rule == "slot"
    assert what in said


def test_calls_of_two_accelerators_may_not_wait_for_each_other():
    case = instance([[1, 1]] * 4, [(0, 1), (2, 3)], problem="calls", delay=[0.0, 0.0])
    crossed = Answer.of([0, 1, 1, 0], slot=[0, 0, 0, 0])
    assert not calls.is_valid(case, crossed)
    assert not check(case, crossed).valid
    # Cut anew where the published cut closes the circle.
    completed = calls.dispatch(case, crossed.device)
    assert completed.slot.tolist() == [0, 1, 0, 1]
    assert calls.is_valid(case, completed)


def test_the_cut_counts_entries():
    case = diamond()
    for device, slot in (([1, 0, 0, 1], [0, -1, -1, 1]), ([1, 1, 0, 1], [0, 0, -1, 1])):
        answer = calls.dispatch(case, np.array(device))
        assert answer.slot.tolist() == slot == judge.dispatch(case, device)
    limited = check(diamond(slots=1), Answer.of([1, 0, 0, 1]))
    assert [rule for rule, _ in limited.violations] == ["slot"]


def test_slots_without_gaps_are_the_same_calls():
    answer = Answer.of([1, 0, 1, 1], slot=[2, -1, 5, 9])
    whole = calls.compact(diamond(), answer)
    assert whole.slot.tolist() == [0, -1, 1, 2]
    assert calls.makespan(diamond(), whole) == calls.makespan(diamond(), answer)


def test_other_problems_and_platforms_are_refused():
    with pytest.raises(ValueError, match="not calls"):
        calls.rules_of(instance([[1.0]]))
    with pytest.raises(FileError, match=r"a staged platform, not direct - at `\$.platform.topol"):
        instance([[1.0, 1.0]], problem="calls", delay={(0, 1): 1.0})
    with pytest.raises(FileError, match=r"one call at a time - at `\$.platform.devices\[1\]"):
        instance([[1.0, 1.0]], problem="calls", hosts=[0], unlimited=[0, 1])
    with pytest.raises(FileError, match="slots"):
        diamond(slots=0)
    lanes = instance([[1.0, 1.0]], problem="calls", hosts=[0], unlimited=[0])
    assert lanes.digest == instance([[1.0, 1.0]], problem="calls", hosts=[0]).digest


def test_evaluator_and_judge_agree_on_every_kind_of_answer():
    rng = np.random.default_rng(4)
    valid = total = 0
    for seed, case in calls_instances(range(120)):
        for draw in range(12):
            device = rng.integers(0, case.K, int(case.group.max()) + 1)[case.group]
            slot = rng.integers(0, 1 + draw % 4, case.n)
            slot[case.host[device] & (rng.random(case.n) < 0.97)] = -1
            answer = Answer.of(device, slot=None if draw % 3 == 0 else slot)
            verdict = check(case, answer)
            assert calls.is_valid(case, answer) == verdict.valid, (seed, verdict)
            if verdict.valid:
                value = calls.makespan(case, answer)
                assert value == pytest.approx(verdict.objective, rel=1e-12, abs=1e-15)
                valid += 1
            if draw % 3 == 0:
                cut = calls.dispatch(case, device).slot.tolist()
                assert cut == judge.dispatch(case, device.tolist())
            total += 1
    assert total / 10 < valid < total * 9 / 10


def test_every_cut_is_valid_without_a_limit():
    for _, case in calls_instances(range(40)):
        for device in product(range(case.K), repeat=min(case.n, 4)):
            mapping = np.resize(np.array(device), case.n)
            assert calls.makespan(case, calls.dispatch(case, mapping)) < math.inf or (
                calls.rules_of(case).slots is not None
                or not np.isfinite(case.time[np.arange(case.n), mapping]).all()
            )


def test_brute_force_knows_a_case_by_hand():
    case = diamond(slots=1)
    assert optimum(case).objective == 4
    # a does not run on the accelerator: b, c, d in one call that reads a.
    case = instance([[10, None], [10, 1], [10, 1], [10, 1]], DIAMOND, **TWO)
    best = optimum(case)
    assert best.objective == pytest.approx(10 + 3 + 3)
    assert best.answer.device.tolist() == [0, 1, 1, 1]
    assert len(list(slots(case, [0, 1, 1, 1]))) == 13  # ordered partitions of three nodes
