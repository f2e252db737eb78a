"""OpGraph: the structure of a deep neural network, with no times in it."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from problems.files import FileError

Bytes = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
FORWARD, BACKWARD = 0, 1


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is executed: equal signatures take equal time on a device.

    Attributes
    ----------
    op : str
        Operator, such as ``aten.conv2d.default``.
    args, kwargs : list, dict
        The arguments in the form that :mod:`problems.capture` replays: tensors by shape, stride
        and dtype, constants as they are.
    flops : float
        Counted floating-point operations.
    bytes_read, bytes_written : int
        Bytes of the tensors that the operator reads and writes.
    """

    op: str
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    flops: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    bytes_read: Bytes = 0
    bytes_written: Bytes = 0


class Node(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One operator of a graph file; see :class:`OpGraph` for the meaning of the fields.

    A node with ``view: true`` aliases its input and is merged into its producer at load.
    A node with ``signature: null`` costs nothing on any device.
    """

    name: Annotated[str, msgspec.Meta(min_length=1)]
    op: str
    signature: str | None = None
    output_bytes: Bytes = 0
    weights: dict[str, Bytes] = {}
    phase: Literal["forward", "backward"] = "forward"
    colocate: str | None = None
    path: str = ""
    view: bool = False


class GraphFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A serialized graph.

    Attributes
    ----------
    format : str
        ``placebench-graph/1``.
    name, family : str
        File name without ending; family of architectures (``bert``, ``resnet``, ...).
    provenance : dict
        Where the structure comes from: ``kind`` (``measured`` for a captured graph, ``imported``
        or ``modelled``) and whatever describes it (model, batch, versions, date).
    block : str
        Regular expression; what it matches at the start of a node's path names the node's block.
    """

    format: Literal["placebench-graph/1"]
    name: str
    family: str
    nodes: list[Node]
    edges: list[tuple[int, int]]
    provenance: dict[str, Any] = {}
    block: str = ""
    signatures: dict[str, Signature] = {}


@dataclass(frozen=True, eq=False)
class OpGraph:
    """A directed acyclic graph of n operators, numbered 0..n-1 in a topological order.

    Attributes
    ----------
    names, ops, paths : tuple of str, length n
    members : tuple of tuple of str, length n
        Signatures executed by each node: one for an operator, several for a coarse node, none for
        what costs nothing.
    output_bytes : int64 array, shape (n,)
        o(u), the payload that every out-edge of u carries.
    weights : tuple of mapping, length n
        Name -> bytes of parameters and buffers that the node reads.
    phase : int8 array, shape (n,)
        0 forward, 1 backward.
    colocate : tuple of str or None, length n
        All nodes of one group sit on one device.
    edges : int64 array, shape (m, 2)
        Pairs (u, v), sorted, without repeats; always u < v.
    signatures : mapping
        Signature id -> :class:`Signature`, as far as they are known.
    """

    name: str
    family: str
    names: tuple[str, ...]
    ops: tuple[str, ...]
    paths: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    output_bytes: np.ndarray
    weights: tuple[Mapping[str, int], ...]
    phase: np.ndarray
    colocate: tuple[str | None, ...]
    edges: np.ndarray
    signatures: Mapping[str, Signature]
    provenance: Mapping[str, Any]
    block: str = ""

    @property
    def n(self) -> int:
        """Number of operators."""
        return len(self.names)

    @property
    def flops(self) -> np.ndarray:
        """Counted floating-point operations a node, shape (n,); 0 where the count is unknown."""
        known = self.signatures
        return np.array(
            [sum(known[s].flops for s in each if s in known) for each in self.members], float
        )


def from_file(file: GraphFile, where: str = "graph") -> OpGraph:
    """Validate a graph file, merge its views and number it topologically.

    Raises
    ------
    FileError
        On a repeated name, an edge out of range, to itself or listed twice, a cycle, a view with
        two producers, or an edge from a backward to a forward operator.
    """
    _check_nodes(file, where)
    producers, consumers = _edge_lists(file, where)
    order = topological_order(len(file.nodes), producers)
    if order is None:
        cycle = _on_cycle(file, producers)
        raise FileError(f"{where}: the edges close a cycle through {cycle} - at `$.edges`")
    root, weights = _merge_views(file, where, order, producers, consumers)
    kept = [v for v in order if root[v] == v]
    index = {v: i for i, v in enumerate(kept)}
    sources = {v: [root[u] for u in producers[v]] for v in kept}
    edges = {(index[u], index[v]) for v in kept for u in sources[v] if u is not None}
    nodes = [file.nodes[v] for v in kept]
    return OpGraph(
        name=file.name,
        family=file.family,
        names=tuple(node.name for node in nodes),
        ops=tuple(node.op for node in nodes),
        paths=tuple(node.path for node in nodes),
        members=tuple((node.signature,) if node.signature else () for node in nodes),
        output_bytes=np.array([node.output_bytes for node in nodes], np.int64),
        weights=tuple(weights[v] for v in kept),
        phase=np.array([node.phase == "backward" for node in nodes], np.int8),
        colocate=tuple(node.colocate for node in nodes),
        edges=np.array(sorted(edges), np.int64).reshape(-1, 2),
        signatures=file.signatures,
        provenance=file.provenance,
        block=file.block,
    )


def topological_order(n: int, producers: list[list[int]]) -> list[int] | None:
    """Order 0..n-1 so that producers come first, ties by number; None where there is a cycle.

    Numbers that are in such an order already keep it.
    """
    consumers: list[list[int]] = [[] for _ in range(n)]
    missing = [len(each) for each in producers]
    for v in range(n):
        for u in producers[v]:
            consumers[u].append(v)
    ready = [v for v in range(n) if not missing[v]]  # sorted, hence a heap
    order: list[int] = []
    while ready:
        u = heapq.heappop(ready)
        order.append(u)
        for v in consumers[u]:
            missing[v] -= 1
            if not missing[v]:
                heapq.heappush(ready, v)
    return order if len(order) == n else None


def _check_nodes(file: GraphFile, where: str) -> None:
    if not file.nodes:
        raise FileError(f"{where}: a graph needs at least one node - at `$.nodes`")
    try:
        re.compile(file.block)
    except re.error as error:
        raise FileError(f"{where}: not a regular expression: {error} - at `$.block`") from None
    seen: dict[str, int] = {}
    size: dict[str, int] = {}
    for v, node in enumerate(file.nodes):
        for name, count in node.weights.items():
            if size.setdefault(name, count) != count:
                raise FileError(
                    f"{where}: weight {name!r} has {count} bytes here and {size[name]} at another"
                    f" node - at `$.nodes[{v}].weights`"
                )
        if node.name in seen:
            raise FileError(
                f"{where}: node name {node.name!r} is used by nodes {seen[node.name]} and {v}"
                f" - at `$.nodes[{v}].name`"
            )
        seen[node.name] = v


def _edge_lists(file: GraphFile, where: str) -> tuple[list[list[int]], list[list[int]]]:
    n = len(file.nodes)
    producers: list[list[int]] = [[] for _ in range(n)]
    consumers: list[list[int]] = [[] for _ in range(n)]
    seen: set[tuple[int, int]] = set()
    for i, (u, v) in enumerate(file.edges):
        place = f" - at `$.edges[{i}]`"
        if not (0 <= u < n and 0 <= v < n):
            raise FileError(f"{where}: edge ({u}, {v}) leaves the nodes 0..{n - 1}{place}")
        if u == v:
            raise FileError(f"{where}: edge of node {u} ({file.nodes[u].name!r}) to itself{place}")
        if (u, v) in seen:
            raise FileError(f"{where}: edge ({u}, {v}) is listed twice{place}")
        if file.nodes[u].phase == "backward" and file.nodes[v].phase == "forward":
            raise FileError(
                f"{where}: edge ({u}, {v}) goes from the backward node {file.nodes[u].name!r}"
                f" to the forward node {file.nodes[v].name!r}{place}"
            )
        seen.add((u, v))
        producers[v].append(u)
        consumers[u].append(v)
    return producers, consumers


def _merge_views(
    file: GraphFile,
    where: str,
    order: list[int],
    producers: list[list[int]],
    consumers: list[list[int]],
) -> tuple[list[int | None], list[dict[str, int]]]:
    """Find the operator that each node's data comes from; hand weights of rootless views on."""
    root: list[int | None] = [None] * len(file.nodes)
    weights = [dict(node.weights) for node in file.nodes]
    for v in order:
        node = file.nodes[v]
        if not node.view:
            root[v] = v
            continue
        if len(producers[v]) > 1:
            raise FileError(
                f"{where}: view {node.name!r} has {len(producers[v])} producers, at most one is"
                f" possible - at `$.nodes[{v}]`"
            )
        root[v] = root[producers[v][0]] if producers[v] else None
        receiver = root[v]
        # A view of a weight or of an input has no producer: who reads it reads the weight.
        for other in [receiver] if receiver is not None else consumers[v]:
            weights[other].update(weights[v])
    if all(r is None for r in root):
        raise FileError(f"{where}: every node is a view, nothing is left to place")
    return root, weights


def _on_cycle(file: GraphFile, producers: list[list[int]]) -> str:
    try:
        TopologicalSorter({v: producers[v] for v in range(len(producers))}).prepare()
    except CycleError as error:
        cycle = error.args[1]
        names = [file.nodes[v].name for v in cycle[:6]]
        return " -> ".join(names) + (" -> ..." if len(cycle) > 6 else "")
    raise AssertionError("no cycle")
