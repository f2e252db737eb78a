import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.files import FileError
from problems.graph import GraphFile, Node, Signature, from_file, topological_order


def graph(nodes, edges=(), **named):
    return GraphFile("placebench-graph/1", "g", "tests", nodes, list(edges), **named)


def node(name, **named):
    return Node(name, "op", **{"signature": name, **named})


ABC = [node("a"), node("b"), node("c")]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (graph([]), r"at least one node - at `\$\.nodes`"),
        (graph([node("a"), node("b"), node("a")]), r"'a' is used by nodes 0 and 2.*nodes\[2\]"),
        (graph(ABC, [(0, 1), (1, 3)]), r"edge \(1, 3\) leaves the nodes 0\.\.2.*edges\[1\]"),
        (graph(ABC, [(-1, 1)]), r"edge \(-1, 1\) leaves"),
        (graph(ABC, [(1, 1)]), r"node 1 \('b'\) to itself.*edges\[0\]"),
        (graph(ABC, [(0, 1), (1, 2), (0, 1)]), r"\(0, 1\) is listed twice.*edges\[2\]"),
        (graph(ABC, [(0, 1), (1, 2), (2, 0)]), r"close a cycle through .*'?a"),
        (graph([node("a", phase="backward"), node("b")], [(0, 1)]), r"backward node 'a'.*'b'"),
        (graph([*ABC[:2], node("v", view=True)], [(0, 2), (1, 2)]), r"view 'v' has 2 producers"),
        (graph([node("v", view=True)]), "every node is a view"),
        (
            graph([node("a", weights={"w": 4}), node("b", weights={"w": 8})]),
            r"weight 'w' has 8 bytes here and 4 at another node.*nodes\[1\]\.weights",
        ),
        (graph(ABC, block="("), r"regular expression.*\$\.block"),
    ],
)
def test_what_is_refused(file, message):
    with pytest.raises(FileError, match=f"^here: .*{message}"):
        from_file(file, "here")


def test_nodes_are_numbered_topologically():
    found = from_file(graph(ABC, [(2, 0), (0, 1), (2, 1)]))
    assert found.names == ("c", "a", "b")
    assert found.edges.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_ties_go_by_number():
    assert topological_order(4, [[], [], [0], [1]]) == [0, 1, 2, 3]
    assert topological_order(3, [[2], [], []]) == [1, 2, 0]
    assert topological_order(2, [[1], [0]]) is None


def test_views_merge_into_their_producer():
    nodes = [
        node("a", weights={"w": 1}),
        node("v1", view=True, weights={"w2": 2}),
        node("v2", view=True),
        node("b"),
        node("c"),
    ]
    found = from_file(graph(nodes, [(0, 1), (1, 2), (2, 3), (1, 4), (0, 4), (0, 3)]))
    assert found.names == ("a", "b", "c")
    assert found.edges.tolist() == [[0, 1], [0, 2]]  # without repeats
    assert [dict(w) for w in found.weights] == [{"w": 1, "w2": 2}, {}, {}]


def test_views_of_nothing_hand_their_weights_to_the_readers():
    nodes = [
        node("v1", view=True, weights={"w": 5}),
        node("v2", view=True, weights={"x": 6}),
        node("a"),
        node("b"),
    ]
    found = from_file(graph(nodes, [(0, 1), (1, 2), (0, 3)]))
    assert found.names == ("a", "b")
    assert found.edges.shape == (0, 2)
    assert [dict(w) for w in found.weights] == [{"w": 5, "x": 6}, {"w": 5}]


def test_what_costs_nothing_has_no_members():
    found = from_file(graph([Node("a", "op"), node("b")]))
    assert found.members == ((), ("b",))


def test_flops_of_known_signatures():
    signatures = {"a": Signature("op", flops=3.0)}
    assert from_file(graph(ABC, signatures=signatures)).flops.tolist() == [3, 0, 0]


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_any_numbering_gives_the_same_graph(data):
    n = data.draw(st.integers(1, 8))
    pairs = [(u, v) for v in range(n) for u in range(v)]
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    shuffled = data.draw(st.permutations(range(n)))  # new number -> old one
    number = {old: new for new, old in enumerate(shuffled)}
    nodes = [node(f"v{old}") for old in shuffled]
    found = from_file(graph(nodes, [(number[u], number[v]) for u, v in edges]))
    assert (found.edges[:, 0] < found.edges[:, 1]).all()
    assert found.edges.tolist() == sorted(found.edges.tolist())
    named = {(found.names[u], found.names[v]) for u, v in found.edges.tolist()}
    assert named == {(f"v{u}", f"v{v}") for u, v in edges}
