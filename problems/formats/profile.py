"""A graph and three tables: the way in for people with a profiler of their own.

* a graph in DOT or GraphML. Node attributes, all optional: ``output_bytes``, ``weight_bytes``,
  ``phase`` (forward, backward), ``colocate``, ``op``;
* times, CSV ``node,device,seconds``: one row a node and kind of device, `seconds` empty where it
  cannot run;
* devices, CSV ``name,kind,memory_bytes,host``: `kind` empty for a kind of its own, `memory_bytes`
  empty for no limit, `host` true for a CPU, empty otherwise;
* links, CSV ``device,latency_s,bandwidth_Bps``: the port of each device but hosts to host memory
  (staged platform), or ``source,target,latency_s,bandwidth_Bps``: a wire a pair, ``*,*`` for all
  others (direct platform).
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from typing import Any

from problems.builder import Builder
from problems.files import FileError
from problems.formats import dot, graphml
from problems.formats.reading import (
    Imported,
    error,
    located,
    number,
    seconds,
    short,
    text,
    whole_bytes,
)

ATTRIBUTES = ("output_bytes", "weight_bytes", "phase", "colocate", "op")
TIMES = ("node", "device", "seconds")
DEVICES = ("name", "kind", "memory_bytes", "host")
PORTS = ("device", "latency_s", "bandwidth_Bps")
WIRES = ("source", "target", "latency_s", "bandwidth_Bps")
FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}

Row = tuple[str, dict[str, str]]  # where it stands, and what it says
Part = tuple[bytes, str]  # content of a file, and its name for errors
Model = tuple[str, float, float]  # where a link stands, its latency in s and bandwidth in bytes/s


def read(
    graph: Part,
    times: Part,
    devices: Part,
    links: Part | None,
    name: str,
    *,
    problem: str = "throughput",
    rules: dict[str, Any] | None = None,
    provenance: dict[str, Any] | None = None,
) -> Imported:
    """Import a graph (GraphML where its name says so, otherwise DOT) with its tables.

    Raises
    ------
    FileError
        On anything that has no meaning, with its file and line.
    """
    is_xml = graph[1].removesuffix(".gz").endswith((".graphml", ".xml"))
    nodes, edges, dropped = (graphml.read if is_xml else dot.read)(*graph)
    origin = {
        "format": "graphml" if is_xml else "dot",
        "sha256": hashlib.sha256(graph[0]).hexdigest(),
        **(provenance or {}),
    }
    with located(graph[1], *(part[1] for part in (times, devices, links) if part)):
        builder = Builder(name, problem=problem, rules=rules, provenance=origin)
        ports, wires = _links(links)
        kinds = _add_devices(builder, devices, ports)
        for source, target, link in wires:
            with_model = f"{source}-{target}"
            _add_link(builder, with_model, link)
            if (source, target) == ("*", "*"):
                builder.set_default_link(with_model)
            else:
                _located(link[0], builder.add_wire, source, target, with_model)
        for device, link in ports.items():
            _add_link(builder, f"{device}-port", link)
        table = _times(times, nodes, kinds)
        ignored: set[str] = set()
        for key, attributes in nodes.items():
            ignored |= attributes.keys() - set(ATTRIBUTES)
            _add_node(builder, key, attributes, table.get(key, {}), graph[1])
        for u, v in edges:
            _located(graph[1], builder.add_edge, u, v)
        notes = [f"attributes not used: {', '.join(map(short, sorted(ignored)[:6]))}"]
        notes = dropped + (notes if ignored else [])
        if edges and not any("output_bytes" in attributes for attributes in nodes.values()):
            notes.append("no node has output_bytes: payloads take the latency of their links only")
        return Imported(builder.build(), notes)


def rows(part: Part, *headings: Sequence[str]) -> list[Row]:
    """The rows of a CSV table with one of the headings; where each stands.

    Raises
    ------
    FileError
        On another heading or a row of another length.
    """
    data, where = part
    reader = csv.reader(io.StringIO(text(data, where)), strict=True)
    try:
        heading = [cell.strip() for cell in next(reader, [])]
        if tuple(heading) not in [tuple(each) for each in headings]:
            wanted = " or ".join(repr(",".join(each)) for each in headings)
            what = f"the first line must be {wanted}, not {short(','.join(heading))!r}"
            raise error(where, what, "line 1")
        result: list[Row] = []
        for cells in reader:
            at = f"line {reader.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(heading):
                raise error(where, f"{len(cells)} cells, not {len(heading)}", at)
            row = {key: cell.strip() for key, cell in zip(heading, cells, strict=True)}
            result.append((at, row))
    except csv.Error as wrong:
        raise error(where, str(wrong), f"line {reader.line_num}") from None
    return result


def _links(
    part: Part | None,
) -> tuple[dict[str, Model], list[tuple[str, str, Model]]]:
    ports: dict[str, Model] = {}
    wires: list[tuple[str, str, Model]] = []
    for at, row in rows(part, PORTS, WIRES) if part else ():
        assert part is not None
        where = part[1]
        latency = number(row["latency_s"], where, at)
        link = (
            f"{where}: {at}",
            seconds(latency, where, at, hint="is it in seconds?"),
            float(number(row["bandwidth_Bps"], where, at)),
        )
        if "device" not in row:
            wires.append((row["source"], row["target"], link))
        elif row["device"] in ports:
            raise error(where, f"device {short(row['device'])!r} is listed twice", at)
        else:
            ports[row["device"]] = link
    return ports, wires


def _add_link(builder: Builder, name: str, link: Model) -> None:
    at, latency, bandwidth = link
    _located(at, builder.add_link, name, latency_s=latency, bandwidth_Bps=bandwidth)


def _add_devices(builder: Builder, part: Part, ports: Mapping[str, object]) -> dict[str, None]:
    where = part[1]
    names: set[str] = set()
    kinds: dict[str, None] = {}
    for at, row in rows(part, DEVICES):
        if row["host"].lower() not in FLAGS:
            raise error(where, f"host is true or false, not {short(row['host'])!r}", at)
        host = FLAGS[row["host"].lower()]
        size = row["memory_bytes"]
        name = row["name"]
        kind = row["kind"] or name
        _located(
            f"{where}: {at}",
            builder.add_device,
            name,
            kind=kind,
            memory_bytes=whole_bytes(number(size, where, at), where, at) if size else None,
            host=host,
            link=f"{name}-port" if name in ports else None,
        )
        names.add(name)
        kinds[kind] = None
    if not names:
        raise FileError(f"{where}: no devices")
    for name in ports:
        if name not in names:
            raise FileError(f"{where}: no device {short(name)!r}, which a link is given for")
    return kinds


def _times(
    part: Part, nodes: Mapping[str, object], kinds: Mapping[str, None]
) -> dict[str, dict[str, float | None]]:
    where = part[1]
    table: dict[str, dict[str, float | None]] = {}
    for at, row in rows(part, TIMES):
        node, kind, time = row["node"], row["device"], row["seconds"]
        if node not in nodes:
            raise error(where, f"the graph has no node {short(node)!r}", at)
        if kind not in kinds:
            what = f"no kind of device {short(kind)!r}; there are {', '.join(kinds)}"
            raise error(where, what, at)
        of_node = table.setdefault(node, {})
        if kind in of_node:
            raise error(where, f"node {short(node)!r} on {kind!r} is listed twice", at)
        hint = "leave it empty where the node cannot run"
        of_node[kind] = seconds(number(time, where, at), where, at, hint=hint) if time else None
    return table


def _add_node(
    builder: Builder,
    key: str,
    attributes: Mapping[str, str],
    times: Mapping[str, float | None],
    where: str,
) -> None:
    at = f"node {short(key)!r}"

    def size(name: str) -> int:
        token = attributes.get(name, "0")
        return whole_bytes(number(token, where, f"{at}, {name}"), where, f"{at}, {name}")

    phase: Any = attributes.get("phase", "forward")
    _located(
        where,
        builder.add_node,
        key,
        times,
        output_bytes=size("output_bytes"),
        weights=size("weight_bytes"),
        phase=phase,
        colocate=attributes.get("colocate"),
        op=attributes.get("op", "profiled"),
    )


def _located(where: str, call: Any, *arguments: Any, **named: Any) -> None:
    """Call a method of the builder; its errors name the part, ours the file."""
    try:
        call(*arguments, **named)
    except FileError as wrong:
        raise FileError(f"{where}: {wrong}") from None
