"""Coarse graphs are acyclic partitions of their operators that lose nothing."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.coarsen import LEVELS, coarsen
from problems.graph import GraphFile, Node, OpGraph, from_file


def build(nodes: list[Node], edges: list[tuple[int, int]], block: str = "") -> OpGraph:
    return from_file(
        GraphFile(
            format="placebench-graph/1",
            name="g",
            family="f",
            nodes=nodes,
            edges=edges,
            block=block,
        )
    )


@st.composite
def graphs(draw: st.DrawFn) -> OpGraph:
    n = draw(st.integers(1, 14))
    first_backward = draw(st.integers(1, n))
    paths = ["", "a", "a.x", "a.y", "b", "b.x", "c.x.y"]
    nodes = [
        Node(
            name=f"n{v}",
            op=draw(st.sampled_from(["add", "mul"])),
            signature=f"s{v}" if draw(st.booleans()) else None,
            output_bytes=draw(st.integers(0, 9)),
            weights={f"w{draw(st.integers(0, 3))}": 4} if draw(st.booleans()) else {},
            phase="backward" if v >= first_backward else "forward",
            colocate=draw(st.sampled_from([None, None, "p", "q", "r"])),
            path=draw(st.sampled_from(paths)),
        )
        for v in range(n)
    ]
    pairs = [(u, v) for v in range(n) for u in range(v)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return build(nodes, edges, draw(st.sampled_from(["", r"a", r"a\.x|b"])))


@given(graphs(), st.sampled_from(LEVELS))
@settings(max_examples=400, deadline=None)
def test_nothing_is_lost_and_no_cycle_closes(graph: OpGraph, level: str) -> None:
    coarse = coarsen(graph, level)
    assert (coarse.edges[:, 0] < coarse.edges[:, 1]).all()
    pairs = [tuple(edge) for edge in coarse.edges.tolist()]
    assert pairs == sorted(set(pairs))
    assert len(set(coarse.names)) == coarse.n
    assert Counter(s for m in coarse.members for s in m) == Counter(
        s for m in graph.members for s in m
    )
    assert _total(coarse) == _total(graph)
    if level == "operator":
        assert coarse is graph


@given(graphs(), st.sampled_from(LEVELS[1:]))
@settings(max_examples=400, deadline=None)
def test_edges_payloads_phases_and_colocation_follow_the_members(
    graph: OpGraph, level: str
) -> None:
    # every operator has a signature of its own here, which tells where it went
    graph = _signed(graph)
    coarse = coarsen(graph, level)
    home = {s: c for c, m in enumerate(coarse.members) for s in m}
    group = [home[graph.members[v][0]] for v in range(graph.n)]
    assert len(home) == graph.n
    crossing = {(group[u], group[v]) for u, v in graph.edges.tolist() if group[u] != group[v]}
    assert {tuple(e) for e in coarse.edges.tolist()} == crossing
    assert [coarse.phase[g] for g in group] == graph.phase.tolist()
    for u in range(graph.n):
        for v in range(graph.n):
            if graph.colocate[u] is not None and graph.colocate[u] == graph.colocate[v]:
                assert coarse.colocate[group[u]] == coarse.colocate[group[v]] is not None
    for c in range(coarse.n):
        mine = [v for v in range(graph.n) if group[v] == c]
        readers = {v: [b for a, b in graph.edges.tolist() if a == v] for v in mine}
        out = [v for v in mine if any(group[b] != c for b in readers[v])]
        sent = [v for v in out if any(_apart(coarse, c, group[b]) for b in readers[v])]
        local = sum(graph.output_bytes[v] for v in out if v not in sent)
        sent = sent if out else [v for v in mine if not readers[v]]
        assert coarse.output_bytes[c] == sum(graph.output_bytes[v] for v in sent)
        assert coarse.weights[c].get(f"{coarse.names[c]}:local", 0) == local
        assert len({_label(graph, v, level) for v in mine}) == 1


def test_groups_split_only_where_a_cycle_would_close() -> None:
    def node(name: str, path: str) -> Node:
        return Node(name=name, op="add", signature=name, path=path)

    # a0 -> b -> a1 would close a cycle between a and b; c is apart and stays whole
    nodes = [node("a0", "a"), node("b", "b"), node("a1", "a"), node("c0", "c"), node("c1", "c")]
    coarse = coarsen(build(nodes, [(0, 1), (1, 2), (2, 3), (2, 4)]), "leaf")
    assert coarse.names == ("a", "b", "a#2", "c")
    assert coarse.members == (("a0",), ("b",), ("a1",), ("c0", "c1"))


def test_the_order_stays_in_its_group_while_it_can() -> None:
    def node(name: str, path: str) -> Node:
        return Node(name=name, op="add", signature=name, path=path)

    # numbered a b a b ..., two chains that cross once: two runs of a, not four
    nodes = [node(f"n{v}", "ab"[v % 2]) for v in range(6)]
    coarse = coarsen(build(nodes, [(0, 2), (1, 3), (3, 5), (2, 4), (2, 3), (3, 4)]), "leaf")
    assert coarse.members == (("n0", "n2"), ("n1", "n3", "n5"), ("n4",))


def test_block_prefix_and_parent_fallback() -> None:
    paths = ["layer.1.attn.q", "layer.1.mlp", "layer.12.attn", "head.fc"]
    nodes = [Node(name=p, op="add", signature=p, path=p) for p in paths]
    coarse = coarsen(build(nodes, [(0, 1), (1, 2), (2, 3)], r"layer\.\d+"), "block")
    assert coarse.names == ("layer.1", "layer.12", "head")


def test_tied_weights_count_once_in_a_node() -> None:
    nodes = [Node(name=n, op="add", weights={"w": 8}, path="a") for n in ("x", "y")]
    assert coarsen(build(nodes, []), "leaf").weights == ({"w": 8},)


def test_unknown_level() -> None:
    with pytest.raises(ValueError, match="operator, leaf, parent, block"):
        coarsen(build([Node(name="x", op="add")], []), "layer")


def _total(graph: OpGraph) -> dict[str, int]:
    every = {name: size for each in graph.weights for name, size in each.items()}
    return {name: size for name, size in every.items() if not name.endswith(":local")}


def _apart(coarse: OpGraph, a: int, b: int) -> bool:
    """Whether two coarse nodes can be on two devices."""
    return a != b and (coarse.colocate[a] is None or coarse.colocate[a] != coarse.colocate[b])


def _signed(graph: OpGraph) -> OpGraph:
    return replace(graph, members=tuple((f"s{v}",) for v in range(graph.n)))


def _label(graph: OpGraph, v: int, level: str) -> tuple[str, int]:
    path = graph.paths[v]
    parent = path.rpartition(".")[0]
    phase = int(graph.phase[v])
    if level == "leaf":
        return path, phase
    match = re.match(graph.block, path) if level == "block" and graph.block else None
    return (match.group() if match else parent), phase


def test_edges_have_shape_m_by_2_even_without_edges() -> None:
    coarse = coarsen(build([Node(name="x", op="add", path="a")], []), "leaf")
    assert coarse.edges.shape == (0, 2)
    assert coarse.edges.dtype == np.int64
