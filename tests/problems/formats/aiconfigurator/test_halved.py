import pytest

from problems.files import FileError
from problems.formats.aiconfigurator.halved import halved
from problems.graph import GraphFile, Node, Signature
from tests.problems.formats.aiconfigurator.tensors import tensor


def test_floats_and_weights_are_halved():
    graph = GraphFile(
        "placebench-graph/1",
        "g",
        "f",
        [
            Node("a", "linear", "s1", output_bytes=12, weights={"w": 8}),
            Node("b", "eq", "s2", output_bytes=3),
        ],
        [(0, 1)],
        signatures={
            "s1": Signature("aten.linear.default", [tensor(1, 2), tensor(3, 2)]),
            "s2": Signature("aten.eq.Scalar", [tensor(1, 3), 1.0]),
        },
    )
    half = halved(graph)
    assert half.name == "g-bf16"
    assert [node.output_bytes for node in half.nodes] == [6, 3]
    assert half.nodes[0].weights == {"w": 4}
    assert [node.signature for node in half.nodes] == ["s1", "s2"]
    with pytest.raises(FileError, match="halved already, from g:"):
        halved(half)
