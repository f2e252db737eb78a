"""Cuts of an order into calls: the optimum where the graph is a chain, valid answers elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from heuristics.orders import runs
from heuristics.shared.best import Best
from problems.bounds import chain, chain_costs
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.method import Context
from tests.brute_force import optimum
from tests.solvers.tiny import calls_instances
from tests.tiny import instance


def cut(case):
    best = Best(case, Context(deadline=math.inf))
    return runs.cut(case, np.arange(case.n), best), best


def row(weights, limit, slots=None, times=None):
    n = len(weights)
    return instance(
        times or [[3.0 + v % 2, 1.0, 2.0] for v in range(n)],
        [(v, v + 1) for v in range(n - 1)] + [(0, n - 1)], problem="calls", hosts=[0],
        delay=[0.0, 0.5, 0.25], payload=[1, 0, 2, 0, 1][:n], weights=weights,
        memory=[None, limit, limit], rules={} if slots is None else {"slots": slots},
    )  # fmt: skip


def test_a_chain_is_cut_best():
    own = [{f"w{v}": 2 + v % 3} for v in range(5)]
    tied = [{"tied": 4}, {"a": 2}, {"tied": 4, "b": 1}, {"c": 3}, {"d": 2}]
    for weights in (own, tied):
        for limit in (4, 7, 10, 40):
            for slots in (1, 2, None):
                case = row(weights, limit, slots)
                proved, best = cut(case)
                assert proved
                assert best.value == optimum(case).objective


def test_few_labels_give_valid_answers_without_a_proof(monkeypatch):
    monkeypatch.setattr(runs, "BEAMS", (1,))
    monkeypatch.setattr(runs, "relax_in_time", _blind)
    proved, best = cut(row([{f"w{v}": 2 + v % 3} for v in range(5)], 7))
    assert not proved
    assert best.answer is not None


def _blind(line, way, done):
    """No multipliers and no known cut, so that labels are what there is."""
    A, S = line.before.shape
    return runs.Relaxed(0.0, np.zeros(A), np.zeros((line.m + 1, S)), math.inf, [])


def test_any_graph_gets_valid_answers():
    found = 0
    for seed, case in calls_instances(range(400, 440)):
        if runs.refuses(case) is not None:
            continue
        proved, best = cut(case)
        if best.answer is None:
            continue
        found += 1
        assert check(case, best.answer).objective == best.value, seed
        if proved:
            assert math.isclose(best.value, optimum(case).objective), seed
    assert found >= 10


@pytest.mark.parametrize("asks", range(1, 9))
def test_it_ends_where_the_clock_is_looked_at(asks, monkeypatch):
    monkeypatch.setattr(chain_costs, "PIECE", 30_000)
    monkeypatch.setattr(chain, "PIECE", 30_000)
    case = from_bundle(random_bundle(1, n=60, problem="calls", devices=4, density=0.05))
    best, asked = Best(case, Context()), []

    def done() -> bool:
        asked.append(True)
        return len(asked) == asks

    monkeypatch.setattr(best, "done", done)
    assert not runs.cut(case, np.arange(case.n), best)
    assert len(asked) == asks
