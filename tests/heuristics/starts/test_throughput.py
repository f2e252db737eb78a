"""Starts for `throughput`: valid, best first, different, and the same under a seed."""

from __future__ import annotations

import numpy as np

from heuristics.shared import space as space_
from heuristics.shared.best import Best, objective
from heuristics.starts import throughput as starts
from solvers.method import Context
from tests.brute_force import optimum
from tests.heuristics.samples import samples


def found(instance):
    context = Context()
    best = Best(instance, context)
    return starts.starts(instance, space_.build(instance), context, best), best


def test_starts():
    reached = feasible = several = 0
    for seed, instance in samples(60, problem="throughput"):
        answers, best = found(instance)
        value = optimum(instance).objective
        assert (not answers) == (value is None), seed
        if not answers:
            continue
        values = [objective(instance, each) for each in answers]
        assert values == sorted(values)
        assert values[0] == best.value
        assert len({each.device.tobytes() for each in answers}) == len(answers) <= starts.MOST
        feasible += 1
        several += len(answers) > 1
        reached += best.value <= value * (1 + 1e-9)
    assert reached >= 0.85 * feasible
    assert several >= 0.3 * feasible


def test_same_answers_again():
    for _, instance in samples(3, n=40, devices=4, problem="throughput", density=0.1):
        first, second = found(instance)[0], found(instance)[0]
        assert len(first) == len(second)
        assert all(np.array_equal(a.device, b.device) for a, b in zip(first, second, strict=True))
