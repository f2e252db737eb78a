"""Read the JSON of the NeurIPS 2020 device-placement code (Tarnawski et al., arXiv 2006.16423).

Times are milliseconds. `cost` is the time of a node's payload between an accelerator and host
memory, so it is one number a node, written on every out-edge. Accelerators ("FPGAs") are alike,
CPUs too and pay no transfers: a staged platform.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from problems.builder import Builder
from problems.files import FileError
from problems.formats.fuse import fuse
from problems.formats.msr_doubts import doubts
from problems.formats.msr_file import MsrEdge, MsrFile, MsrNode
from problems.formats.reading import (
    Imported,
    error,
    located,
    seconds,
    short,
    typed_json,
    unknown_keys,
    whole_bytes,
)
from problems.graph import GraphFile
from problems.plausible import MOST_BYTES

FORMAT = "msr"
CPU, FPGA, PORT = "cpu", "fpga", "port"
# Out-edges of one node may differ by rounding, in the unit of the file.
SAME_COST = Decimal("1e-6")


def read(
    data: bytes,
    where: str,
    name: str,
    *,
    problem: str = "throughput",
    contiguous: bool = False,
    split_phases: bool = False,
    slots: int | None = None,
    cost_unit: str = "ms",
    provenance: dict[str, Any] | None = None,
) -> Imported:
    """Import a file.

    Parameters
    ----------
    data : bytes
        Content of the file; `where` is how errors call it, `name` how the instance is called.
    problem : {'throughput', 'latency', 'calls'}
        ``latency``: operator by operator; ``calls``: an accelerator runs whole subgraphs. Both with
        one CPU of unlimited lanes (the published program takes its CPU cores as unlimited there).
    slots : int or None
        ``calls``: how many subgraphs an accelerator may run (published ``q``); None: any number.
    cost_unit : {'ms', 's'}
        Unit of `cost`: as the published program takes it, or seconds, which the public layer
        graphs for throughput were written in.

    Raises
    ------
    FileError
        On anything that has no meaning, with its place.
    """
    file = typed_json(data, MsrFile, where)
    _check_graph(file, where)
    if problem == "chips":
        raise error(where, "its accelerators pass data through host memory: no `chips`", "$")
    rules: dict[str, Any] = {"memory": "weights"}
    if problem == "throughput":
        rules |= {"contiguous": True} if contiguous else {}
        rules |= {"split_phases": True} if split_phases else {}
    if problem == "calls":
        rules |= {} if slots is None else {"slots": slots}
    notes = unknown_keys(data, {"": MsrFile, "nodes": MsrNode, "edges": MsrEdge})
    costs = _costs(file, where, cost_unit)
    payload, points, coded = _payloads(file, costs)
    origin = {
        "format": FORMAT,
        "sha256": hashlib.sha256(data).hexdigest(),
        "cost_unit": cost_unit,
        "payloads": "codes, one a transfer time" if coded else "bytes",
        **(provenance or {}),
    }
    with located(where):
        builder = Builder(name, problem=problem, rules=rules, provenance=origin)
        _add_devices(builder, file, where, problem)
        if file.maxFPGAs:
            builder.add_link(PORT, points=points)
        notes += _add_nodes(builder, file, payload, where)
        names = _names(file.nodes)
        for edge in file.edges:
            builder.add_edge(names[edge.sourceId], names[edge.destId])
        bundle = builder.build()
        if problem == "throughput" and contiguous:
            bundle, gone = fuse(bundle)
            if gone:
                notes.append(
                    f"{gone} colour classes fused with others: a chain cannot separate them"
                )
        return Imported(bundle, notes + doubts(file, costs))


def _names(nodes: Sequence[MsrNode]) -> dict[int, str]:
    """A unique name for every id: the file's own where they are unique."""
    own = {node.id: node.name or str(node.id) for node in nodes}
    if len(set(own.values())) < len(own):
        own = {key: f"{key}:{name}" for key, name in own.items()}
    return own


def _check_graph(file: MsrFile, where: str) -> None:
    if not file.nodes:
        raise error(where, "no nodes", "$.nodes")
    place: dict[int, int] = {}
    for i, node in enumerate(file.nodes):
        if node.id in place:
            ids = {each.id for each in file.nodes}
            what = f"id {short(node.id)} is that of node {place[node.id]}, too"
            if len(ids) == 1:
                what = f"all {len(file.nodes)} nodes have the id {short(node.id)}; number them"
            raise error(where, what, f"$.nodes[{i}].id")
        place[node.id] = i
    seen: set[tuple[int, int]] = set()
    for i, edge in enumerate(file.edges):
        at = f"$.edges[{i}]"
        for end in ("sourceId", "destId"):
            if getattr(edge, end) not in place:
                what = f"no node has the id {short(getattr(edge, end))}"
                raise error(where, what, f"{at}.{end}")
        u, v = edge.sourceId, edge.destId
        pair = f"{short(u)} -> {short(v)}"
        if u == v:
            raise error(where, f"edge {pair} of a node to itself", at)
        if (u, v) in seen:
            raise error(where, f"edge {pair} is listed twice", at)
        seen.add((u, v))
        if file.nodes[place[u]].isBackwardNode and not file.nodes[place[v]].isBackwardNode:
            raise error(where, f"edge {pair} goes from a backward node to a forward node", at)


def _costs(file: MsrFile, where: str, unit: str) -> dict[int, float]:
    """Seconds of each node's payload over the port; 0 for a node that nobody reads."""
    raw: dict[int, Decimal] = {}
    result = {node.id: 0.0 for node in file.nodes}
    for i, edge in enumerate(file.edges):
        at = f"$.edges[{i}].cost"
        u = edge.sourceId
        cost = seconds(edge.cost, where, at, milli=unit == "ms", hint="is it the right unit?")
        if u not in raw:
            raw[u], result[u] = edge.cost, cost
        elif abs(edge.cost - raw[u]) > SAME_COST:
            what = (
                f"out-edges of node {short(u)} cost {short(raw[u])} and {short(edge.cost)}; a"
                " payload has one transfer time, whoever reads it"
            )
            raise error(where, what, at)
    return result


def _payloads(
    file: MsrFile, costs: dict[int, float]
) -> tuple[dict[int, int], list[tuple[int, float]], bool]:
    """Payloads and the points of a link that gives exactly the costs.

    The format has transfer times; bytes stand beside them on the edges in some files. Where every
    node has one size there, and longer means slower, these are the payloads. Otherwise a payload
    is a code: the rank of its cost.
    """
    given: dict[int, set[Decimal | None]] = {}
    for edge in file.edges:
        given.setdefault(edge.sourceId, set()).add(edge.size)
    if all(len(sizes) == 1 and _is_whole(*sizes) for sizes in given.values()):
        size = {u: int(next(iter(given[u])) or 0) if u in given else 0 for u in costs}
        points = sorted({(size[u], costs[u]) for u in costs} | {(0, 0.0)})
        if all(a < c and b < d for (a, b), (c, d) in pairwise(points)):
            return size, points, False
    ranked = sorted({0.0, *costs.values()})
    code = {cost: i for i, cost in enumerate(ranked)}
    return {u: code[cost] for u, cost in costs.items()}, list(enumerate(ranked)), True


def _is_whole(size: Decimal | None) -> bool:
    if size is None or not size.is_finite() or not 0 <= size <= MOST_BYTES:
        return False
    return size.adjusted() > -100 and size == size.to_integral_value()


def _add_devices(builder: Builder, file: MsrFile, where: str, problem: str) -> None:
    for key, count in (("maxFPGAs", file.maxFPGAs), ("maxCPUs", file.maxCPUs)):
        if not 0 <= count <= 1000:
            raise error(where, f"{short(count)} devices, not in 0..1000", f"$.{key}")
    if not file.maxFPGAs + file.maxCPUs:
        raise error(where, "no device at all", "$.maxFPGAs")
    memory = None
    if file.maxSizePerFPGA is not None:
        memory = whole_bytes(file.maxSizePerFPGA, where, "$.maxSizePerFPGA")
        memory -= memory > file.maxSizePerFPGA  # a limit is rounded down
    for k in range(file.maxFPGAs):
        builder.add_device(f"{FPGA}{k}", kind=FPGA, memory_bytes=memory, link=PORT)
    if problem != "throughput" and file.maxCPUs:
        builder.add_device(CPU, host=True, unlimited=True)
        return
    for k in range(file.maxCPUs):
        builder.add_device(f"{CPU}{k}", kind=CPU, host=True)


def _add_nodes(builder: Builder, file: MsrFile, payload: dict[int, int], where: str) -> list[str]:
    names = _names(file.nodes)
    groups = _groups(file.nodes)
    broken = 0
    for i, node in enumerate(file.nodes):
        at = f"$.nodes[{i}]"
        time: dict[str, float | None] = {}
        if file.maxFPGAs:
            time[FPGA] = _time(
                node.fpgaLatency, where, f"{at}.fpgaLatency", bool(node.supportedOnFpga)
            )
        if file.maxCPUs:
            time[CPU] = _time(node.cpuLatency, where, f"{at}.cpuLatency", True)
        size = whole_bytes(node.size, where, f"{at}.size")
        broken += size != node.size
        builder.add_node(
            names[node.id],
            time,
            output_bytes=payload[node.id],
            weights=size,
            phase="backward" if node.isBackwardNode else "forward",
            colocate=groups.get(node.colorClass),
            op=FORMAT,
            signature=str(node.id),
        )
    return [f"{broken} sizes are no whole bytes: rounded up"] if broken else []


def _groups(nodes: Sequence[MsrNode]) -> dict[int | str | None, str]:
    """A name of its own for every class of several nodes, 1 and "1" being two classes.

    A class that reads like an earlier one (cut short, without control characters) gets a number.
    """
    members = Counter(node.colorClass for node in nodes if node.colorClass is not None)
    used: set[str] = set()
    repeats: Counter[str] = Counter()
    result: dict[int | str | None, str] = {}
    for colour, count in members.items():
        if count > 1:
            label = plain = f"class {short(colour, 80)}"
            while label in used:
                repeats[plain] += 1
                label = f"{plain} #{repeats[plain] + 1}"
            used.add(label)
            result[colour] = label
    return result


def _time(value: Decimal | None, where: str, at: str, supported: bool) -> float | None:
    # Of a node that is not supported, any number may stand in the file.
    return seconds(value, where, at, milli=True) if supported and value is not None else None


def ids(graph: GraphFile) -> dict[str, int] | None:
    """Node name -> id in the file that a graph was imported from; None for any other graph.

    Raises
    ------
    FileError
        If the graph says so, but its signatures are no ids.
    """
    if graph.provenance.get("format") != FORMAT:
        return None
    try:
        return {node.name: int(node.signature or "") for node in graph.nodes}
    except ValueError:
        raise FileError(f"{graph.name}: signatures of an {FORMAT} graph must be ids") from None
