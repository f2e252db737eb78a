import networkx as nx
import numpy as np
import pytest

from problems.bounds.headtail import headtail
from problems.bounds.joint_lp import joint_lp, prices
from problems.bounds.series import passages, series
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from tests.brute_force import optimum
from tests.tiny import instance


@pytest.mark.parametrize("seed", range(25))
def test_passages_are_comparable_with_every_node(seed):
    case = from_bundle(random_bundle(seed, n=9, problem="latency", density=0.25 + seed % 4 / 5))
    graph = nx.DiGraph(case.edges.tolist())
    graph.add_nodes_from(range(case.n))
    expected = [
        v
        for v in range(case.n)
        if len(nx.ancestors(graph, v)) + len(nx.descendants(graph, v)) == case.n - 1
    ]
    assert passages(case) == expected


def diamonds(count, delay):
    """Forks of two nodes of 2 seconds, joined by nodes of 1 second, on two alike devices."""
    times, edges = [[1, 1]], []
    for _ in range(count):
        last = len(times) - 1
        times += [[2, 2], [2, 2], [1, 1]]
        edges += [(last, last + 1), (last, last + 2), (last + 1, last + 3), (last + 2, last + 3)]
    return instance(times, edges, delay={(0, 1): delay})


def test_each_part_is_solved():
    case = diamonds(2, 1.5)  # moving costs 3 on the way, staying 2: one by one, 4 a part
    assert series(case).value == pytest.approx(optimum(case).objective, rel=1e-5)
    assert series(case).value <= optimum(case).objective
    assert headtail(case).value == pytest.approx(7, rel=1e-9)
    assert joint_lp(case).value < 8
    case = diamonds(2, 0.5)
    assert series(case).value == pytest.approx(optimum(case).objective, rel=1e-5)


def test_memory_has_a_price():
    # A chain whose fast device holds two of four.
    case = instance(
        [[1, 5]] * 4, [(0, 1), (1, 2), (2, 3)], memory=[20, None], delay={(0, 1): 0.0},
        weights=[{f"w{v}": 10} for v in range(4)],
    )  # fmt: skip
    mu = prices(case, 5.0)
    assert mu[0] == pytest.approx(4 / 10, rel=1e-6)
    assert mu[1] == 0
    assert optimum(case).objective == 12
    assert 12 * (1 - 1e-6) < series(case).value <= 12
    assert 12 * (1 - 1e-6) < joint_lp(case).value <= 12


def test_without_a_passage_it_is_refused():
    case = instance([[1, 2], [2, 1]])
    assert "passes through" in series.valid_for(case)
    assert np.isfinite(joint_lp(case).value)
