"""From a PyTorch module to a graph file, through ``torch.export`` without decompositions.

Inputs of the user are no nodes: they are on every device before the run begins. Parameters and
buffers are no nodes either: they are `weights` of the operators that read them, directly or
through views. FLOPs are counted by PyTorch's own counter (matrix products, convolutions and
attention; 2 per multiply-add); everything else counts 0 and is left to its bytes.
"""

from __future__ import annotations

import copy
import itertools
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from problems.capture.trace import Trace
from problems.graph import GraphFile


def export_graph(
    name: str,
    family: str,
    model: torch.nn.Module,
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    *,
    block: str = "",
    provenance: dict[str, Any] | None = None,
) -> GraphFile:
    """Capture the inference graph of `model`.

    Parameters
    ----------
    name, family, block, provenance
        Fields of the graph file; ``kind: measured`` and the torch version are added to
        `provenance`.
    model : torch.nn.Module
        It may live on the ``meta`` device: nothing is computed, and it is left as it is.
    args, kwargs
        Example inputs, tensors only; their shapes become the shapes of the graph.

    Raises
    ------
    ValueError
        If the model exports to something else than plain operators on tensors of known shape.
    """
    with FakeTensorMode(), torch.no_grad():  # it knows what a CPU kernel would give
        copied = fake_copy(model).eval()
        inputs = tuple(fake(a) for a in args)
        named = {k: fake(v) for k, v in (kwargs or {}).items()}
        program = torch.export.export(copied, inputs, named, strict=False)
    # In-place operators count as having an effect, so only what no output needs goes.
    program.graph.eliminate_dead_code()
    trace = Trace(_weight_names(copied, program))
    for node in program.graph.nodes:
        trace.visit(node)
    return GraphFile(
        format="placebench-graph/1",
        name=name,
        family=family,
        nodes=trace.nodes,
        edges=sorted(trace.edges),
        provenance={"kind": "measured", "torch": torch.__version__.split("+")[0]}
        | (provenance or {}),
        block=block,
        signatures=dict(sorted(trace.signatures.items())),
    )


def fake_copy(model: torch.nn.Module, *, training: bool = False) -> torch.nn.Module:
    """Copy a module onto fake CPU tensors; call it under ``FakeTensorMode``.

    For `training` the parameters require gradients, where the module's own do.

    The ``meta`` device would choose other kernels than a CPU, with other strides of results
    (attention), and so copies that never happen. Tied tensors stay tied.
    """
    memo: dict[int, Any] = {}
    for tensor in itertools.chain(model.parameters(), model.buffers()):
        new = fake(tensor)
        memo[id(tensor)] = (
            torch.nn.Parameter(new, requires_grad=training and tensor.requires_grad)
            if isinstance(tensor, torch.nn.Parameter)
            else new
        )
    return copy.deepcopy(model, memo)


def fake(tensor: torch.Tensor) -> torch.Tensor:
    """Make a tensor of the same shape, strides and type on the CPU."""
    return torch.empty_strided(
        tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu", requires_grad=False
    )


def first_names(model: torch.nn.Module) -> dict[str, str]:
    """Name of each parameter and buffer -> the name it is known by; tied ones share the first."""
    first: dict[int, str] = {}
    canonical: dict[str, str] = {}
    for named in (model.named_parameters, model.named_buffers):
        for name, tensor in named(remove_duplicate=False):
            canonical[name] = first.setdefault(id(tensor), name)
    return canonical


def _weight_names(model: torch.nn.Module, program: torch.export.ExportedProgram) -> dict[str, str]:
    """Placeholder -> name of its parameter, buffer or constant."""
    canonical = first_names(model)
    signature = program.graph_signature
    held = (
        signature.inputs_to_parameters
        | signature.inputs_to_buffers
        | signature.inputs_to_lifted_tensor_constants
    )
    return {placeholder: canonical.get(name, name) for placeholder, name in held.items()}
