"""Colocation classes that a chain of devices cannot separate anyway are made one."""

from __future__ import annotations

import msgspec
import networkx as nx

from problems import throughput
from problems.instance import Bundle
from problems.resolve import from_bundle


def fuse(bundle: Bundle) -> tuple[Bundle, int]:
    """Fuse the classes on a cycle of a contiguous throughput instance.

    Where class A feeds class B and B feeds A, the devices of a chain can only be ordered with both
    on one device: non-convex classes do that. The rule implies it; written out as colocation,
    every method can use it. Classes with forward nodes and classes with backward nodes only are
    kept apart, since they take part in the order in different ways.

    Returns
    -------
    Bundle, int
        The bundle, and the number of classes that are gone.
    """
    instance = from_bundle(bundle)
    group = instance.group
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_edges_from(group[throughput.order_edges(instance)].tolist())
    forward = set(group[instance.phase == 0].tolist())
    label: dict[int, str] = {}
    gone = 0
    for component in nx.strongly_connected_components(graph):
        for part in (component & forward, component - forward):
            if len(part) > 1:
                gone += len(part) - 1
                label |= dict.fromkeys(part, f"fused classes {min(part)}")
    if not gone:
        return bundle, 0
    names = {name: label.get(int(group[v])) for v, name in enumerate(instance.names)}
    nodes = [
        msgspec.structs.replace(node, colocate=names[node.name] or node.colocate)
        for node in bundle.graph.nodes
    ]
    file = msgspec.structs.replace(bundle.graph, nodes=nodes)
    return msgspec.structs.replace(bundle, graph=file), gone
