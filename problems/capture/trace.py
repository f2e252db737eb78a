"""From a traced ``torch.fx`` graph of ATen operators to nodes, edges and signatures."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from typing import Any

import torch
from torch.fx import Node as FxNode
from torch.fx.node import map_arg
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

from problems.capture.signature import decode, digest, distinct_bytes, encode, resolve
from problems.graph import Node, Signature

# They read a part of their first tensor: as many bytes of it as they give out.
GATHERS = ("aten.embedding.", "aten.index.", "aten.index_select.", "aten.gather.")
# They compute nothing: left out when traced.
CHECKS = ("aten._assert_tensor_metadata.", "aten._assert_async.", "aten._assert_scalar.")


def _attention(query: Any, key: Any, value: Any, *rest: Any, **named: Any) -> int:
    return int(sdpa_flop_count(query, key, value))


def _attention_backward(
    grad: Any, query: Any, key: Any, value: Any, *rest: Any, **named: Any
) -> int:
    return int(sdpa_backward_flop_count(grad, query, key, value))


def _convolution_backward(
    grad: Any,
    input_: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    mask: Any,
    **named: Any,
) -> int:
    # Either gradient takes as many products as the convolution itself: one for every output (of a
    # transposed one: input) and every weight of its group.
    shape = input_ if transposed else grad
    return int(2 * prod(shape) * prod(weight[1:]) * sum(map(bool, mask[:2])))


# PyTorch counts the attention kernels of other devices, not that of the CPU; the count is theirs.
# Of the gradients of grouped convolutions it counts as many times too many as there are groups.
COUNTS: dict[Any, Any] = {
    torch.ops.aten.convolution_backward: _convolution_backward,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward,
}


def module_path(stack: dict[str, tuple[str, Any]] | None) -> str:
    """Dotted path of a node's module; ``name@k`` is the k-th repeated call of a module.

    A module that is called at every time step thus has one path a step.
    """
    path, above, calls = "", "", ""
    for key, (full, _) in (stack or {}).items():
        mark = re.search(r"@\d+$", key)
        own = mark.group() if mark else ""
        if not full:
            continue
        # An empty stack entry or a jump over levels leaves the parent path as it is.
        part = full.removeprefix(above + ".") if above else full
        path = f"{path}.{part}" if path else part
        if own and own != calls:
            path += own
        above, calls = full, own
    return path


@dataclass
class Trace:
    """Walks an exported graph in execution order and collects nodes, edges and signatures."""

    weights: dict[str, str]
    nodes: list[Node] = field(default_factory=list)
    edges: set[tuple[int, int]] = field(default_factory=set)
    signatures: dict[str, Signature] = field(default_factory=dict)
    index: dict[FxNode, int] = field(default_factory=dict)
    # Whose memory a value is, who wrote that memory last and who has read it since.
    base: dict[FxNode, FxNode] = field(default_factory=dict)
    writer: dict[FxNode, FxNode] = field(default_factory=dict)
    readers: dict[FxNode, list[FxNode]] = field(default_factory=dict)
    order: dict[FxNode, int] = field(default_factory=dict)
    names: Counter[str] = field(default_factory=Counter)
    # What a view, or an output that is taken out of several, reads.
    source: dict[FxNode, FxNode] = field(default_factory=dict)

    def path(self, node: FxNode) -> str:
        """Module path of an operator."""
        return module_path(node.meta.get("nn_module_stack"))

    def visit(self, node: FxNode) -> None:
        """Take the next node of the graph.

        Raises
        ------
        ValueError
            If it is no plain operator on tensors of known shape.
        """
        self.order[node] = len(self.order)
        if node.op == "placeholder":
            self._own(node)
            return
        if node.op == "output":
            return
        if node.op != "call_function":
            raise ValueError(f"{node.name}: {node.op} is not an operator")
        if str(node.target).startswith(CHECKS):
            return
        if node.target is operator.getitem:
            self._add(node, "getitem", None, node.all_input_nodes)
            return
        if not isinstance(node.target, torch._ops.OpOverload):
            raise ValueError(f"{node.name}: {node.target} is not a plain operator")
        self._operator(node, node.target)

    def _operator(self, node: FxNode, target: torch._ops.OpOverload) -> None:
        values = map_arg((node.args, dict(node.kwargs)), lambda n: n.meta["val"])
        args, kwargs = encode(values[0]), {k: encode(v) for k, v in sorted(values[1].items())}
        mutated = _mutated(node, target)
        tensors = _Replay(str(target), args, kwargs)
        if mutated:
            for each in mutated:
                self._own(node, self.base[each])
            self._add(node, str(target), tensors, node.all_input_nodes)
            for each in mutated:
                self._overwritten(node, self.base[each])
            return
        if tensors.source is None:
            self._own(node)
            self._add(node, str(target), tensors, node.all_input_nodes)
            return
        # map_arg visits tensors in the order in which the replay met them
        inputs: list[FxNode] = []
        map_arg((node.args, dict(sorted(node.kwargs.items()))), inputs.append)
        if len(inputs) != tensors.count:
            raise ValueError(f"{node.name}: a list of tensors is passed as one value")
        self._add(node, str(target), None, [inputs[tensors.source]])

    def _own(self, node: FxNode, base: FxNode | None = None) -> None:
        self.base[node] = base or node
        self.writer.setdefault(self.base[node], node)
        self.readers.setdefault(self.base[node], [])

    def _overwritten(self, node: FxNode, base: FxNode) -> None:
        for reader in self.readers[base]:
            if reader is not node:
                self.edges.add((self.index[reader], self.index[node]))
        self.writer[base], self.readers[base] = node, []

    def _add(self, node: FxNode, op: str, replay: _Replay | None, inputs: Iterable[FxNode]) -> None:
        """Append a node; without a `replay` it is a view of its only input."""
        path = self.path(node)
        short = op.removeprefix("aten.").removesuffix(".default")
        label = f"{path}/{short}" if path else short
        self.names[label] += 1
        count = self.names[label]
        v = self.index[node] = len(self.nodes)
        weights: dict[str, int] = {}
        for source in inputs:
            if replay is None:
                self.base[node], self.source[node] = self.base[source], source
            else:
                self.readers[self.base[source]].append(node)
            data = self._newest(source)
            if data in self.index:
                self.edges.add((self.index[data], v))
            elif data.name in self.weights:
                weights[self.weights[data.name]] = distinct_bytes(data.meta["val"])
        if replay is not None:
            self.signatures.setdefault(replay.digest, replay.signature)
        self.nodes.append(
            Node(
                name=label if count == 1 else f"{label}#{count}",
                op=op,
                signature=replay.digest if replay is not None else None,
                output_bytes=self._payload(node) if replay is not None else 0,
                weights=dict(sorted(weights.items())),
                path=path,
                view=replay is None,
            )
        )

    def _newest(self, source: FxNode) -> FxNode:
        """Who holds the data of `source` now: whoever wrote its memory after it was made."""
        writer = self.writer[self.base[source]]
        return writer if self.order[writer] > self.order[source] else source

    def _payload(self, node: FxNode) -> int:
        """Bytes that a consumer elsewhere needs; a write into a part carries the whole."""
        return sum(distinct_bytes(t) for t in tensors_of(self.base[node].meta["val"]))


class _Replay:
    """One operator run on ``meta`` tensors: what it aliases, counts and moves."""

    def __init__(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> None:
        made: list[torch.Tensor] = []

        def make(shape: Any, stride: Any, dtype: torch.dtype) -> torch.Tensor:
            made.append(torch.empty_strided(shape, stride, dtype=dtype, device="meta"))
            return made[-1]

        inputs = [decode(a, make, "meta") for a in args]
        named = {k: decode(v, make, "meta") for k, v in kwargs.items()}
        counter = FlopCounterMode(display=False, custom_mapping=COUNTS)
        with torch.no_grad(), counter:
            outputs = list(tensors_of(resolve(op)(*inputs, **named)))
        storages = [t.untyped_storage()._cdata for t in made]
        out = {t.untyped_storage()._cdata for t in outputs}
        aliased = [i for i, storage in enumerate(storages) if storage in out]
        self.source = aliased[0] if out and out <= set(storages) else None
        written = sum(distinct_bytes(t) for t in outputs)
        read = sum(distinct_bytes(t) for t in made)
        if op.startswith(GATHERS):
            read += min(written - distinct_bytes(made[0]), 0)
        self.count = len(made)
        self.digest = digest(op, args, kwargs)
        self.signature = Signature(
            op=op,
            args=args,
            kwargs=kwargs,
            flops=float(counter.get_total_flops()),
            bytes_read=read,
            bytes_written=written,
        )


def tensors_of(value: Any) -> Iterable[torch.Tensor]:
    """All tensors of a value, however deep."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_of(item)


def _mutated(node: FxNode, target: torch._ops.OpOverload) -> list[FxNode]:
    """Which inputs an in-place operator writes, by its schema."""
    found: list[FxNode] = []
    for i, argument in enumerate(target._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = node.args[i] if i < len(node.args) else node.kwargs.get(argument.name)
        map_arg(value, found.append)
    return found
