"""Training graphs: phases, groups, payloads and numbers of the joint graph."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

from problems import files  # noqa: E402
from problems.capture.arguments import Arguments  # noqa: E402
from problems.capture.graph import fake, fake_copy  # noqa: E402
from problems.capture.joint import joint_graph  # noqa: E402
from problems.capture.modules.loss import Objective  # noqa: E402
from problems.capture.signature import resolve  # noqa: E402
from problems.capture.training import export_training_graph  # noqa: E402
from problems.coarsen import coarsen  # noqa: E402
from problems.graph import GraphFile, OpGraph, from_file  # noqa: E402

nn = torch.nn


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.act(self.norm(self.conv(x)) + x)


class Images(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 1)
        self.pool = nn.MaxPool2d(2)
        self.blocks = nn.Sequential(Residual(), Residual())
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(64, 5)

    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.head(self.drop(self.blocks(self.pool(self.stem(x)))).flatten(1))


class Words(nn.Module):
    """Embedding, one attention layer, a head that is tied to the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 8)
        self.query = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 10, bias=False)
        self.head.weight = self.table.weight

    def forward(self, tokens):  # type: ignore[no-untyped-def]
        x = self.table(tokens)
        q = self.query(x)[:, None]
        y = nn.functional.scaled_dot_product_attention(q, q, x[:, None], is_causal=True)
        return self.head(self.norm(x + y[:, 0]))


def images() -> GraphFile:
    return export_training_graph(
        "g", "f", Images(), (torch.zeros(2, 3, 8, 8),), block=r"blocks\.\d+"
    )


def words() -> GraphFile:
    return export_training_graph("g", "f", Words(), (torch.zeros(2, 6, dtype=torch.int64),))


@pytest.fixture(scope="module")
def conv() -> GraphFile:
    return images()


@pytest.fixture(scope="module")
def text() -> GraphFile:
    return words()


def groups(graph: OpGraph) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, group in zip(graph.names, graph.colocate, strict=True):
        if group is not None:
            found.setdefault(group, []).append(name)
    return found


def test_a_backward_operator_is_grouped_with_its_forward_operator(conv: GraphFile) -> None:
    graph = from_file(conv)
    assert groups(graph)["blocks.0.conv/convolution"] == [
        "blocks.0.conv/convolution",
        "blocks.0.conv/convolution_backward",
    ]
    assert groups(graph)["pool/max_pool2d_with_indices"] == [
        "pool/max_pool2d_with_indices",
        "pool/max_pool2d_with_indices_backward",
    ]
    linear = [graph.ops[graph.names.index(name)] for name in groups(graph)["head/addmm"]]
    assert linear == ["aten.addmm.default"] + ["aten.mm.default"] * 2 + ["aten.sum.dim_IntList"]
    for group, members in groups(graph).items():
        phases = [int(graph.phase[graph.names.index(name)]) for name in members]
        assert group == members[0]
        assert phases == [0] + [1] * (len(members) - 1)
        assert len({graph.paths[graph.names.index(name)] for name in members}) == 1
    # the two sums at the inputs of the blocks are free, and lie with the readers of these inputs
    free = [v for v in range(graph.n) if graph.phase[v] and graph.colocate[v] is None]
    assert [graph.ops[v] for v in free] == ["aten.add.Tensor"] * 2
    assert [graph.paths[v] for v in free] == ["blocks.1.conv", "blocks.0.conv"]


def test_the_loss_is_forward_and_nothing_goes_back(conv: GraphFile) -> None:
    graph = from_file(conv)  # it refuses edges from backward to forward
    loss = [v for v in range(graph.n) if graph.paths[v] == "loss" and not graph.phase[v]]
    assert [graph.ops[v] for v in loss] == [
        "aten._log_softmax.default",
        "aten.nll_loss_forward.default",
    ]
    assert conv.provenance["loss"] == "cross-entropy"
    backward = {op for op, phase in zip(graph.ops, graph.phase, strict=True) if phase}
    assert {op for op in backward if op.endswith("_backward.default")} == {
        f"aten.{name}_backward.default"
        for name in ("nll_loss", "native_dropout", "native_batch_norm", "convolution")
    } | {"aten.threshold_backward.default", "aten.max_pool2d_with_indices_backward.default"}
    assert "aten.native_batch_norm.default" in graph.ops


def test_only_what_others_read_travels(conv: GraphFile) -> None:
    graph = from_file(conv)
    node = {name: v for v, name in enumerate(graph.names)}
    image = 2 * 4 * 4 * 4 * 4
    pool = node["pool/max_pool2d_with_indices"]
    assert graph.output_bytes[pool] == image
    # 8-byte indices that only its own backward operator reads
    assert graph.weights[pool]["pool/max_pool2d_with_indices:local"] == 2 * image
    back = node["blocks.1.conv/convolution_backward"]
    assert graph.output_bytes[back] == image
    weight, bias = 4 * 4 * 3 * 3 * 4, 4 * 4
    assert dict(graph.weights[back]) == {
        "blocks.1.conv.weight": weight,
        "blocks.1.conv.weight.grad": weight,
        "blocks.1.conv.bias.grad": bias,
    }
    # the first convolution gives gradients of its weights only
    assert graph.output_bytes[node["stem/convolution_backward"]] == 0
    held = {name for each in graph.weights for name in each if name.endswith(".grad")}
    assert held == {f"{name}.grad" for name, _ in Images().named_parameters()}


def test_blocks_exchange_one_activation_and_one_gradient(conv: GraphFile) -> None:
    coarse = coarsen(from_file(conv), "block")
    node = {(p, int(f)): v for v, (p, f) in enumerate(zip(coarse.paths, coarse.phase, strict=True))}
    first, last = node["blocks.0", 0], node["blocks.1", 1]
    image = 2 * 4 * 4 * 4 * 4
    assert coarse.output_bytes[first] == coarse.output_bytes[last] == image
    # convolution, statistics and the batch norm's output... what the backward block needs
    assert sum(s for n, s in coarse.weights[first].items() if n.endswith(":local")) >= image
    names = [coarse.colocate[node[f"blocks.{i}", phase]] for i in (0, 1) for phase in (0, 1)]
    assert names[0] == names[1] != names[2] == names[3]


def test_a_tied_weight_has_one_name_and_one_gradient(text: GraphFile) -> None:
    graph = from_file(text)
    readers = [v for v in range(graph.n) if "table.weight" in graph.weights[v]]
    where = [(graph.paths[v], int(graph.phase[v])) for v in readers]
    assert where == [("table", 0), ("head", 0), ("head", 1)]
    (owner,) = (v for v in range(graph.n) if "table.weight.grad" in graph.weights[v])
    assert graph.ops[owner] == "aten.add.Tensor"
    assert graph.colocate[owner] == "table/embedding"
    assert graph.output_bytes[owner] == 0
    flash = "aten._scaled_dot_product_flash_attention_for_cpu"
    flops = {s.op: s.flops for s in text.signatures.values() if s.op.startswith(flash)}
    # two products forward, five backward, over 2 sequences of 6 words of width 8
    one = 2 * 2 * 6 * 6 * 8
    assert flops == {f"{flash}.default": 2 * one, f"{flash}_backward.default": 5 * one}


def test_every_signature_can_be_replayed(conv: GraphFile, text: GraphFile) -> None:
    arguments = Arguments("cpu", 0)
    with torch.inference_mode():
        for each in (conv.signatures | text.signatures).values():
            args, kwargs = arguments.build(each.op, each.args, each.kwargs)
            resolve(each.op)(*args, **kwargs)


def test_the_joint_graph_computes_the_gradients_of_autograd() -> None:
    torch.manual_seed(0)
    model, x = Words(), torch.randint(0, 10, (2, 6))
    labels = torch.randint(0, 10, (12,))
    mode = FakeTensorMode()
    with mode:
        objective = Objective(fake_copy(model, training=True).train(), "cross-entropy")
        inputs = ([fake(labels)], (fake(x),), {})
    joint = joint_graph(mode, objective, inputs)
    real = Objective(model, "cross-entropy")
    parameters = dict(real.named_parameters(remove_duplicate=False))
    users = iter([labels, x, torch.ones(())])
    values = [
        parameters[joint.weights[node]].detach() if node in joint.weights else next(users)
        for node in joint.module.graph.find_nodes(op="placeholder")
    ]
    loss, *gradients = joint.module(*values)
    expected = real([labels], (x,), {})
    expected.backward()
    torch.testing.assert_close(loss, expected.detach())
    assert len(gradients) == len(list(real.parameters()))
    for (_, name), gradient in zip(joint.gradients, gradients, strict=True):
        torch.testing.assert_close(gradient, parameters[name].grad)


def test_the_gradient_of_an_in_place_activation_stays_in_its_module() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU6(inplace=True), nn.Linear(4, 4))
    graph = from_file(export_training_graph("g", "f", model, (torch.zeros(2, 4),), loss="mean"))
    back = graph.ops.index("aten.hardtanh_backward.default")
    assert graph.paths[back] == "1"
    assert graph.colocate[back] is not None


def test_capturing_twice_gives_the_same_bytes(text: GraphFile) -> None:
    assert files.encode(words()) == files.encode(text)


def test_a_network_without_weights_is_refused() -> None:
    with pytest.raises(ValueError, match="parameter"):
        export_training_graph("g", "f", nn.ReLU(), (torch.zeros(2, 2),))


@pytest.mark.parametrize(("groups", "transposed"), [(1, False), (4, False), (8, False), (4, True)])
def test_gradients_of_a_grouped_convolution_count_their_own_products(groups, transposed) -> None:  # type: ignore[no-untyped-def]
    kind = nn.ConvTranspose2d if transposed else nn.Conv2d
    model = nn.Sequential(kind(8, 8, 3, groups=groups, bias=False), nn.Flatten())
    file = export_training_graph("g", "f", model, (torch.zeros(2, 8, 6, 6),), loss="mean")
    flops = {s.op: s.flops for s in file.signatures.values()}
    forward = flops["aten.convolution.default"]
    places = 6 * 6 if transposed else 4 * 4
    assert forward == 2 * (2 * places * 8) * (8 // groups) * 9
    # the input asks for no gradient, so only that of the weights is computed
    assert flops["aten.convolution_backward.default"] == forward
