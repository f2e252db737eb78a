"""Ordering servers and alike nodes changes no optimum, and cuts what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from problems import throughput
from problems.answer import Answer
from solvers.formulations import assign, orbits
from tests.brute_force import mappings
from tests.solvers.runs import run
from tests.tiny import instance

SERVERS = {
    (k, to): 0.25 if k // 2 == to // 2 else 1.5 for to in range(4) for k in range(to)
}  # two servers of two


def cases():
    twins = [(0, 1), (0, 2), (1, 3), (2, 3)]
    two = [(0, 2), (0, 3), (1, 3), (1, 2)]
    for edges in (twins, two, [(0, 1), (2, 3)], []):
        for seed in range(4):
            kinds = np.random.default_rng(seed).integers(1, 6, (3, 2)).astype(float)
            rows = [
                [kinds[g][k % 2] for k in range(4)] for g in ((0, 1, 1, 2), (0, 0, 1, 1))[seed % 2]
            ]
            yield instance(rows, edges, problem="throughput", delay=SERVERS)
            alike = [[kinds[g][0]] * 4 for g in (0, 1, 1, 0)]
            yield instance(alike, edges, problem="throughput", delay=SERVERS)


CASES = list(cases())


def test_some_answer_of_every_value_is_kept_and_fewer_than_assign_keeps():
    """Of all mappings that symmetry makes of one, some keeps all rows: so no optimum is lost."""
    fewer = 0
    for case in CASES:
        model = orbits.build(case, symmetry=True, upper=math.inf, scale=1.0)
        simple = assign.build(case, symmetry=True, upper=math.inf, scale=1.0)
        plain = orbits.build(case, symmetry=False, upper=math.inf, scale=1.0)
        every, kept, first = set(), set(), 0
        counts = [0, 0]
        for device in mappings(case):
            answer = Answer.of(device)
            value = round(throughput.period(case, answer.device), 9)
            every.add(value)
            full = plain.encode(answer)
            ours = full.copy()
            ours.resize(len(model.cost))
            if model.violation(ours) < 1e-9:
                kept.add(value)
                counts[0] += 1
            counts[1] += simple.violation(full) < 1e-9
            start = model.encode(answer)
            if start is not None:
                first += 1
                assert model.violation(start) < 1e-9
                found = model.read(start)
                assert throughput.period(case, found.device) == pytest.approx(value)
        assert kept == every
        assert counts[0] <= counts[1]
        assert first >= 0.9 * len(list(mappings(case)))
        fewer += counts[0] < counts[1]
    assert fewer >= len(CASES) // 2


@pytest.mark.parametrize("case", CASES[::5])
def test_optima_are_those_of_assign(case):
    values = [run(f"{name}@highs", case).objective for name in ("orbits", "assign")]
    assert values[0] == pytest.approx(values[1], rel=1e-6)
