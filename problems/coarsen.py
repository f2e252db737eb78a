"""Coarser views of a graph: one node a module instead of one an operator."""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Sequence

import networkx as nx
import numpy as np

from problems.graph import OpGraph, topological_order

LEVELS = ("operator", "leaf", "parent", "block")


def coarsen(graph: OpGraph, level: str) -> OpGraph:
    """Contract the operators of a graph by their module path.

    Parameters
    ----------
    graph : OpGraph
        Operators with paths.
    level : {'operator', 'leaf', 'parent', 'block'}
        ``operator``: the graph as it is. ``leaf``: operators of the same path make one node.
        ``parent``: of the same path without its last component. ``block``: of the same match of
        ``graph.block`` at the start of the path; what it does not match goes by its parent path.

    Returns
    -------
    OpGraph
        Phases never share a node. A group whose contraction would close a cycle is split into
        runs of a topological order, so the result is acyclic whatever the paths. A node carries
        the payloads of those members that are read outside (of its sinks, if no member is). What
        only nodes of its own colocation group read outside never travels (the activations that
        its backward node needs): these bytes are the weight ``NODE:local`` of the node.

    Raises
    ------
    ValueError
        If the level is unknown.
    """
    if level not in LEVELS:
        raise ValueError(f"no level {level!r}; the levels are {', '.join(LEVELS)}")
    if level == "operator":
        return graph
    labels = _labels(graph, level)
    group = _split_cycles(graph, _numbered(list(zip(labels, graph.phase.tolist(), strict=True))))
    members, group, edges = _renumber(graph, group)
    names = _unique([labels[each[0]] or graph.name for each in members])
    colocate = _colocate(graph, members)
    payloads, local = _payloads(graph, members, group, colocate)
    weights: list[dict[str, int]] = []
    for name, each, size in zip(names, members, local, strict=True):
        held = {weight: size for v in each for weight, size in graph.weights[v].items()}
        weights.append(held | ({f"{name}:local": size} if size else {}))
    return OpGraph(
        name=graph.name,
        family=graph.family,
        names=names,
        ops=tuple(_common([graph.ops[v] for v in each], level) for each in members),
        paths=tuple(labels[each[0]] for each in members),
        members=tuple(tuple(s for v in each for s in graph.members[v]) for each in members),
        output_bytes=payloads,
        weights=tuple(weights),
        phase=graph.phase[[each[0] for each in members]],
        colocate=colocate,
        edges=edges,
        signatures=graph.signatures,
        provenance={**graph.provenance, "level": level},
        block=graph.block,
    )


def _labels(graph: OpGraph, level: str) -> list[str]:
    parents = [path.rpartition(".")[0] for path in graph.paths]
    if level == "leaf":
        return list(graph.paths)
    if level == "parent" or not graph.block:
        return parents
    pattern = re.compile(graph.block)
    matches = [pattern.match(path) for path in graph.paths]
    return [m.group() if m else p for m, p in zip(matches, parents, strict=True)]


def _numbered(keys: Sequence[object]) -> np.ndarray:
    index: dict[object, int] = {}
    return np.array([index.setdefault(key, len(index)) for key in keys], np.int64)


def _split_cycles(graph: OpGraph, group: np.ndarray) -> np.ndarray:
    """Split the groups that lie on cycles of the quotient; shape (n,), group of each node.

    A path between two groups of a strongly connected component never leaves it, so each component
    can be cut on its own, and any runs of a topological order of its nodes will do.
    """
    quotient: nx.DiGraph[int] = nx.DiGraph()
    quotient.add_nodes_from(range(int(group.max()) + 1))
    quotient.add_edges_from(group[graph.edges].tolist())
    result = group.copy()
    fresh = int(group.max()) + 1
    for component in nx.strongly_connected_components(quotient):
        if len(component) == 1:
            continue
        inside = np.flatnonzero(np.isin(group, list(component)))
        for run in _runs(graph, group, inside):
            result[run] = fresh
            fresh += 1
    return result


def _runs(graph: OpGraph, group: np.ndarray, inside: np.ndarray) -> list[list[int]]:
    """Cut the nodes `inside` into runs of one group each, in a topological order of greedy choice.

    The order stays in the current group while it can, then goes to the group of the smallest node
    that is ready.
    """
    chosen = set(inside.tolist())
    missing = dict.fromkeys(inside.tolist(), 0)
    consumers: dict[int, list[int]] = defaultdict(list)
    for u, v in graph.edges.tolist():
        if u in chosen and v in chosen:
            consumers[u].append(v)
            missing[v] += 1
    ready: dict[int, list[int]] = defaultdict(list)  # group -> heap
    for v, count in missing.items():
        if not count:
            heapq.heappush(ready[int(group[v])], v)
    runs: list[list[int]] = []
    while ready:
        current = min(ready, key=lambda g: ready[g][0])
        run: list[int] = []
        while ready.get(current):
            u = heapq.heappop(ready[current])
            run.append(u)
            for v in consumers[u]:
                missing[v] -= 1
                if not missing[v]:
                    heapq.heappush(ready[int(group[v])], v)
        del ready[current]
        runs.append(run)
    return runs


def _renumber(graph: OpGraph, group: np.ndarray) -> tuple[list[list[int]], np.ndarray, np.ndarray]:
    """Number groups topologically; return their members, the group of each node and the edges."""
    group = _numbered(group.tolist())
    n = int(group.max()) + 1
    pairs = {(u, v) for u, v in group[graph.edges].tolist() if u != v}
    producers: list[list[int]] = [[] for _ in range(n)]
    for u, v in pairs:
        producers[v].append(u)
    order = topological_order(n, producers)
    assert order is not None, "a split quotient is acyclic"
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    group = rank[group]
    members: list[list[int]] = [[] for _ in range(n)]
    for v, g in enumerate(group.tolist()):
        members[g].append(v)
    edges = sorted((int(rank[u]), int(rank[v])) for u, v in pairs)
    return members, group, np.array(edges, np.int64).reshape(-1, 2)


def _payloads(
    graph: OpGraph,
    members: list[list[int]],
    group: np.ndarray,
    colocate: tuple[str | None, ...],
) -> tuple[np.ndarray, list[int]]:
    """Bytes that each node sends, shape (n,), and bytes that only its colocation group reads."""
    read, leaves, travels = set(), set(), set()
    for u, v in graph.edges.tolist():
        read.add(u)
        a, b = group[u], group[v]
        if a != b:
            leaves.add(u)
            if colocate[a] is None or colocate[a] != colocate[b]:
                travels.add(u)
    payloads, local = [], []
    for each in members:
        if leaves.isdisjoint(each):
            sent, kept = [v for v in each if v not in read], []
        else:
            sent = [v for v in each if v in travels]
            kept = [v for v in each if v in leaves and v not in travels]
        payloads.append(int(graph.output_bytes[sent].sum()))
        local.append(int(graph.output_bytes[kept].sum()))
    return np.array(payloads, np.int64), local


def _colocate(graph: OpGraph, members: list[list[int]]) -> tuple[str | None, ...]:
    """Unite the colocation groups that meet in a coarse node; the smallest id names the union."""
    ids = [sorted({c for v in each if (c := graph.colocate[v]) is not None}) for each in members]
    meets: nx.Graph[str] = nx.Graph()
    for each in ids:
        meets.add_nodes_from(each)
        nx.add_path(meets, each)
    name = {c: min(part) for part in nx.connected_components(meets) for c in part}
    return tuple(name[each[0]] if each else None for each in ids)


def _common(ops: list[str], level: str) -> str:
    return ops[0] if len(set(ops)) == 1 else level


def _unique(names: list[str]) -> tuple[str, ...]:
    taken = set(names)
    seen: set[str] = set()
    result = []
    for name in names:
        candidate, count = name, 1
        while candidate in seen or (count > 1 and candidate in taken):
            count += 1
            candidate = f"{name}#{count}"
        seen.add(candidate)
        result.append(candidate)
    return tuple(result)
