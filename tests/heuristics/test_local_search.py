import math

import numpy as np
import pytest

from heuristics import catalogue
from heuristics.shared import space as space_
from problems.answer import Answer
from problems.checker import check
from solvers.method import Context
from tests.heuristics.samples import samples

run = catalogue.load("local-search").run


def neighbours(instance, device):
    """All mappings with one unit elsewhere."""
    space = space_.build(instance)
    for g in range(len(space.unit_bytes)):
        for k in range(instance.K):
            moved = np.where(space.unit == g, k, device)
            if (moved != device).any():
                yield moved


@pytest.mark.parametrize("problem", ["throughput", "latency"])
@pytest.mark.parametrize("improvement", ["best", "first"])
def test_answers_are_local_optima(problem, improvement):
    compared = 0
    for seed, instance in samples(60, n=12, problem=problem):
        single = catalogue.load("single").run(instance, Context())
        answer = run(instance, Context(seed=seed), restarts=2, improvement=improvement)
        if answer is None:
            continue
        value = check(instance, answer).objective
        if value == check(instance, single).objective:
            continue
        for device in neighbours(instance, answer.device):
            verdict = check(instance, Answer.of(device))
            assert not verdict.valid or verdict.objective >= value * (1 - 1e-8), seed
        compared += 1
    assert compared >= 20


def test_a_start_is_improved_first():
    """Without any random start the answer is at least as good as the best neighbour."""
    improved = 0
    for seed, instance in samples(40, n=10, problem="throughput", tight=None):
        start = catalogue.load("single").run(instance, Context())
        least = min(
            (
                verdict.objective
                for device in neighbours(instance, start.device)
                if (verdict := check(instance, Answer.of(device))).valid
            ),
            default=math.inf,
        )
        answer = run(instance, Context(seed=seed, start=start), restarts=1)
        assert check(instance, answer).objective <= least * (1 + 1e-9)
        improved += least < check(instance, start).objective * (1 - 1e-9)
    assert improved >= 5


def test_ports_are_judged_exactly():
    """Moves are bounded without ports, but taken by the objective with them."""
    rules = {"contention": "ports"}
    better = 0
    for seed, instance in samples(25, n=12, problem="latency", rules=rules, density=0.3):
        single = catalogue.load("single").run(instance, Context())
        answer = run(instance, Context(seed=seed), restarts=2)
        if answer is None:
            continue
        value = check(instance, answer).objective
        if value < check(instance, single).objective * (1 - 1e-9):
            better += 1
            for device in neighbours(instance, answer.device):
                verdict = check(instance, Answer.of(device))
                assert not verdict.valid or verdict.objective >= value * (1 - 1e-8), seed
    assert better >= 5
