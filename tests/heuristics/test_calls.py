"""What heuristics promise for `calls`, on tiny instances."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from heuristics import catalogue
from problems.checker import check
from solvers.method import Context
from tests.brute_force import optimum
from tests.solvers.tiny import calls_instances

NAMES = ("single", "greedy", "random", "local-search")


@cache
def solved():
    return [(seed, case, optimum(case)) for seed, case in calls_instances(range(500, 580))]


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_valid_and_not_better_than_the_optimum(name):
    entry, reached, feasible, missed = catalogue.load(name), 0, 0, 0
    for seed, case, best in solved():
        reports = []
        options = {"restarts": 30} if name in ("random", "local-search") else {}
        answer = entry.run(case, Context(seed=seed, on_answer=reports.append), **options)
        again = entry.run(case, Context(seed=seed), **options)
        assert (answer is None) == (again is None)
        if best.objective is None:
            assert answer is None
            continue
        feasible += 1
        if answer is None:
            missed += 1
            continue
        assert np.array_equal(answer.slot, again.slot)
        for each in [*reports, answer]:
            verdict = check(case, each)
            assert verdict.valid, (seed, verdict)
            assert verdict.objective >= best.objective * (1 - 1e-12)
        reached += check(case, answer).objective <= best.objective * (1 + 1e-9)
        informed = entry.run(case, Context(seed=seed, start=best.answer), **options)
        assert check(case, informed).objective <= best.objective * (1 + 1e-12)
    print(f"{name}: optimal on {reached} of {feasible}, nothing on {missed}")
    assert missed <= 3
    assert (
        reached
        >= feasible * {"single": 0.5, "greedy": 0.55, "random": 0.6, "local-search": 0.85}[name]
    )
