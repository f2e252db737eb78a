"""Automorphisms of small graphs, against all permutations of their nodes."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.answer import Answer
from problems.builder import Builder
from problems.checker import check
from problems.instance import Instance
from problems.resolve import from_bundle
from problems.symmetry._refine import Structure
from problems.symmetry.automorphisms import automorphisms, colours, is_automorphism
from tests.tiny import instance


def graph(n: int, edges, **more) -> Instance:
    times = more.pop("times", [[1.0, 2.0]] * n)
    return instance(times, edges, problem=more.pop("problem", "throughput"), delay=[0, 1],
                    hosts=[0], payload=more.pop("payload", [3] * n), **more)  # fmt: skip


def _all(case: Instance) -> set[tuple[int, ...]]:
    """By the definition alone."""
    edges = {tuple(e) for e in case.edges.tolist()}
    cost = [
        (case.time[v].tolist(), case.node_bytes[v], case.phase[v], case.link_time[:, v].tolist())
        for v in range(case.n)
    ]
    groups = {frozenset(np.flatnonzero(case.group == g).tolist()) for g in set(case.group.tolist())}
    ends = list(zip(case.shared_ptr[:-1], case.shared_ptr[1:], case.shared_bytes, strict=True))
    readers = [(int(b), frozenset(case.shared_node[i:j].tolist())) for i, j, b in ends]

    def key(each):
        return each[0], sorted(each[1])

    return {
        p
        for p in permutations(range(case.n))
        if all(cost[v] == cost[p[v]] for v in range(case.n))
        and {(p[u], p[v]) for u, v in edges} == edges
        and {frozenset(p[v] for v in g) for g in groups} == groups
        and sorted([(b, frozenset(p[v] for v in g)) for b, g in readers], key=key)
        == sorted(readers, key=key)
    }


def _generated(n: int, generators) -> set[tuple[int, ...]]:
    known, new = {tuple(range(n))}, [np.arange(n)]
    while new:
        each = new.pop()
        for image in generators:
            after = tuple(image[each].tolist())
            if after not in known:
                known.add(after)
                new.append(np.array(after))
    return known


def _exact(case: Instance) -> None:
    found = automorphisms(case)
    group = _all(case)
    assert found.complete
    assert found.order == len(group)
    assert _generated(case.n, found.generators) == group
    assert found.orbit.tolist() == [min(p[v] for p in group) for v in range(case.n)]
    keeps = Structure(case).keeps
    assert {p for p in permutations(range(case.n)) if keeps(np.array(p))} == group
    shade = colours(case)
    assert all(shade[v] == shade[p[v]] for p in group for v in range(case.n))


@st.composite
def _cases(draw):
    n = draw(st.integers(1, 6))
    edges = [(u, v) for v in range(n) for u in range(v) if draw(st.booleans())]
    pick = st.integers(0, n - 1)
    members = draw(st.lists(pick, max_size=4, unique=True))
    some = st.lists(pick, min_size=min(n, 2), max_size=3, unique=True)
    tied = draw(st.lists(some, max_size=2))
    weights = [{f"t{i}": 5 for i, who in enumerate(tied) if v in who} for v in range(n)]
    slow = draw(st.lists(pick, max_size=2))
    return graph(
        n, edges, colocate={v: f"g{i // 2}" for i, v in enumerate(members)}, weights=weights,
        times=[[1.0, 3.0 if v in slow else 2.0] for v in range(n)],
    )  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(_cases())
def test_all_of_a_tiny_graph(case):
    _exact(case)


@pytest.mark.parametrize(
    ("n", "edges"),
    [
        (6, [(a, b) for a in range(3) for b in range(3, 6) if b != a + 3]),  # a crown
        (6, [(0, 3), (0, 4), (1, 4), (1, 5), (2, 5), (2, 3)]),  # a cycle
        (7, [(0, v) for v in range(1, 6)] + [(v, 6) for v in range(1, 6)]),  # five branches
        (7, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]),  # branches that branch
    ],
)
def test_all_of_graphs_with_much_symmetry(n, edges):
    _exact(graph(n, edges))


def test_colours_do_not_tell_two_triangles_from_a_hexagon_but_automorphisms_do():
    # Cycles between producers and consumers: one of eight nodes, and two of four.
    long = [(a, 4 + b % 4) for a in range(4) for b in (a, a + 1)]
    short = [(a, b) for half in (0, 2) for a in (half, half + 1) for b in (half + 4, half + 5)]
    both = graph(16, long + [(a + 8, b + 8) for a, b in short])
    assert len(set(colours(both).tolist())) == 2
    found = automorphisms(both)
    assert found.complete
    assert found.order == 8 * (2 * 2) ** 2 * 2
    assert len(set(found.orbit.tolist())) == 4


@pytest.mark.parametrize("problem", ["throughput", "latency"])
def test_no_objective_changes(problem):
    edges = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)]
    case = graph(6, edges, problem=problem, times=[[1, 2], [3, 1], [3, 1], [2, 4], [2, 4], [1, 1]])
    found = automorphisms(case)
    assert found.order == 2
    for image in found.generators:
        back = np.argsort(image)
        for device in product(range(case.K), repeat=case.n):
            placed = np.array(device)
            order = [np.flatnonzero(placed == k) for k in range(case.K)]
            moved = [image[each] for each in order]
            if problem == "throughput":
                order = moved = None
            before = check(case, Answer.of(placed, order)).objective
            after = check(case, Answer.of(placed[back], moved)).objective
            assert after == pytest.approx(before, rel=1e-12)


def test_two_hundred_branches():
    branches, deep = 200, 3
    edges, n = [], 1
    for _ in range(branches):
        for i in range(deep):
            edges.append((0 if i == 0 else n - 1, n))
            n += 1
    edges += [(1 + deep * b + deep - 1, n) for b in range(branches)]
    found = automorphisms(graph_of(n + 1, edges))
    assert found.complete
    assert found.order == math.factorial(branches)


def graph_of(n: int, edges) -> Instance:
    """More nodes than the alphabet has letters."""
    builder = Builder("branches", problem="throughput")
    builder.add_device("cpu", host=True)
    for v in range(n):
        builder.add_node(f"v{v}", {"cpu": 1.0}, output_bytes=1)
    for u, v in edges:
        builder.add_edge(f"v{u}", f"v{v}")
    return from_bundle(builder.build())


def test_a_spent_budget_is_said():
    case = graph(7, [(0, v) for v in range(1, 6)] + [(v, 6) for v in range(1, 6)])
    assert not automorphisms(case, most=2).complete


def test_a_permutation_is_asked_for():
    assert is_automorphism(graph(2, []), np.array([1, 0]))
    assert not is_automorphism(graph(2, [(0, 1)]), np.array([1, 0]))
    with pytest.raises(ValueError, match="not a permutation of 2 nodes"):
        is_automorphism(graph(2, []), np.array([1, 1]))
