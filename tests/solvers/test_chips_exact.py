"""`chips` solved exactly on tiny instances, and refused on large ones."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np
import pytest

from problems import chips
from problems.answer import Answer
from problems.bounds.pipeline import as_pipeline
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from problems.throughput import is_valid, loads
from solvers.catalogue import load
from tests.brute_force import optimum
from tests.solvers.runs import agrees, run
from tests.solvers.tiny import instances


@cache
def solved():
    return [(seed, case, optimum(case)) for seed, case in instances("chips", range(120))]


def test_the_instances_cover_what_matters():
    cases = [(case, best.objective) for _, case, best in solved()]
    assert sum(best is None for _, best in cases) >= 5
    assert {case.rules.overlap for case, _ in cases} == {"none", "half", "full"}
    assert {case.rules.through_traffic for case, _ in cases} == {True, False}
    assert sum(len(case.shared_bytes) > 0 for case, _ in cases) >= 20
    assert sum(case.group.max() + 1 < case.n for case, _ in cases) >= 20
    used = [best.answer.device.max() for _, _, best in solved() if best.answer is not None]
    assert sum(most > 1 for most in used) >= 10


@pytest.mark.parametrize("pack", range(3))
def test_hops_equals_brute_force(pack):
    for seed, case, best in solved()[pack::3]:
        ran = run("hops", case)
        assert agrees(ran, best.objective), (seed, best, ran)


def test_no_answer_pays_less_on_the_chain_than_as_a_pipeline():
    """What the bounds of `chips` rest on, for every answer of some instances."""
    held = 0
    for case in [case for _, case, _ in solved() if case.n <= 5]:
        pipeline = as_pipeline(case)
        for device in map(np.array, product(range(case.K), repeat=case.n)):
            if chips.is_valid(case, device):
                held += 1
                assert is_valid(pipeline, device)
                less = loads(pipeline, device)[0]
                assert (less <= chips.loads(case, device) * (1 + 1e-12)).all()
    assert held > 200


def test_large_models_are_refused():
    case = from_bundle(random_bundle(1, n=400, devices=36, problem="chips", density=0.02))
    assert "clauses here, 500,000 are the most" in load("hops").refusal(case)
    assert load("stages").refusal(case) == "stages is for throughput, not chips"


def test_a_hinted_start_is_kept():
    for _, case, best in solved()[::10]:
        if best.objective is not None:
            ran = run("hops", case, start=Answer(best.answer.device))
            assert math.isclose(ran.objective, best.objective, rel_tol=1e-12)
