"""Starting answers are valid, and there where something simple is."""

from __future__ import annotations

import numpy as np

from problems import placement
from problems.answer import Answer
from problems.checker import check
from solvers.start import latency_start, throughput_start
from tests.solvers.tiny import instances


def found(problem, start):
    count = 0
    for _, instance in instances(problem, range(2000, 2150)):
        answer = start(instance)
        singles = [
            check(instance, Answer(np.full(instance.n, k))).objective
            for k in range(instance.K)
            if placement.is_placeable(instance, np.full(instance.n, k))
        ]
        if answer is None:
            assert not singles
            continue
        count += 1
        verdict = check(instance, answer)
        assert verdict.valid
        assert not singles or verdict.objective <= min(singles) * (1 + 1e-12)
    return count


def test_throughput_starts():
    assert found("throughput", throughput_start) >= 80


def test_latency_starts():
    assert found("latency", latency_start) >= 80
