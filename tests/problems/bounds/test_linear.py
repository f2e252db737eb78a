import math

import numpy as np
import pytest

from problems.bounds.linear import Linear, _dual_value, at_most


def knapsack():
    model = Linear()
    t = model.variables(1, upper=np.inf)
    x = model.variables(3, integer=True)
    enough = model.rows(1, lower=5.0)
    model.add(enough, x, [4.0, 3.0, 2.0])
    model.add(model.rows(1, upper=0.0), np.append(x, t), [4.0, 3.5, 2.0, -1.0])
    return model, np.array([1.0, 0, 0, 0])


def test_minimum_with_and_without_integrality():
    model, cost = knapsack()
    found, solution = model.minimise(cost, 5.0)
    assert found == pytest.approx(5.5, rel=1e-5)  # the last two
    assert found <= 5.5
    assert solution is not None
    assert model.relaxed(cost) == pytest.approx(5.0, rel=1e-5)
    assert model.relaxed(cost) <= 5.0


def test_a_relaxation_that_is_stopped_gives_a_bound_all_the_same(monkeypatch):
    model, cost = knapsack()
    given = []
    monkeypatch.setattr(
        model, "_solver", lambda *more, true=model._solver: given.append(more[-1]) or true(*more)
    )
    with at_most(0.0):
        assert model.relaxed(cost) <= 5.0
    model.relaxed(cost)
    assert [options.get("time_limit") for options in given] == [0.01, None]


def test_no_solution():
    model, cost = knapsack()
    assert model.minimise(cost, 5.0, {0: 5.0}) == (math.inf, None)


@pytest.mark.parametrize("seed", range(30))
def test_any_multipliers_prove_a_bound(seed):
    model, cost = knapsack()
    dual = np.random.default_rng(seed).normal(0, 2, 2)
    sides = (np.array([5.0, -np.inf]), np.array([np.inf, 0.0]))
    ends = (np.zeros(4), np.array([np.inf, 1, 1, 1]))
    assert _dual_value(cost, model.matrix(), sides, ends, dual) <= 5.0
