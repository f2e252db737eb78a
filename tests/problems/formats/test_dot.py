"""DOT, read and written."""

from __future__ import annotations

import numpy as np
import pytest

from problems.files import FileError
from problems.formats import dot
from tests.tiny import instance


def test_the_language_as_far_as_it_is_read():
    text = r"""
    // a comment
    strict digraph "mine" { /* another
        one */ rankdir=LR; node [shape=box] edge [x=1];
        a [output_bytes=12, colocate="g 1"; op = "say \"hi\\\""]
        a -> "b c" -> -1.5 [label=x]
        a -> _d; a [phase=backward]
    }
    """
    nodes, edges, notes = dot.read(text.encode(), "g.dot")
    assert nodes == {
        "a": {
            "output_bytes": "12", "colocate": "g 1", "op": 'say "hi\\"', "phase": "backward"
        },
        "b c": {}, "-1.5": {}, "_d": {},
    }  # fmt: skip
    assert edges == [("a", "b c"), ("b c", "-1.5"), ("a", "_d")]
    assert notes == [
        "attributes of the graph are not used: rankdir",
        "`node [...]` defaults are not used: shape",
        "`edge [...]` defaults are not used: x",
        "attributes of edges are not used: label",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a directed graph starts with `digraph` - at `line 1`"),
        ("graph {}", "a directed graph starts with `digraph`, not 'graph'"),
        ("digraph {\n a -- b }", "edges of a directed graph are `->`, not '--' - at `line 2`"),
        ("digraph {\n a ->", "the graph is not closed - at `line 2`"),
        ("digraph { a -> { b } }", "expected a name, not '{'"),
        ("digraph { subgraph x { a } }", "subgraphs are not read"),
        ("digraph { a [label=<b>] }", "HTML labels are not read"),
        ("digraph { a:n -> b }", "expected a name, not ':'"),
        ("digraph { a } digraph { b }", "one graph a file, not 'digraph'"),
        ('digraph { "a }', "not DOT: '\"a }' - at `line 1`"),
    ],
)
def test_what_is_not_read_is_one_error_with_its_line(text, message):
    with pytest.raises(FileError) as caught:
        dot.read(text.encode(), "g.dot")
    assert message in str(caught.value)


def test_reading_takes_time_in_proportion():
    n = 10_000
    lines = [f'"n{k}" -> "n{k + 1}" [w=1];' for k in range(n)]
    nodes, edges, _ = dot.read("\n".join(["digraph {", *lines, "}"]).encode(), "g.dot")
    assert (len(nodes), len(edges)) == (n + 1, n)


def test_what_is_written_is_dot_again_with_devices_in_colours():
    got = instance([[1, 2], [3, 4], [5, 6]], [(0, 1), (0, 2)], backward=[2], hosts=[0])
    nodes, edges, _ = dot.read(dot.write(got).encode(), "g.dot")
    assert edges == [("a", "b"), ("a", "c")]
    assert nodes["b"] == {"label": r"b\n3000 ms"}
    assert nodes["c"]["phase"] == "backward"
    nodes, _, _ = dot.read(dot.write(got, np.array([1, 0, 0])).encode(), "g.dot")
    assert [nodes[v]["device"] for v in "abc"] == ["d1", "d0", "d0"]
    assert nodes["b"]["fillcolor"] == nodes["c"]["fillcolor"] != nodes["a"]["fillcolor"]
