"""PipeDream's graph.txt."""

from __future__ import annotations

import pytest

from problems.files import FileError
from problems.formats import pipedream
from problems.resolve import from_bundle

LINE = (
    "{} -- {} -- forward_compute_time={}, backward_compute_time={}, activation_size={},"
    " parameter_size={}"
)


def line(key, description="ReLU", forward=1, backward=2, activation=10, parameters=0):
    return LINE.format(key, description, forward, backward, activation, parameters)


GRAPH = "\n".join(
    [
        line("n1", "Input0", 0, 0, 4),
        line("n2", "Conv2d(3, 64, kernel_size=(3, 3))", 1.5, 2.5, "[8.0; 2.0]", 40)
        + " -- stage_id=0",
        line("n3", "Concat(2) -- odd"),
        "\tn1 -- n2",
        "\tn2 -- n3",
        "\tn1 -- n3",
        "",
    ]
)


def read(text, **options):
    options = {"devices": 2, "bandwidth_Bps": 100.0, **options}
    return pipedream.read(text.encode(), "graph.txt", "g", **options)


def test_inference_takes_the_forward_times():
    imported = read(GRAPH, training=False, memory_bytes=50)
    got = from_bundle(imported.bundle)
    assert got.names == ("n1", "n2", "n3")
    assert got.time.tolist() == [[0, 0], [0.0015, 0.0015], [0.001, 0.001]]
    assert got.link_time[got.wire[0, 1]].tolist() == [0.04, 0.1, 0.1]
    assert got.node_bytes.tolist() == [4, 50, 10]
    assert imported.notes == [
        "1 stage ids are not used",
        "backward times are left out (--inference)",
    ]
    assert imported.bundle.graph.nodes[2].op == "Concat(2) -- odd"


def test_training_mirrors_the_graph_and_shares_the_weights():
    imported = read(GRAPH)
    got = from_bundle(imported.bundle)
    names = dict(zip(got.names, range(got.n), strict=True))
    edges = {(got.names[u], got.names[v]) for u, v in got.edges.tolist()}
    assert ("n3.backward", "n2.backward") in edges
    assert ("n2", "n2.backward") in edges
    assert len(edges) == 9
    assert got.group[names["n2"]] == got.group[names["n2.backward"]]
    assert got.shared_bytes.tolist() == [40]
    payload = {n.name: n.output_bytes for n in imported.bundle.graph.nodes}
    assert payload["n3.backward"] == 10
    assert payload["n2.backward"] == 4
    assert "1 layers read payloads of unlike sizes" in imported.notes[1]


def test_a_first_layer_that_was_timed_with_the_start_up_is_noticed():
    text = "\n".join([line("a", forward=900), line("b"), line("c")])
    assert "timed with the start-up" in read(text, training=False).notes[-1]
    assert len(read(text.replace("=900", "=9"), training=False).notes) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no nodes"),
        ("n1 -- ReLU", "a node is id -- description -- fields, not 'n1 -- ReLU' - at `line 1`"),
        (line("a") + "\n" + line("a"), "node 'a' is listed twice - at `line 2`"),
        (line("a") + "\n\ta -- b", "no node 'b' - at `line 2`"),
        (line("a") + "\n\ta - b", "an edge is TAB, source -- target, not '?a - b' - at `line 2`"),
        (line("a") + "\n\ta -- a", "an edge of 'a' to itself - at `line 2`"),
        (line("a", forward="x"), "'x' is not a number - at `line 1, forward_compute_time`"),
        (line("a", forward="nan"), "'nan' is not a number"),
        (line("a", forward=-1), "a time of -1 ms - at `line 1, forward_compute_time`"),
        (line("a", forward=1e10), "is it in milliseconds?"),
        (line("a", activation="[1; -2]"), "-2 bytes, not in 0..2**53 - at `line 1, activation_"),
        (line("a", activation="[1; 2"), "expected name=value, not 'activation_size=[1; 2, par"),
        (line("a").replace("parameter_size", "params"), "no parameter_size - at `line 1`"),
        (line("a") + ", x=1", "unknown field 'x'; the fields are forward_compute_time"),
        (line("a") + ", parameter_size=1", "parameter_size is given twice"),
        ("\n".join([line("a"), line("b"), "\ta -- b", "\ta -- b"]), "the edge of line 3 once more"),
        (line("a\x01"), "a node needs a name on one line"),
        ("\n".join([line("a"), line("b"), "\ta -- b", "\tb -- a"]), "the edges close a cycle"),
    ],
)
def test_each_mistake_is_one_error_with_its_line(text, message):
    with pytest.raises(FileError) as caught:
        read(text)
    assert str(caught.value).startswith("graph.txt: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
