"""Training graphs: the operators of one forward and backward pass, by AOT autograd.

The graph ends with the gradients of all parameters; there is no optimizer step. The loss is part
of the forward phase, its gradient (1) an input. Modules are in training mode: batch norm takes
the statistics of the batch, dropout is on. In-place operators are traced as operators that
give a new value.

*Phase.* A node is backward if autograd's engine ran it.

*Colocation.* A backward operator sits where the forward operator sits whose gradient it computes
(Narayanan et al., PipeDream, SOSP 2019; Tarnawski et al., arXiv 2006.16423): a group is a forward
operator and what its autograd function runs; its id is the name of the forward operator. The
gradient of a view belongs to the operator whose memory it is, of a view of a weight to the first
operator that reads it. Where a value has several readers, autograd sums their gradients: such a
sum is in no group, as it may sit with the readers (one gradient then travels back) or with the
producer. The sum that is the gradient of a weight is in the group of the weight's first reader.
A backward operator has the module path of its partner, a sum that of the first reader, so that a
module sums the gradients of its own input.

*Payload.* What operators of other groups read, summed over the outputs of the operator: a weight's
gradient does not travel with the gradient that goes to the layer before, nor do the indices of a
maximum or the mask of a dropout, which only their own backward operators read. Those bytes stay
on the device, so they are counted as weights of the operator that makes them: ``NAME.grad``, the
gradient of the weight NAME, and ``NODE:local``, what only NODE's own group reads.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from typing import Any

import msgspec
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Node as FxNode

from problems.capture import Progress, silent
from problems.capture.graph import fake, fake_copy, first_names
from problems.capture.joint import Joint, backward, joint_graph
from problems.capture.models import find
from problems.capture.modules.loss import LossKind, Objective, choose, labels_for
from problems.capture.signature import distinct_bytes
from problems.capture.trace import Trace, module_path, tensors_of
from problems.graph import GraphFile

NETWORK = "network."  # prefix that `Objective` gives to names and paths


def capture_training_graph(name: str, progress: Progress = silent, **sizes: int) -> GraphFile:
    """Capture the training graph of a network by its name, as ``NAME-train``.

    Parameters
    ----------
    name : str
        One of :data:`problems.capture.models.BUILDERS`.
    progress : callable
        Told the fraction done, 0..1, and what is being done.
    **sizes
        ``batch``, ``sequence``, ...: what the builder takes.

    Raises
    ------
    ValueError
        If there is no network of this name, or its builder takes no such size.
    """
    chosen = find(name)
    progress(0.0, f"building {name}")
    with torch.device("meta"):
        try:
            built = chosen.build(**sizes)
        except TypeError as error:
            raise ValueError(f"network {name!r} cannot be built so: {error}") from None
    progress(0.2, f"tracing {name} forward and backward")
    file = export_training_graph(
        f"{name}-train",
        chosen.family,
        built.model,
        built.args,
        built.kwargs,
        block=built.block,
        provenance={"network": chosen.network} | built.provenance,
    )
    progress(1.0, f"{file.name}: {len(file.nodes)} nodes, {len(file.signatures)} signatures")
    return file


def export_training_graph(
    name: str,
    family: str,
    model: torch.nn.Module,
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    *,
    loss: LossKind | None = None,
    block: str = "",
    provenance: dict[str, Any] | None = None,
) -> GraphFile:
    """Capture the training graph of `model`: forward, loss and backward.

    Parameters
    ----------
    name, family, model, args, kwargs, block, provenance
        As in :func:`problems.capture.graph.export_graph`; the loss and the mode are added to
        `provenance`.
    loss : {'cross-entropy', 'mean'}, optional
        Default: cross-entropy where the outputs hold scores of classes, else the mean.

    Raises
    ------
    ValueError
        If the model exports to something else than plain operators on tensors of known shape, or
        no parameter gets a gradient.
    """
    mode = FakeTensorMode()
    with mode:
        network = fake_copy(model, training=True).train()
        inputs = tuple(fake(a) for a in args)
        named = {k: fake(v) for k, v in (kwargs or {}).items()}
        with torch.no_grad():
            outputs = network(*inputs, **named)
        kind = loss or choose(outputs)
        labels = labels_for(outputs) if kind == "cross-entropy" else []
    joint = joint_graph(mode, Objective(network, kind), (labels, inputs, named))
    trace = _JointTrace(joint, first_names(network))
    for node in joint.module.graph.nodes:
        trace.visit(node)
    trace.settle()
    about = {"kind": "measured", "torch": torch.__version__.split("+")[0]}
    about |= {"mode": "training", "loss": kind, "optimizer": "none"}
    return GraphFile(
        format="placebench-graph/1",
        name=name,
        family=family,
        nodes=trace.nodes,
        edges=sorted(trace.edges),
        provenance=about | (provenance or {}),
        block=block,
        signatures=dict(sorted(trace.signatures.items())),
    )


Output = tuple[FxNode, int | None]  # an operator, and which of its outputs


class _JointTrace(Trace):
    """A walk that also finds every operator's phase, group and what of its outputs travels."""

    def __init__(self, joint: Joint, names: dict[str, str]) -> None:
        self.names_of_weights = names
        super().__init__({node.name: self._weight(w) for node, w in joint.weights.items()})
        self.joint = joint

    def _weight(self, name: str) -> str:
        own = name.removeprefix(NETWORK)
        return self.names_of_weights.get(own, own)

    def path(self, node: FxNode) -> str:
        owner = self.forward_of(node) if backward(node) else node
        path = module_path((owner or node).meta.get("nn_module_stack"))
        return "" if path == NETWORK[:-1] else path.removeprefix(NETWORK)

    def forward_of(self, node: FxNode) -> FxNode | None:
        """Find the forward operator that a backward node belongs to; of a sum, the first reader."""
        own = self.joint.partner.get(node)
        if own is not None:
            return self._operator_of(own)
        operands = [self.base[each] for each in node.all_input_nodes]
        found = [self.forward_of(each) for each in operands if backward(each)]
        known = [each for each in found if each is not None]
        return min(known, key=self.order.__getitem__, default=None)

    def _free(self, node: FxNode) -> bool:
        """Whether a backward node is a sum of gradients that some operator reads."""
        if node in self.joint.partner:
            return False
        reached = [node]
        for each in reached:
            if each in self.joint.partner:
                return True
            reached += [u for u in each.users if u.op == "call_function" and u not in reached]
        return False

    def _operator_of(self, node: FxNode) -> FxNode | None:
        """Whose memory a forward value is; of a view of a weight or an input, its first reader."""
        base = self.base[node]
        if base.op == "call_function":
            return base
        queue = [node]
        for each in queue:
            for user in each.users:
                if user in self.index and not backward(user):
                    if self.base[user] is user:
                        return user
                    queue.append(user)
        return None

    def settle(self) -> None:
        """Fill in phases, groups, payloads and what stays where it was made."""
        groups: dict[FxNode, FxNode] = {}
        for node in self.index:
            if backward(node) and self._is_operator(node) and not self._free(node):
                owner = self.forward_of(node)
                if owner is not None:
                    groups[node] = groups[owner] = owner
        readers: dict[Output, list[FxNode]] = defaultdict(list)
        for node in self.index:
            if self._is_operator(node):
                for each in node.all_input_nodes:
                    readers[self._origin(each)].append(node)
        gradient: dict[Output, list[str]] = defaultdict(list)
        for node, name in self.joint.gradients:
            gradient[self._origin(node)].append(self._weight(name))
        for node, v in self.index.items():
            if not self._is_operator(node):
                phase = "backward" if backward(node) else "forward"
                self.nodes[v] = msgspec.structs.replace(self.nodes[v], phase=phase)
                continue
            self._settle_operator(node, groups, readers, gradient)

    def _settle_operator(
        self,
        node: FxNode,
        groups: dict[FxNode, FxNode],
        readers: dict[Output, list[FxNode]],
        gradient: dict[Output, list[str]],
    ) -> None:
        old = self.nodes[self.index[node]]
        group = groups.get(node)
        travels, stays, weights = 0, 0, dict(old.weights)
        outputs = _outputs(node)
        for output, size in outputs.items():
            reading = [groups.get(each) for each in readers[output]]
            if any(each is None or each is not group for each in reading):
                travels += size
            elif reading:
                stays += size
            weights |= {f"{name}.grad": size for name in gradient[output]}
        if stays:
            weights[f"{old.name}:local"] = stays
        if not any(readers[each] or gradient[each] for each in outputs):
            travels = sum(outputs.values())
        self.nodes[self.index[node]] = msgspec.structs.replace(
            old,
            phase="backward" if backward(node) else "forward",
            colocate=self.nodes[self.index[group]].name if group is not None else None,
            output_bytes=travels,
            weights=dict(sorted(weights.items())),
        )

    def _is_operator(self, node: FxNode) -> bool:
        return node in self.index and self.base[node] is node

    def _origin(self, value: FxNode) -> Output:
        """Follow views to the operator, and to the output of it, that a value comes from."""
        which = None
        while value in self.source:
            which = int(value.args[1]) if value.target is operator.getitem else None
            value = self.source[value]
        return value, which


def _outputs(node: FxNode) -> dict[Output, int]:
    """Bytes of every output of an operator."""
    value = node.meta["val"]
    if isinstance(value, torch.Tensor):
        return {(node, None): distinct_bytes(value)}
    return {
        (node, i): distinct_bytes(each) for i, each in enumerate(value) for each in tensors_of(each)
    }
