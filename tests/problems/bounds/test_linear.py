import math

import numpy as np
import pytest

from problems.bounds import linear
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


@pytest.mark.parametrize("presolve", ["off", "on"])
def test_is_not_above_the_minimum_where_presolve_of_highs_1_16_is(presolve, monkeypatch):
    # With presolve it speaks of the HiGHS that is installed, which entries use with it.
    monkeypatch.setitem(linear.STRICT, "presolve", presolve)
    # A device that holds group 3 receives what 0, 1 and 2 send; the set {3} has the least value.
    model, G = Linear(), 4
    t = model.variables(1, upper=1.7020413240923529)
    x = model.variables(G, integer=True)
    pays = model.variables(3)
    model.add(load := model.rows(1, upper=0.0), t, -1.0)
    model.add(load, x[3], 1.0)
    model.add(load, pays, [0.3333333333333358, 0.6044868249989996, 0.4617744609644398])
    receives = model.rows(3, lower=0.0)
    model.add(receives, pays, 1.0)
    model.add(receives, x[[0, 3, 1]], [1.0, -1.0, 1.0])
    model.add(receives[[0, 2]], x[2], -1.0)
    equal = model.rows(2, lower=0.0)
    model.add(equal, x[2], 1.0)
    model.add(equal, x[:2], -1.0)
    cost = np.zeros(model.width)
    cost[t], cost[x[3]] = 0.99, -1.9253841899988084
    found, solution = model.minimise(cost, 5.0)
    best = 0.99 * 1.6044868249989996 - 1.9253841899988084
    assert found <= best
    assert found == pytest.approx(best, abs=1e-5)
    assert solution[x] == pytest.approx([0, 0, 0, 1])


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
