"""Read the JSON of Piper (Tarnawski et al., NeurIPS 2021): layers with tensor-parallel variants.

Taken is the variant without tensor parallelism (``"1"``). `timePerSample` is one layer's forward
and backward time, `communicationCost` the bytes on an edge; the devices are alike and joined by
links of one `bandwidth`: a direct platform.
"""

from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any

import msgspec

from problems.builder import Builder
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

# Moving every payload once against computing every layer once. Milliseconds read as seconds make
# transfers look a thousand times too fast.
FAST, SLOW = 1e-4, 1e4


class Variant(msgspec.Struct, frozen=True):
    """One way to run a layer."""

    timePerSample: Decimal
    parameterSize: Decimal = Decimal(0)
    memoryUsageA: Decimal = Decimal(0)
    memoryUsageB: Decimal = Decimal(0)
    syncTimeFw: Any = 0  # a number, or one for every edge
    syncTimeBw: Any = 0
    id: Any = None


class PiperNode(msgspec.Struct, frozen=True):
    """A layer: degree of tensor parallelism -> variants."""

    id: int
    TMPCs: dict[str, list[Variant]]
    name: str | None = None


class PiperEdge(msgspec.Struct, frozen=True):
    """An edge, with its payload in bytes."""

    sourceId: int
    destId: int
    communicationCost: Decimal


class PiperFile(msgspec.Struct, frozen=True):
    """The whole file."""

    maxDevices: int
    bandwidth: Decimal
    nodes: list[PiperNode]
    edges: list[PiperEdge]
    maxMemoryPerDevice: Decimal | None = None
    mbsInBatch: Any = None
    name: str | None = None


def read(
    data: bytes,
    where: str,
    name: str,
    *,
    time_unit: str = "s",
    devices: int | None = None,
    problem: str = "throughput",
    rules: dict[str, Any] | None = None,
    provenance: dict[str, Any] | None = None,
) -> Imported:
    """Import a file.

    Parameters
    ----------
    time_unit : {'s', 'ms'}
        Of `timePerSample`: seconds, like bytes over bandwidth, as the published program takes it;
        two of its three public inputs have milliseconds.
    devices : int, optional
        How many devices instead of `maxDevices`.

    Raises
    ------
    FileError
        On anything that has no meaning, with its place.
    """
    file = typed_json(data, PiperFile, where)
    notes = unknown_keys(data, {"": PiperFile, "nodes": PiperNode, "edges": PiperEdge})
    count = file.maxDevices if devices is None else devices
    if not 1 <= count <= 1000:
        what = f"{short(count)} devices, not in 1..1000; --devices takes fewer"
        raise error(where, what, "$.maxDevices")
    if not file.bandwidth.is_finite() or not 0 < file.bandwidth <= 10**18:
        what = f"a bandwidth of {short(file.bandwidth)} bytes/s, not in (0, 1e18]"
        raise error(where, what, "$.bandwidth")
    origin = {
        "format": "piper",
        "sha256": hashlib.sha256(data).hexdigest(),
        "time_unit": time_unit,
        **(provenance or {}),
    }
    with located(where):
        builder = Builder(
            name, problem=problem, rules={"memory": "weights", **(rules or {})}, provenance=origin
        )
        memory = None
        if file.maxMemoryPerDevice is not None:
            memory = whole_bytes(file.maxMemoryPerDevice, where, "$.maxMemoryPerDevice")
            memory -= memory > file.maxMemoryPerDevice  # a limit is rounded down
        for k in range(count):
            builder.add_device(f"dev{k}", kind="dev", memory_bytes=memory)
        bandwidth = float(file.bandwidth)
        builder.add_link("link", latency_s=0.0, bandwidth_Bps=bandwidth)
        builder.set_default_link("link")
        payload, unlike = _payloads(file, where)
        work = 0.0
        seen: set[int] = set()
        for i, node in enumerate(file.nodes):
            at = f"$.nodes[{i}]"
            if node.id in seen:
                raise error(where, f"id {short(node.id)} is used twice", f"{at}.id")
            seen.add(node.id)
            chosen = _plain(node, where, at)
            time = seconds(
                chosen.timePerSample, where, f"{at}.timePerSample", milli=time_unit == "ms"
            )
            work += time
            places = ("memoryUsageA", "memoryUsageB", "parameterSize")
            held = [whole_bytes(getattr(chosen, key), where, f"{at}.{key}") for key in places]
            builder.add_node(
                str(node.id),
                {"dev": time},
                output_bytes=payload[node.id],
                weights=held[0] + held[1] or held[2],
                op=short(node.name or "layer", 80),
            )
        for edge in file.edges:
            builder.add_edge(str(edge.sourceId), str(edge.destId))
        moved = sum(payload.values()) / bandwidth
        notes += _dropped(file, unlike)
        if file.edges and not moved:
            notes.append("every transfer takes no time: were the edge costs left at zero?")
        elif work and moved and not FAST < moved / work < SLOW:
            unit = "ms" if time_unit == "s" else "s"
            notes.append(
                f"all transfers together take {moved / work:.2g} of the compute time:"
                f" are the times in another unit? (--time-unit {unit})"
            )
        return Imported(builder.build(), notes)


def _plain(node: PiperNode, where: str, at: str) -> Variant:
    """The first variant without tensor parallelism."""
    if not node.TMPCs.get("1"):
        raise error(where, 'no variant without tensor parallelism ("1")', f"{at}.TMPCs")
    return node.TMPCs["1"][0]


def _payloads(file: PiperFile, where: str) -> tuple[dict[int, int], int]:
    """Bytes of every node's payload, the largest of its out-edges; how many nodes had several."""
    known = {node.id for node in file.nodes}
    sizes: dict[int, set[int]] = {key: set() for key in known}
    for i, edge in enumerate(file.edges):
        at = f"$.edges[{i}]"
        for end in ("sourceId", "destId"):
            if getattr(edge, end) not in known:
                what = f"no node has the id {short(getattr(edge, end))}"
                raise error(where, what, f"{at}.{end}")
        cost = whole_bytes(edge.communicationCost, where, f"{at}.communicationCost")
        sizes[edge.sourceId].add(cost)
    unlike = sum(len(each) > 1 for each in sizes.values())
    return {key: max(each, default=0) for key, each in sizes.items()}, unlike


def _dropped(file: PiperFile, unlike: int) -> list[str]:
    variants = [v for node in file.nodes for each in node.TMPCs.values() for v in each]
    extra = len(variants) - len(file.nodes)
    notes = [f"{extra} variants of layers are left out (tensor parallelism, recomputation)"]
    notes = notes if extra else []
    if any(_is_set(n.TMPCs["1"][0].syncTimeFw) or _is_set(n.TMPCs["1"][0].syncTimeBw)
           for n in file.nodes):  # fmt: skip
        notes.append("syncTimeFw and syncTimeBw are left out")
    if file.mbsInBatch is not None:
        notes.append("mbsInBatch is left out: memory counts one sample in flight (A + B)")
    if unlike:
        notes.append(f"{unlike} nodes have out-edges of unlike cost: the largest is taken")
    return notes


def _is_set(value: Any) -> bool:
    """Whether a number, or any number in an object or list, is not zero."""
    left = [value]
    while left:  # not recursive: nested as deep as the parser goes
        each = left.pop()
        if isinstance(each, dict):
            left += each.values()
        elif isinstance(each, list):
            left += each
        elif each:
            return True
    return False
