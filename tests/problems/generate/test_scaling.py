"""Generated graphs: shapes by brute force on small ones, the library's by their digests."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import files
from problems.catalogue import Library
from problems.files import FileError
from problems.generate.scaling import (
    Cells,
    Generated,
    GeneratedFile,
    Layered,
    RandWire,
    SeriesParallel,
    Transformer,
    generate,
    palette_of,
    to_file,
)
from problems.generate.scaling_draws import Draws
from problems.generate.scaling_library import refreshed
from problems.graph import GraphFile, Node, OpGraph, from_file

LIBRARY = Library()
SMALL = [
    Layered(),
    SeriesParallel(run=2),
    Cells(blocks=2, run=1, every=2),
    RandWire(nodes=6, run=2),
    RandWire(wiring="ba", nodes=6, m=2, run=2),
    Transformer(),
]
RULES = st.one_of(
    st.builds(
        Layered,
        shape=st.floats(0.05, 20),
        regularity=st.floats(0, 1),
        parents=st.integers(1, 5),
        jump=st.integers(1, 4),
    ),
    st.builds(
        SeriesParallel,
        parallel=st.floats(0, 1),
        branches=st.integers(2, 6),
        run=st.integers(1, 6),
    ),
    st.builds(Cells, blocks=st.integers(1, 6), run=st.integers(0, 4), every=st.integers(1, 4)),
    st.builds(
        RandWire,
        wiring=st.sampled_from(["ws", "ba"]),
        nodes=st.integers(2, 12),
        k=st.integers(2, 8),
        p=st.floats(0, 1),
        m=st.integers(1, 6),
        run=st.integers(1, 4),
    ),
    st.builds(
        Transformer,
        towers=st.integers(1, 4),
        experts=st.integers(1, 5),
        cross=st.floats(0, 1),
    ),
)


def palette() -> OpGraph:
    """A source, an operator of one input, one of two with weights, and one that costs nothing."""
    nodes = [
        Node("in", "source", "s0", 8),
        Node("a", "one", "s1", 16),
        Node("b", "one", "s1b", 16, {"b.w": 3, "b.v": 4}),
        Node("add", "two", "s2", 32),
        Node("free", "free", None, 64),
    ]
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]
    return from_file(GraphFile("placebench-graph/1", "tiny", "tiny", nodes, edges))


def make(rule, n: int, seed: int = 1) -> OpGraph:
    return generate("g", Generated(rule, n, seed, ["tiny"]), [palette()])


def depth(graph: OpGraph) -> int:
    """Nodes of a longest path."""
    longest = [1] * graph.n
    for u, v in graph.edges.tolist():
        longest[v] = max(longest[v], longest[u] + 1)
    return max(longest)


def mean_depth(rule, n: int = 400, seeds: int = 8) -> float:
    return float(np.mean([depth(make(rule, n, seed)) for seed in range(seeds)]))


def weakly_connected(n: int, edges: np.ndarray) -> bool:
    near: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges.tolist():
        near[u].append(v)
        near[v].append(u)
    seen, stack = {0}, [0]
    while stack:
        for v in near[stack.pop()]:
            if v not in seen:
                seen.add(v)
                stack.append(v)
    return len(seen) == n


@settings(max_examples=60, deadline=None)
@given(RULES, st.integers(1, 150), st.integers(0, 2**40))
def test_any_parameters_make_a_graph_of_the_asked_size(rule, n, seed):
    graph = make(rule, n, seed)
    pairs = [(u, v) for u, v in graph.edges.tolist()]
    assert graph.n == n
    assert all(0 <= u < v < n for u, v in pairs)
    assert pairs == sorted(set(pairs))
    # What a file of it loads to is the same graph: names, order, edges and all.
    again = from_file(to_file(graph))
    for name in OpGraph.__dataclass_fields__:
        one, other = getattr(graph, name), getattr(again, name)
        assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other, name


@settings(max_examples=30, deadline=None)
@given(RULES.filter(lambda rule: not isinstance(rule, Layered)), st.integers(2, 150))
def test_networks_hang_together_and_have_one_input(rule, n):
    graph = make(rule, n)
    assert weakly_connected(n, graph.edges)
    assert set(range(n)) - set(graph.edges[:, 1].tolist()) == {0}


@pytest.mark.parametrize("rule", SMALL, ids=lambda rule: type(rule).__name__)
def test_the_seed_decides(rule):
    one, same, other = make(rule, 200), make(rule, 200), make(rule, 200, seed=2)
    assert np.array_equal(one.edges, same.edges)
    assert one.members == same.members
    assert one.members != other.members or not np.array_equal(one.edges, other.edges)


def test_draws_are_the_published_stream():
    # PCG64's raw output for seed 1, of which numpy promises that it stays.
    expected = np.random.Generator(np.random.PCG64(1)).random(5)
    draws = Draws(1)
    assert np.array_equal(draws.uniform(5), expected)
    assert draws.uniform(1)[0] == 0.42332644897257565
    assert set(Draws(3).below(3, 200).tolist()) == {0, 1, 2}


def test_layers_are_as_wide_and_deep_as_asked():
    for shape in (0.25, 1.0, 4.0):
        graph = make(Layered(shape=shape, regularity=1.0), 400)
        width = np.bincount([int(path.removeprefix("part")) for path in graph.paths])
        assert width[:-1].tolist() == [int(20 * shape)] * (len(width) - 1)
        assert depth(graph) == len(width)
    ragged = make(Layered(regularity=0.0), 400)
    width = np.bincount([int(path.removeprefix("part")) for path in ragged.paths])
    assert width.std() > 2


def test_layers_are_fed_from_as_far_and_as_often_as_asked():
    for parents, jump in ((1, 1), (4, 1), (4, 3)):
        graph = make(Layered(shape=1.0, parents=parents, jump=jump), 400)
        layer = np.array([int(path.removeprefix("part")) for path in graph.paths])
        span = np.diff(layer[graph.edges], axis=1)
        assert span.max() == (jump if parents > 1 else 1)
        assert span.min() == 1
        read = set(graph.edges[:, 0].tolist())
        assert read == set(np.flatnonzero(layer < layer.max()).tolist())
    rates = [len(make(Layered(parents=p), 400).edges) for p in (1, 2, 4)]
    assert rates == sorted(rates)
    assert rates[2] > 1.7 * rates[0]


def test_forks_make_graphs_shallow():
    assert depth(make(SeriesParallel(parallel=0.0), 300)) == 300
    assert mean_depth(SeriesParallel(parallel=1.0)) < 0.5 * mean_depth(SeriesParallel(parallel=0.4))
    wide = mean_depth(SeriesParallel(parallel=1.0, branches=8))
    assert wide < mean_depth(SeriesParallel(parallel=1.0, branches=2))


def is_series_parallel(n: int, edges: list[tuple[int, int]]) -> bool:
    """Whether series and parallel reductions leave one edge (Valdes, Tarjan and Lawler)."""
    left = set(edges)
    inner = set(range(1, n - 1))
    while inner:
        for v in sorted(inner):
            into = [e for e in left if e[1] == v]
            out = [e for e in left if e[0] == v]
            if len(into) == len(out) == 1:
                left -= {into[0], out[0]}
                left.add((into[0][0], out[0][1]))
                inner.remove(v)
                break
        else:
            return False
    return left == {(0, n - 1)}


@pytest.mark.parametrize("seed", range(6))
def test_series_parallel_graphs_are(seed):
    graph = make(SeriesParallel(parallel=0.8, run=2), 40, seed)
    assert is_series_parallel(40, [(u, v) for u, v in graph.edges.tolist()])
    layered = make(Layered(shape=1.0), 40, seed)
    assert not is_series_parallel(40, [(u, v) for u, v in layered.edges.tolist()])


def parts(graph: OpGraph) -> list[list[int]]:
    found: dict[str, list[int]] = {}
    for v, path in enumerate(graph.paths):
        found.setdefault(path, []).append(v)
    return list(found.values())


def test_cells_are_two_kinds_that_read_the_two_before():
    graph = make(Cells(blocks=3, run=2, every=3), 400)
    stem, *cells = parts(graph)
    number = np.array([int(path.removeprefix("part")) for path in graph.paths])
    span = number[graph.edges[:, 1]] - number[graph.edges[:, 0]]
    assert set(span.tolist()) <= {0, 1, 2}
    assert {1, 2} <= set(span[number[graph.edges[:, 1]] > 2].tolist())
    normal = {tuple(graph.members[v] for v in cell) for i, cell in enumerate(cells) if i % 4 < 3}
    reduced = {tuple(graph.members[v] for v in cell) for i, cell in enumerate(cells) if i % 4 == 3}
    assert len(normal) == len(reduced) == 1
    assert len(stem) <= max(map(len, cells))


@pytest.mark.parametrize("wiring", ["ws", "ba"])
def test_stages_have_their_nodes_and_one_way_out(wiring):
    rule = RandWire(wiring=wiring, nodes=8, run=3, m=3)
    graph = make(rule, 5 * 25 + 4)
    stem, *stages = parts(graph)
    assert [len(stage) for stage in stages] == [25] * 5
    assert len(stem) == 4
    for stage in stages:
        leaving = {u for u, v in graph.edges.tolist() if u in stage and v not in stage}
        assert leaving <= {stage[-1]}
    # What is left makes a smaller stage, and the stem stays short.
    stem, *stages = parts(make(rule, 5 * 25 + 20))
    assert [len(stage) for stage in stages] == [25] * 5 + [19]


def test_wiring_does_as_its_parameters_say():
    def inner(**traits) -> np.ndarray:
        """Wires between the nodes of stages with nodes of one operator."""
        graph = make(RandWire(nodes=12, run=1, **traits), 13 * 20 + 1)
        return graph.edges[(graph.edges - 1)[:, 1] % 13 != 12] % 13

    # Without rewiring a ring: neighbours up to k / 2 away, 12 * k / 2 wires.
    ring = inner(p=0.0, k=4)
    away = np.diff(ring[ring[:, 0] > 0], axis=1).ravel()
    assert set(np.minimum(away, 12 - away).tolist()) == {1, 2}
    far = inner(p=1.0, k=4)
    away = np.diff(far[far[:, 0] > 0], axis=1).ravel()
    assert 6 in np.minimum(away, 12 - away)
    few, many = (len(inner(wiring="ba", m=m)) for m in (1, 4))
    assert many > 1.8 * few


def test_blocks_have_branches_and_towers():
    alone = make(Transformer(towers=1, experts=1), 14 * 20 + 1)
    assert [len(part) for part in parts(alone)] == [1] + [14] * 20
    deep = mean_depth(Transformer(towers=1, experts=1))
    assert mean_depth(Transformer(towers=1, experts=6)) < 0.8 * deep
    assert mean_depth(Transformer(towers=4, experts=1, cross=0.0)) < 0.4 * deep
    number = np.array([int(p.removeprefix("part")) for p in make(Transformer(), 400).paths])
    assert number.max() > 10

    def crossings(cross: float) -> int:
        graph = make(Transformer(towers=3, experts=1, cross=cross), 400)
        number = np.array([int(path.removeprefix("part")) for path in graph.paths])
        return int((np.diff(number[graph.edges], axis=1) == 1).sum())

    assert crossings(0.0) < crossings(0.5) < crossings(1.0)


def test_operators_fit_the_number_of_producers():
    graph = make(Layered(shape=1.0, parents=3), 300)
    arity = np.bincount(graph.edges[:, 1], minlength=300)
    wanted = {0: {("s0",)}, 1: {("s1",), ("s1b",)}}
    for v in range(300):
        assert graph.members[v] in wanted.get(int(arity[v]), {("s2",)})
        payload, weights = {
            "s0": (8, {}), "s1": (16, {}), "s1b": (16, {f"v{v}": 7}), "s2": (32, {}),
        }[graph.members[v][0]]  # fmt: skip
        assert graph.output_bytes[v] == payload
        assert graph.weights[v] == weights
    assert {"s1", "s1b"} <= {members[0] for members in graph.members}


def test_a_palette_without_operators_is_refused():
    nothing = GraphFile("placebench-graph/1", "nil", "nil", [Node("a", "x")], [])
    with pytest.raises(FileError, match="palette nil: no operator"):
        palette_of([from_file(nothing)])


def test_another_outcome_than_the_stored_one_is_refused():
    how = Generated(Layered(), 20, 1, ["tiny"], "0" * 64)
    with pytest.raises(FileError, match=r"'g': digest .* expected 0000.* has changed"):
        generate("g", how, [palette()])


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"rule": "layers"}, "Invalid value 'layers'"),
        ({"rule": "layered", "fat": 1}, "unknown field `fat`"),
        ({"rule": "layered", "parents": 0}, r"`\$\.graphs\['x'\]\.shape\.parents`"),
        ({"rule": "randwire", "wiring": "er"}, "Invalid enum value 'er'"),
    ],
)
def test_wrong_parameters_are_refused_with_their_place(shape, message):
    wrong = {"x": {"shape": shape, "n": 3, "seed": 1, "palette": ["tiny"]}}
    text = msgspec.json.encode({"format": "placebench-generated/1", "graphs": wrong})
    with pytest.raises(FileError, match=message):
        files.decode(text, GeneratedFile, "generated.json")


def test_the_library_generates_what_it_says():
    generated = LIBRARY.generated()
    assert len(generated) >= 15
    assert {how.n for how in generated.values()} >= {1_000, 3_000, 10_000, 30_000, 100_000}
    assert not set(generated) & set(LIBRARY.names("graph"))
    for name, how in generated.items():
        assert how.digest, name
        if how.n <= 10_000:
            graph = LIBRARY.graph(name)  # holds the digest
            assert graph.n == how.n
            assert graph.provenance["kind"] == "modelled"
            assert graph.provenance["palette"] == how.palette
    small = {name: how for name, how in generated.items() if how.n == 1_000}
    wrong = {name: msgspec.structs.replace(how, digest="") for name, how in small.items()}

    class Few(Library):
        def generated(self):
            return wrong

    assert refreshed(Few()).graphs == small
