"""From the parts of an instance to its dense arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from problems import rules as rules_
from problems.coarsen import coarsen
from problems.files import FileError
from problems.graph import OpGraph
from problems.graph import from_file as graph_from_file
from problems.instance import Bundle, Instance, InstanceSpec
from problems.platform import DeviceFile, LinkFile, Platform, link_names, validate

# Beyond it solvers lose their footing, and no link is so slow.
MOST_S = 1e12


def from_bundle(bundle: Bundle, where: str = "bundle") -> Instance:
    """Resolve a bundle.

    Raises
    ------
    FileError
        If a part is missing or wrong, or goes by another name than the one it is asked for.
    """
    _check_names(bundle, where)
    graph = graph_from_file(bundle.graph, f"{where}: graph")
    return resolve(bundle.instance, graph, bundle.platform, bundle.devices, bundle.links, where)


def _check_names(bundle: Bundle, where: str) -> None:
    """A part under a wrong name is a mix-up of files, however well it fits."""
    pairs = [
        ("$.instance.graph", bundle.instance.graph, bundle.graph.name),
        ("$.instance.platform", bundle.instance.platform, bundle.platform.name),
        *((f"$.devices[{key!r}].name", key, file.name) for key, file in bundle.devices.items()),
        *((f"$.links[{key!r}].name", key, link.name) for key, link in bundle.links.items()),
    ]
    for path, asked, found in pairs:
        if asked != found:
            raise FileError(f"{where}: {asked!r} is asked for and {found!r} given - at `{path}`")


def resolve(
    spec: InstanceSpec,
    graph: OpGraph,
    platform: Platform,
    devices: Mapping[str, DeviceFile],
    links: Mapping[str, LinkFile],
    where: str = "instance",
) -> Instance:
    """Put the parts together.

    Raises
    ------
    FileError
        If the platform names a file that is not there, a device lacks the time of a signature, or
        a node (or a colocation group) runs on no device.
    """
    parsed = rules_.parse(spec.problem, spec.rules, where)
    validate(platform, f"{where}: platform", chain=spec.problem == "chips")
    _refuse_platform(spec.problem, platform, where)
    graph = coarsen(graph, spec.level)
    time = _times(graph, platform, devices, where)
    shared = _shared_weights(graph, parsed)
    group = _groups(graph, parsed)
    _refuse_unplaceable(graph, time, group, where)
    link_time, port, wire = _link_times(
        graph, platform, links, where, chain=spec.problem == "chips"
    )
    arrays: dict[str, np.ndarray] = {
        "time": time,
        **csr(graph.n, graph.edges),
        "phase": graph.phase,
        "group": group,
        **shared,
        "memory": np.array(
            [math.inf if d.memory_bytes is None else d.memory_bytes for d in platform.devices],
            float,
        ),
        "host": np.array([d.host for d in platform.devices], bool),
        # Hosts of `calls` have any number of lanes, whether or not the platform says so.
        "unlimited": np.array(
            [d.unlimited or (spec.problem == "calls" and d.host) for d in platform.devices], bool
        ),
        "link_time": link_time,
        "port": port,
        "wire": wire,
    }
    for array in arrays.values():
        array.setflags(write=False)
    return Instance(
        id=spec.id,
        problem=spec.problem,
        rules=parsed,
        names=graph.names,
        device_names=tuple(d.name for d in platform.devices),
        staged=platform.topology == "staged",
        family=graph.family,
        tier=spec.tier or tier_of(graph.n),
        split=spec.split,
        provenance={
            "graph": dict(graph.provenance),
            "platform": dict(platform.provenance),
            "devices": {
                d.device: _origin(devices[d.device]) | {"kind": _kinds(graph, devices[d.device])}
                for d in platform.devices
            },
            "links": {name: _origin(links[name]) for name in sorted(link_names(platform))},
        },
        paths=graph.paths,
        **arrays,
    )


def _refuse_platform(problem: str, platform: Platform, where: str) -> None:
    """What a problem has no meaning for."""
    if problem == "chips":
        _refuse_no_chain(platform, where)
    for k, device in enumerate(platform.devices):
        at = f"at `$.platform.devices[{k}].unlimited`"
        if device.unlimited and problem == "calls" and not device.host:
            raise FileError(f"{where}: an accelerator makes one call at a time - {at}")
        if device.unlimited and problem not in ("latency", "calls"):
            raise FileError(f"{where}: unlimited devices are for `latency` and `calls` - {at}")
    if problem == "calls" and platform.topology != "staged":
        raise FileError(
            f"{where}: `calls` moves data through host memory: a staged platform, not"
            f" {platform.topology} - at `$.platform.topology`"
        )


def _refuse_no_chain(platform: Platform, where: str) -> None:
    """What is no one-way chain of like chips."""
    if platform.topology != "direct":
        raise FileError(
            f"{where}: `chips` are joined by links from neighbour to neighbour: a direct platform,"
            f" not {platform.topology} - at `$.platform.topology`"
        )
    first, names = platform.devices[0], [device.name for device in platform.devices]
    for k, device in enumerate(platform.devices):
        at = f"at `$.platform.devices[{k}]`"
        if device.host:
            raise FileError(f"{where}: a chain of `chips` has no host - {at}")
        if (device.device, device.memory_bytes) != (first.device, first.memory_bytes):
            raise FileError(
                f"{where}: the `chips` of a chain are alike: {device.name!r} has another device"
                f" file or memory than {first.name!r} - {at}"
            )
    for i, wire in enumerate(platform.wires):
        if abs(names.index(wire.source) - names.index(wire.target)) != 1:
            raise FileError(
                f"{where}: {wire.source!r} and {wire.target!r} are no neighbours in the chain of"
                f" `chips`; wires join a chip to the next - at `$.platform.wires[{i}]`"
            )


def tier_of(n: int) -> str:
    """Size class: tiny < 50 nodes <= small < 200 <= medium < 2,000 <= large < 20,000 <= huge."""
    for tier, limit in (("tiny", 50), ("small", 200), ("medium", 2_000), ("large", 20_000)):
        if n < limit:
            return tier
    return "huge"


def csr(n: int, edges: np.ndarray) -> dict[str, np.ndarray]:
    """Adjacency of sorted `edges`, shape (m, 2), in both directions; see :class:`Instance`."""
    backwards = edges[np.lexsort((edges[:, 0], edges[:, 1]))]
    counts = np.arange(n + 1)
    return {
        "edges": np.ascontiguousarray(edges),
        "succ_ptr": np.searchsorted(edges[:, 0], counts).astype(np.int64),
        "succ": np.ascontiguousarray(edges[:, 1]),
        "pred_ptr": np.searchsorted(backwards[:, 1], counts).astype(np.int64),
        "pred": np.ascontiguousarray(backwards[:, 0]),
    }


def _origin(part: DeviceFile | LinkFile) -> dict[str, Any]:
    return {"kind": part.kind, **part.provenance}


def _kinds(graph: OpGraph, file: DeviceFile) -> str:
    """How the times came about that a graph takes from a device: ``imported and modelled``."""
    used = {signature for members in set(graph.members) for signature in members}
    kinds = {file.kinds.get(signature, file.kind) for signature in used}
    return " and ".join(sorted(kinds)) or file.kind


def _times(
    graph: OpGraph, platform: Platform, devices: Mapping[str, DeviceFile], where: str
) -> np.ndarray:
    # One sum for each distinct operator and device file: of 100,000 nodes few hundred are unlike.
    index: dict[tuple[str, ...], int] = {}
    which = np.array([index.setdefault(each, len(index)) for each in graph.members], np.int64)
    columns: dict[str, list[float]] = {}
    for k, device in enumerate(platform.devices):
        if device.device not in devices:
            raise FileError(
                f"{where}: no device file {device.device!r}; there are"
                f" {', '.join(sorted(devices)) or 'none'} - at `$.platform.devices[{k}].device`"
            )
        if device.device not in columns:
            file = devices[device.device]
            columns[device.device] = [_time(graph, file, members, where) for members in index]
    table = np.array([columns[device.device] for device in platform.devices], float).T
    return np.ascontiguousarray(table)[which]


def _time(graph: OpGraph, file: DeviceFile, members: tuple[str, ...], where: str) -> float:
    """Seconds of a node that executes `members`; inf where the device cannot run one of them."""
    each: list[float] = []
    for signature in members:
        if signature not in file.times:
            name = graph.names[graph.members.index(members)]
            raise FileError(
                f"{where}: device file {file.name!r} has no time for signature"
                f" {signature!r} of node {name!r} - at `$.times`"
            )
        each.append(file.seconds(signature))
    return math.fsum(each)  # exact, so that digests agree across machines


def _shared_weights(graph: OpGraph, rules: rules_.Rules) -> dict[str, np.ndarray]:
    readers: dict[str, list[int]] = {}
    size: dict[str, int] = {}
    if rules.memory != "ignored":
        for v, weights in enumerate(graph.weights):
            for name, count in weights.items():
                readers.setdefault(name, []).append(v)
                size[name] = max(count, size.get(name, 0))
    node_bytes = np.zeros(graph.n, np.int64)
    if rules.memory == "total":
        node_bytes += graph.output_bytes
    # Weights with the same readers are one weight: fewer rows for every solver.
    together: dict[tuple[int, ...], int] = {}
    own = [0] * graph.n
    for name, nodes in readers.items():
        if len(nodes) == 1:
            own[nodes[0]] += size[name]
        else:
            together[tuple(nodes)] = together.get(tuple(nodes), 0) + size[name]
    node_bytes += np.array(own, np.int64)
    several = sorted(nodes for nodes, count in together.items() if count)
    return {
        "node_bytes": node_bytes,
        "shared_ptr": np.cumsum([0, *map(len, several)]).astype(np.int64),
        "shared_node": np.array([v for nodes in several for v in nodes], np.int64),
        "shared_bytes": np.array([together[nodes] for nodes in several], np.int64),
    }


def _groups(graph: OpGraph, rules: rules_.Rules) -> np.ndarray:
    """Number the colocation groups; groups that share a tied weight become one where asked."""
    if not rules.colocate_tied and all(each is None for each in graph.colocate):
        return np.arange(graph.n)
    parent = list(range(graph.n))

    def find(v: int) -> int:
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    keys: dict[Any, int] = {}
    for v in range(graph.n):
        joins: list[Any] = [] if graph.colocate[v] is None else [("group", graph.colocate[v])]
        if rules.colocate_tied:
            joins += [("weight", name) for name in graph.weights[v]]
        for key in joins:
            a, b = find(keys.setdefault(key, v)), find(v)
            parent[max(a, b)] = min(a, b)
    number: dict[int, int] = {}
    return np.array([number.setdefault(find(v), len(number)) for v in range(graph.n)], np.int64)


def _refuse_unplaceable(graph: OpGraph, time: np.ndarray, group: np.ndarray, where: str) -> None:
    possible = np.ones((int(group.max()) + 1, time.shape[1]), bool)
    nodes = np.flatnonzero(~np.isfinite(time).all(axis=1))  # few, most often none
    np.logical_and.at(possible, group[nodes], np.isfinite(time[nodes]))
    if possible.any(axis=1).all():
        return
    v = int(np.flatnonzero(~possible[group].any(axis=1))[0])
    what = "runs" if not np.isfinite(time[v]).any() else "runs with its colocation group"
    raise FileError(f"{where}: node {graph.names[v]!r} {what} on no device of the platform")


def _link_times(
    graph: OpGraph,
    platform: Platform,
    links: Mapping[str, LinkFile],
    where: str,
    chain: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Time every payload over every link that the platform uses; in a chain only to the next."""
    for name in sorted(link_names(platform)):
        if name not in links:
            raise FileError(
                f"{where}: no link file {name!r}; there are"
                f" {', '.join(sorted(links)) or 'none'} - at `$.platform`"
            )
    sizes, inverse = np.unique(graph.output_bytes, return_inverse=True)
    rows = [np.zeros(graph.n)]
    index: dict[tuple[str, str], int] = {}

    def number(name: str, way: Literal["forward", "backward", "slower"]) -> int:
        link = links[name]
        if way == "backward" and not link.backward:
            way = "forward"
        if (name, way) not in index:
            curve = link.times(sizes.tolist(), backward=way == "backward")
            if way == "slower":
                curve = list(map(max, curve, link.times(sizes.tolist(), backward=True)))
            if max(curve) > MOST_S:
                raise FileError(
                    f"{where}: link {name!r} takes {max(curve):g} s for {sizes.max()} bytes, more"
                    f" than {MOST_S:g} s - at `$.links`"
                )
            row = np.array(curve)[inverse]
            # Links of equal times are one, whatever files they come from: one content, one digest.
            same = (i for i, other in enumerate(rows) if np.array_equal(row, other))
            index[name, way] = next(same, len(rows))
            if index[name, way] == len(rows):
                rows.append(row)
        return index[name, way]

    K = len(platform.devices)
    names = [device.name for device in platform.devices]
    port, wire = np.zeros(K, np.int64), np.zeros((K, K), np.int64)
    if platform.topology == "staged":
        for k, device in enumerate(platform.devices):
            # A port has one time a payload, whichever way it goes (`throughput`'s definition).
            if device.link is not None:
                port[k] = number(device.link, "slower")
        return np.array(rows), port, wire
    given = {(w.source, w.target): w.link for w in platform.wires}
    for k in range(K):
        for j in range(K):
            if j == k or (chain and j != k + 1):
                continue
            if (names[k], names[j]) in given:
                wire[k, j] = number(given[names[k], names[j]], "forward")
            elif (names[j], names[k]) in given:
                wire[k, j] = number(given[names[j], names[k]], "backward")
            else:
                # One time both ways, or like devices would stop being interchangeable.
                assert platform.default_link is not None
                wire[k, j] = number(platform.default_link, "slower")
    return np.array(rows), port, wire
