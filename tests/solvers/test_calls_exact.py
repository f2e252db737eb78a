"""Exact entries for `calls` against brute force, and what their models are made of."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from problems.answer import Answer
from problems.checker import check
from solvers import start_calls
from solvers.catalogue import load
from solvers.formulations import calls as formulation
from solvers.start_calls import anneal, calls_start, mappings
from tests.brute_force import optimum
from tests.solvers.runs import agrees, run
from tests.solvers.tiny import calls_instances
from tests.tiny import instance

SEEDS = range(200)
PACKS = 5
SHARE = {"slots": 1, "calls@highs": 6, "calls@scip": 12, "calls@pyomo-highs": 40}
"""Every so many instances an entry takes; all agree on all 200."""


@cache
def solved():
    return [(seed, case, optimum(case)) for seed, case in calls_instances(SEEDS)]


def test_the_instances_cover_what_matters():
    cases = [(case, best.objective) for _, case, best in solved()]
    assert len(cases) >= 150
    assert {case.rules.slots for case, _ in cases} == {1, 2, 3, None}
    assert {case.rules.memory for case, _ in cases} == {"total", "weights", "ignored"}
    assert sum(best is None for _, best in cases) >= 15
    assert {int(case.host.sum()) for case, _ in cases} == {0, 1, 2}
    assert {case.K - int(case.host.sum()) for case, _ in cases} >= {0, 1, 2}
    assert sum(case.group.max() + 1 < case.n for case, _ in cases) >= 40
    assert sum(len(case.shared_bytes) > 0 for case, _ in cases) >= 40
    used = [best.answer.slot.max() for _, _, best in solved() if best.answer is not None]
    assert sum(most > 0 for most in used) >= 10


@pytest.mark.parametrize("pack", range(PACKS))
@pytest.mark.parametrize("name", SHARE)
def test_entries_equal_brute_force(name, pack):
    for seed, case, best in solved()[pack :: PACKS * SHARE[name]]:
        ran = run(name, case, symmetry=seed % 3 > 0)
        assert agrees(ran, best.objective), (name, seed, best, ran)


def test_the_rounded_model_is_right_within_its_rounding():
    for seed, case, best in solved()[::8]:
        ran = run("calls@cp-sat", case)
        if best.objective is None:
            assert (ran.answer, ran.claim) == (None, "infeasible"), seed
            continue
        assert math.isclose(ran.objective, best.objective, rel_tol=1e-9), seed
        bound = max(ran.bounds, default=0.0)
        assert bound == pytest.approx(best.objective, rel=1e-3), seed
        assert bound <= best.objective * (1 + 1e-9), seed


@pytest.mark.parametrize("symmetry", [True, False])
def test_the_model_holds_every_answer(symmetry):
    """Neither big-M nor symmetry rows cut an answer off that only the unbounded model can have."""
    rng = np.random.default_rng(8)
    held = 0
    for _, case, best in solved()[::2]:
        model = formulation.build(case, symmetry=symmetry, upper=math.inf, scale=2.0)
        answers = [] if best.answer is None else [best.answer]
        for _ in range(6):  # bad ones, too: the slower, the nearer to the big-M
            device = rng.integers(0, case.K, int(case.group.max()) + 1)[case.group]
            slot = np.where(case.host[device], -1, rng.integers(0, case.rules.slots or 3, case.n))
            answers += [Answer(device), Answer(device, slot=slot)]
        for answer in answers:
            value = check(case, answer).objective
            x = model.encode(answer)
            assert (x is None) == (value is None)
            if x is not None:
                assert model.violation(x) <= 1e-9
                assert model.cost @ x * model.scale == pytest.approx(value, rel=1e-12)
                assert check(case, model.read(x)).objective == pytest.approx(value, rel=1e-12)
                held += 1
    assert held >= 150


@pytest.mark.parametrize("name", ["slots", "calls@highs"])
def test_calls_without_time_do_not_wait_in_a_circle(name):
    # a, d and b, c belong together; neither accelerator holds all four.
    given = {
        "edges": [(0, 1), (2, 3)],
        "problem": "calls",
        "payload": [0] * 4,
        "weights": [{f"w{v}": 10} for v in range(4)],
        "colocate": {0: "x", 3: "x", 1: "y", 2: "y"},
        "delay": [0.0, 0.0],
        "memory": [20, 20],
    }
    one = instance([[0.0, 0.0]] * 4, rules={"slots": 1}, **given)
    assert optimum(one).objective is None
    assert run(name, one).claim == "infeasible"
    # Two calls each undo the knot.
    two = instance([[1.0, 1.0]] * 4, rules={"slots": 2}, **given)
    assert agrees(run(name, two), optimum(two).objective)


def test_what_is_too_large_is_refused_with_its_size():
    case = instance([[1.0, 1.0]] * 26, problem="calls", hosts=[0])
    assert load("slots").refusal(case) is None
    many = calls_instances(range(1))[0][1]
    assert load("calls@highs").refusal(many) is None
    wide = formulation.LARGEST
    try:
        formulation.LARGEST = 600
        assert load("slots").refusal(case) == (
            "676 nodes x slots (without a limit, one slot a node and accelerator), more than 600"
        )
    finally:
        formulation.LARGEST = wide


def test_starts_are_valid_and_there_where_something_is():
    none = same = 0
    for seed, case, best in solved():
        answer = calls_start(case)
        if answer is None:
            none += best.objective is not None
            continue
        verdict = check(case, answer)
        assert verdict.valid, (seed, verdict)
        singles = [check(case, Answer.of([k] * case.n)).objective for k in range(case.K)]
        assert verdict.objective <= min((s for s in singles if s is not None), default=math.inf)
        same += verdict.objective <= best.objective * (1 + 1e-9)
    assert none <= 3
    assert same >= 150


def test_a_walk_is_the_same_for_the_same_seed():
    (_, case), *_ = calls_instances(range(7, 8))
    first = next(mappings(case))
    found = [anneal(case, Answer(first), np.random.default_rng(3)) for _ in range(2)]
    assert (found[0].device == found[1].device).all()
    assert (found[0].slot == found[1].slot).all()


def test_pieces_of_a_walk_change_nothing_and_the_deadline_ends_it(monkeypatch):
    (_, case), *_ = calls_instances(range(7, 8))
    first = Answer(next(mappings(case)))
    whole = anneal(case, first, np.random.default_rng(3))
    monkeypatch.setattr(start_calls, "PIECE", 1)
    found = anneal(case, first, np.random.default_rng(3))
    assert (found.device == whole.device).all()
    assert (found.slot == whole.slot).all()
    parts = []
    walk = start_calls._walk
    monkeypatch.setattr(start_calls, "_walk", lambda *a: (parts.append(a), walk(*a)))
    assert calls_start(case, deadline=0.0) is not None
    assert len(parts) == 1  # of one walk
