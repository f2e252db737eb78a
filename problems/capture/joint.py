"""The joint graph of a network and its gradients, as AOT autograd traces it.

The model is exported first (module paths are then those of the inference graph), then traced once
more together with its backward pass by ``aot_export_joint_with_descriptors``: of the ways of
torch 2.13 into AOT autograd it is the one that says of every node whether autograd ran it, and of
every input and output which parameter it belongs to. Nothing is decomposed further than autograd
itself does, so the operators are the kernels that a CPU runs.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch._functorch._aot_autograd.descriptors import (
    BufferAOTInput,
    GradAOTOutput,
    ParamAOTInput,
)
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule
from torch.fx import Node as FxNode
from torch.fx.graph import CodeGen
from torch.nn import Module

ATEN = torch.ops.aten


@dataclass(frozen=True)
class Joint:
    """A joint graph; its outputs are the loss and one gradient a parameter.

    Attributes
    ----------
    module : GraphModule
        Takes parameters, buffers, inputs and the gradient of the loss (1, a scalar).
    weights : dict
        Input node -> name of the parameter or buffer in the traced module; tied ones by the name
        that PyTorch keeps.
    gradients : list of (node, str)
        What gives the gradient of which parameter, in the order of the outputs after the loss.
    partner : dict
        Backward node -> the forward node whose autograd function ran it, where there is one.
    """

    module: GraphModule
    weights: dict[FxNode, str]
    gradients: list[tuple[FxNode, str]]
    partner: dict[FxNode, FxNode]


def joint_graph(mode: FakeTensorMode, model: Module, args: tuple[Any, ...]) -> Joint:
    """Trace a module that returns its scalar loss, forward and backward.

    Parameters
    ----------
    mode : FakeTensorMode
        The mode that made the tensors of the module and of `args`.
    model : Module
        In training mode; parameters without ``requires_grad`` get no gradient.
    args : tuple
        Its inputs, tensors or containers of them.

    Raises
    ------
    ValueError
        If the loss depends on no parameter.
    """
    with mode:
        program = torch.export.export(model, args, strict=False)
        with ExitStack() as stack:
            traced = aot_export_joint_with_descriptors(
                stack, program.module(check_guards=False), args
            )
            module: GraphModule = traced.graph_module
    graph = module.graph
    result = graph.output_node()
    weights = {
        node: node.meta["desc"].target
        for node in graph.find_nodes(op="placeholder")
        if isinstance(node.meta["desc"], ParamAOTInput | BufferAOTInput)
    }
    outputs, descriptions = result.args[0], result.meta["desc"]
    gradients = [
        (node, description.grad_of.target)
        for node, description in zip(outputs, descriptions, strict=True)
        if node is not None
        and isinstance(description, GradAOTOutput)
        and isinstance(description.grad_of, ParamAOTInput)
    ]
    if not gradients:
        raise ValueError("the loss depends on no parameter that wants a gradient")
    partner = _partners(module)
    forward = [n for n in outputs if n is not None and not backward(n)]
    # Statistics that batch norm updates are written in place: they leave with no operator.
    loss = forward[-1]
    result.args = ([loss, *(node for node, _ in gradients)],)
    _restore_batch_norm(module)
    graph.eliminate_dead_code(is_impure_node=lambda node: node.op in ("placeholder", "output"))
    graph.set_codegen(CodeGen())  # plain arguments and results instead of nested ones
    module.recompile()
    return Joint(module, weights, gradients, partner)


def backward(node: FxNode) -> bool:
    """Whether autograd's engine ran this node."""
    return bool(node.meta.get("partitioner_tag") == "is_backward")


def _partners(module: GraphModule) -> dict[FxNode, FxNode]:
    """Match by autograd's sequence number: the first forward node of a number made the function.

    Later ones of the same number made none. Sums of gradients are the engine's own and have none.
    In-place activations that keep their input lose their number to the copy they keep: their
    gradient is matched with the last forward node that it reads, this copy.
    """
    first: dict[int, FxNode] = {}
    found: dict[FxNode, FxNode] = {}
    for node in module.graph.nodes:
        number = node.meta.get("seq_nr")
        if number is None or node.op != "call_function":
            continue
        if not backward(node):
            first.setdefault(number, node)
        elif not node.meta.get("is_gradient_acc", False):
            kept = [n for n in node.all_input_nodes if n.op == "call_function" and not backward(n)]
            match = first.get(number, kept[-1] if kept else None)
            if match is not None:
                found[node] = match
    return found


def _restore_batch_norm(module: GraphModule) -> None:
    """Put back the kernel that eager mode calls, with its statistics updated in place."""
    for node in module.graph.find_nodes(
        op="call_function", target=ATEN._native_batch_norm_legit_functional.default
    ):
        node.target = ATEN.native_batch_norm.default
        node.meta["val"] = tuple(node.meta["val"])[:3]
        for user in list(node.users):
            which = int(user.args[1])
            if which > 2:  # new running statistics: the backward operator is given them
                user.replace_all_uses_with(node.args[which])
                module.graph.erase_node(user)
