"""The neutral model: building, and the one property that ties it to the evaluator."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from problems import throughput
from problems.answer import Answer
from solvers.formulations import assign, prefix
from solvers.model import Builder
from tests.solvers.tiny import instances


def test_blocks_broadcast_and_repeats_add_up():
    builder = Builder()
    x = builder.variables("x", (2, 3), upper=np.array([1.0, 2.0, 3.0]), integer=True, cost=1.0)
    y = builder.variables("y", (), lower=-1.0)
    rows = builder.rows("r", (2,), upper=4.0)
    builder.add(rows[:, None], x, 1.0)
    builder.add(rows, y, [2.0, 0.0])
    builder.add(rows[:1], x[0, :1], 5.0)
    model = builder.build(1.0, lambda x: Answer(x), lambda answer: None)
    assert model.matrix.toarray().tolist() == [[6, 1, 1, 0, 0, 0, 2], [0, 0, 0, 1, 1, 1, 0]]
    assert model.upper.tolist() == [1, 2, 3, 1, 2, 3, 1]
    assert model.integer.tolist() == [True] * 6 + [False]
    assert model.variables == {"x": slice(0, 6), "y": slice(6, 7)}
    assert model.matrix.nnz == 7  # no explicit zero
    assert model.violation(np.array([1, 0, 0, 0, 0, 0, -1.0])) == 0
    assert model.violation(np.array([0.5, 0, 0, 0, 0, 0, 0])) == 0.5  # not integral
    assert model.violation(np.array([1, 0, 0, 0, 0, 0, 1.0])) == 4  # row over
    assert model.violation(np.array([1, 0, 0, 0, 4, 0, -1.0])) == 2  # bound over


@pytest.mark.parametrize("symmetry", [True, False])
def test_every_valid_mapping_encodes_at_its_period_and_reads_back(symmetry):
    encoded = 0
    for seed, instance in instances("throughput", range(1000, 1080)):
        formulation = prefix if instance.rules.contiguous else assign
        assert formulation.refuses(instance) is None
        model = formulation.build(instance, symmetry=symmetry, upper=np.inf, scale=2.5)
        groups = int(instance.group.max()) + 1
        choices = list(itertools.product(range(instance.K), repeat=groups))
        np.random.default_rng(seed).shuffle(choices)
        for choice in choices[:60]:
            device = np.array(choice)[instance.group]
            solution = model.encode(Answer(device))
            if not throughput.is_valid(instance, device):
                assert solution is None
                continue
            assert model.violation(solution) <= 1e-9
            period = throughput.period(instance, device)
            assert model.cost @ solution * model.scale == pytest.approx(period, rel=1e-12)
            back = model.read(solution).device
            assert throughput.is_valid(instance, back)
            assert throughput.period(instance, back) == pytest.approx(period, rel=1e-12)
            encoded += 1
    assert encoded >= 500
