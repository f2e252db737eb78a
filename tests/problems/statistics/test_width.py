"""The largest antichain, against all antichains."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.statistics.width import width


@st.composite
def orders(draw) -> tuple[int, np.ndarray]:
    n = draw(st.integers(1, 10))
    pairs = [(u, v) for v in range(n) for u in range(v)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return n, np.array(sorted(edges), np.int64).reshape(-1, 2)


def graph_of(n: int, edges: np.ndarray) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges.tolist())
    return graph


def levels(n: int, edges: np.ndarray) -> np.ndarray:
    level = np.zeros(n, np.int64)
    for u, v in sorted(edges.tolist(), key=lambda edge: edge[1]):
        level[v] = max(level[v], level[u] + 1)
    return level


@settings(max_examples=150, deadline=None)
@given(orders())
def test_width_is_the_largest_antichain(order) -> None:
    n, edges = order
    largest = max(map(len, nx.antichains(graph_of(n, edges))))
    assert width(n, edges, levels(n, edges)) == (largest, True)


def test_width_needs_the_transitive_closure() -> None:
    # Without transit through c the chains a-c-e and b-c-d would need three covers.
    edges = np.array([(0, 2), (1, 2), (2, 3), (2, 4)])
    assert width(5, edges, levels(5, edges)) == (2, True)


def test_the_largest_level_is_no_antichain_of_its_own() -> None:
    # b, c and the chain's end d are unordered but on unlike levels.
    edges = np.array([(0, 1), (0, 2), (3, 4)])
    assert width(5, edges, levels(5, edges)) == (3, True)


def test_beyond_the_limit_the_largest_level_is_a_lower_bound() -> None:
    edges = np.array([(0, 1), (0, 2), (3, 4), (4, 5)])
    exact, proved = width(6, edges, levels(6, edges))
    bound, claimed = width(6, edges, levels(6, edges), most_steps=1)
    assert proved
    assert not claimed
    assert bound == 3 <= exact


def test_long_thin_graphs_take_a_moment() -> None:
    n = 30_000
    chains = np.array([(v, v + 3) for v in range(n - 3)])
    assert width(n, chains, np.arange(n) // 3) == (3, True)
