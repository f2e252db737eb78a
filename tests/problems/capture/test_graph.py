"""Exported graphs: data flow through views and mutations, weights, names, signatures."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems import files  # noqa: E402
from problems.capture.graph import export_graph  # noqa: E402
from problems.capture.trace import module_path  # noqa: E402
from problems.graph import GraphFile, from_file  # noqa: E402

nn = torch.nn


def export(model: object, *args: object) -> GraphFile:
    return export_graph("g", "f", model, args)


def find(file: GraphFile, name: str) -> int:
    return [node.name for node in file.nodes].index(name)


class Views(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 6)
        self.drop = nn.Dropout(0.5)
        self.shift = nn.Parameter(torch.zeros(6, 2))

    def forward(self, x):  # type: ignore[no-untyped-def]
        y = self.drop(self.fc(x)).view(2, 3, 2)
        first, second = y.split(1, 0)
        return first + second + self.shift.t().reshape(1, 6, 2)[:, :3]


def test_views_alias_one_producer_and_evaluation_dropout_is_one() -> None:
    file = export(Views(), torch.zeros(2, 4))
    producers = {v: [u for u, w in file.edges if w == v] for v in range(len(file.nodes))}
    for v, node in enumerate(file.nodes):
        if node.view:
            assert len(producers[v]) <= 1
            assert node.signature is None
        else:
            assert node.signature in file.signatures
    kinds = {node.name: node.view for node in file.nodes}
    assert kinds["fc/linear"] is False
    assert kinds["drop/dropout"] is True
    # shift.t().reshape(...) must copy, y.view must not
    assert kinds["reshape"] is False
    assert kinds["view"] is True
    graph = from_file(file)
    assert graph.names == ("fc/linear", "add.Tensor", "reshape", "add.Tensor#2")
    assert graph.edges.tolist() == [[0, 1], [1, 3], [2, 3]]
    assert dict(graph.weights[2]) == {"shift": 48}
    assert graph.output_bytes.tolist() == [48, 24, 48, 24]


class Mutation(nn.Module):
    def forward(self, x):  # type: ignore[no-untyped-def]
        y = x * 2
        before = y + 1  # must read y before it changes
        part = y[0]
        part.mul_(3)
        return before, y.exp()  # must read y after it has changed


def test_in_place_operators_order_their_readers() -> None:
    file = export(Mutation(), torch.zeros(2, 4))
    make, before = find(file, "mul.Tensor"), find(file, "add.Tensor")
    write, after = find(file, "mul_.Tensor"), find(file, "exp")
    edges = set(file.edges)
    view = next(v for v, node in enumerate(file.nodes) if node.view)
    assert {(make, before), (make, view), (view, write), (before, write), (write, after)} == edges
    assert not file.nodes[write].view
    # a part was written, the whole of y is what the next one needs
    assert file.nodes[write].output_bytes == 32


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 4)
        self.head = nn.Linear(4, 10, bias=False)
        self.head.weight = self.table.weight
        self.register_buffer("scale", torch.ones(4))

    def forward(self, tokens):  # type: ignore[no-untyped-def]
        return self.head(self.table(tokens) * self.scale)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_tied_weights_keep_one_name_and_buffers_count(device: str) -> None:
    with torch.device(device):
        model, tokens = Tied(), torch.zeros(1, 3, dtype=torch.int64)
    file = export(model, tokens)
    weights = {node.name: node.weights for node in file.nodes}
    assert weights == {
        "table/embedding": {"table.weight": 160},
        "mul.Tensor": {"scale": 16},
        "head/linear": {"table.weight": 160},
    }
    table = file.signatures[file.nodes[0].signature]
    # an embedding reads the rows it gives out, not the whole table: 3 rows and 3 indices
    assert (table.bytes_read, table.bytes_written) == (48 + 24, 48)


class Repeated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(4, 4)

    def forward(self, x):  # type: ignore[no-untyped-def]
        state = self.cell(x)
        state = self.cell(x, state)
        return self.cell(x, state)[0]


def test_a_module_called_again_has_a_path_a_call_and_the_same_weights() -> None:
    graph = from_file(export(Repeated(), torch.zeros(1, 4)))
    cells = [v for v in range(graph.n) if graph.ops[v] == "aten.lstm_cell.default"]
    assert [graph.paths[v] for v in cells] == ["cell", "cell@1", "cell@2"]
    assert len({tuple(graph.weights[v]) for v in cells}) == 1
    assert len({graph.members[v] for v in cells}) == 1
    assert [graph.output_bytes[v] for v in cells] == [32, 32, 32]  # h and c


def test_flops_of_a_matrix_product_and_none_of_an_addition() -> None:
    file = export(nn.Sequential(nn.Linear(4, 6, bias=False), nn.ReLU()), torch.zeros(5, 4))
    flops = {s.op: s.flops for s in file.signatures.values()}
    assert flops == {"aten.linear.default": 2 * 5 * 4 * 6, "aten.relu.default": 0}


def test_signatures_tell_strides_and_constants_apart() -> None:
    class Sums(nn.Module):
        def forward(self, x):  # type: ignore[no-untyped-def]
            return x + 1, x + 1, x + 2, x.t() + 1

    nodes = [n for n in export(Sums(), torch.zeros(3, 3)).nodes if not n.view]
    assert len({n.signature for n in nodes}) == 3
    assert nodes[0].signature == nodes[1].signature


def test_dead_operators_are_left_out() -> None:
    class Dead(nn.Module):
        def forward(self, x):  # type: ignore[no-untyped-def]
            x.exp()
            return x + 1

    assert [node.name for node in export(Dead(), torch.zeros(2)).nodes] == ["add.Tensor"]


def test_capturing_twice_gives_the_same_bytes_and_leaves_the_model_alone() -> None:
    model = Views()
    weight = model.fc.weight
    files_ = [files.encode(export(model, torch.zeros(2, 4))) for _ in range(2)]
    assert files_[0] == files_[1]
    assert model.fc.weight is weight
    assert type(weight.data) is torch.Tensor
    assert model.training


def test_control_flow_is_refused_with_the_node_named() -> None:
    class Branch(nn.Module):
        def forward(self, x):  # type: ignore[no-untyped-def]
            return torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))

    with pytest.raises(ValueError, match=r"not a plain operator|is not an operator"):
        export(Branch(), torch.zeros(2))


def test_module_path_marks_repeated_calls_once() -> None:
    stack = {
        "L__self__": ("", None),
        "L__self___a@2": ("a", None),
        "L__self___a_b@2": ("a.b", None),
        "L__self___a_b_c.d": ("a.b.c.d", None),
    }
    assert module_path(stack) == "a@2.b.c.d"
    assert module_path(None) == ""
