"""A captured fp32 graph as a bf16 program would have it: payloads and weights of half the bytes.

Signatures keep their ids, so that every device file answers for both graphs: what is executed is
the same, and a device file says at which precision it was timed.
"""

from __future__ import annotations

import msgspec

from problems.files import FileError
from problems.formats.aiconfigurator.work import writes_floats
from problems.graph import GraphFile, Node


def halved(graph: GraphFile) -> GraphFile:
    """Halve what is fp32: weights, and payloads of operators that write floats.

    Integer buffers are halved with the weights: a graph does not say their types, and they are
    small.

    Raises
    ------
    FileError
        If the graph is one of these already.
    """
    if "halved" in graph.provenance:
        raise FileError(f"graph {graph.name!r}: halved already, from {graph.provenance['halved']}")

    def half(node: Node) -> Node:
        signature = graph.signatures.get(node.signature or "")
        floats = signature is None or writes_floats(signature)
        return msgspec.structs.replace(
            node,
            output_bytes=(node.output_bytes + 1) // 2 if floats else node.output_bytes,
            weights={name: (size + 1) // 2 for name, size in node.weights.items()},
        )

    return msgspec.structs.replace(
        graph,
        name=f"{graph.name}-bf16",
        nodes=[half(node) for node in graph.nodes],
        provenance={
            **graph.provenance,
            "halved": f"{graph.name}: bf16 in place of fp32, half the bytes of weights and floats",
        },
    )
