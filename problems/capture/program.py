"""An exported network with random weights, whose operators know where their data come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Node as FxNode
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from problems.capture import graph as graph_
from problems.capture import trace as trace_
from problems.capture.models import find


@dataclass
class Sources(trace_.Trace):
    """A trace that remembers, too, where the data of every argument come from."""

    sources: dict[FxNode, dict[FxNode, FxNode]] = field(default_factory=dict)

    def _add(
        self,
        node: FxNode,
        op: str,
        replay: trace_._Replay | None,
        inputs: Iterable[FxNode],
    ) -> None:
        inputs = list(inputs)
        self.sources[node] = {a: self._newest(a) for a in inputs}
        super()._add(node, op, replay, inputs)

    def provider(self, consumer: FxNode, argument: FxNode) -> FxNode:
        """The operator (or placeholder) whose result `consumer` reads through `argument`."""
        return self.owner(self.sources[consumer][argument])

    def owner(self, node: FxNode) -> FxNode:
        """The operator (or placeholder) that a view, or a chain of them, looks into."""
        while self.is_view(node):
            (node,) = self.sources[node].values()
        return node

    def is_view(self, node: FxNode) -> bool:
        """Whether a traced node only aliases its input."""
        return node in self.index and self.nodes[self.index[node]].view


@dataclass(frozen=True)
class Program:
    """A network with random weights, ready to be cut.

    Attributes
    ----------
    trace : Sources
        Nodes as in the graph file, by name.
    operators : dict
        Name in the graph file -> node, without the views.
    held : dict
        Placeholder -> tensor: weights, buffers, constants and the example input.
    outputs : list of FxNode
        What the network returns.
    reference : list of Tensor
        The same from one run of the network as it is.
    """

    trace: Sources
    operators: dict[str, FxNode]
    held: dict[FxNode, torch.Tensor]
    outputs: list[FxNode]
    reference: list[torch.Tensor]


def load(name: str, seed: int = 0) -> Program:
    """Build and export a network of the registry on the CPU; equal seeds give equal weights."""
    torch.manual_seed(seed)
    built = find(name).build()
    model = built.model.eval().requires_grad_(False)
    with torch.no_grad():
        exported = torch.export.export(model, built.args, built.kwargs, strict=False)
    with torch.inference_mode():
        answer = model(*built.args, **built.kwargs)
    reference = [t for t in pytree.tree_leaves(answer) if isinstance(t, torch.Tensor)]
    exported.graph.eliminate_dead_code()
    trace = Sources(graph_._weight_names(model, exported))
    for node in exported.graph.nodes:
        trace.visit(node)
    return Program(
        trace=trace,
        operators={
            trace.nodes[v].name: node for node, v in trace.index.items() if not trace.nodes[v].view
        },
        held=_held(exported, built.args, built.kwargs),
        outputs=_outputs(exported),
        reference=reference,
    )


def _held(
    program: torch.export.ExportedProgram, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[FxNode, torch.Tensor]:
    signature = program.graph_signature
    named = (
        signature.inputs_to_parameters
        | signature.inputs_to_buffers
        | signature.inputs_to_lifted_tensor_constants
    )
    inputs = iter(t for t in pytree.tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor))
    held: dict[FxNode, torch.Tensor] = {}
    for node in program.graph.nodes:
        if node.op != "placeholder":
            continue
        if node.name not in named:
            held[node] = next(inputs)
            continue
        key = named[node.name]
        value = program.state_dict[key] if key in program.state_dict else program.constants[key]
        assert isinstance(value, torch.Tensor)
        held[node] = value.detach()
    return held


def _outputs(program: torch.export.ExportedProgram) -> list[FxNode]:
    (output,) = (node for node in program.graph.nodes if node.op == "output")
    found: list[FxNode] = []
    map_arg(output.args, found.append)
    return found
