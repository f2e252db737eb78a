"""From a resolved instance to a bundle: what a program that is no part of Python is handed.

Views are merged, levels contracted and nodes numbered topologically by then, so that node i of the
file is node i of an answer. What only matters in sums is gone (payloads are numbered instead of
being counted in bytes, nodes of equal times share a signature), what an instance *is* is kept: the
bundle resolves to the same digest.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from problems import rules
from problems.graph import GraphFile, Node
from problems.instance import Bundle, Instance, InstanceSpec
from problems.platform import Device, DeviceFile, LinkFile, LinkPoint, Platform, Timing, Wire


def to_bundle(instance: Instance) -> Bundle:
    """A bundle that resolves to an instance with the digest of `instance`, nodes in their order.

    `output_bytes` are ranks of payloads, and the links tell the seconds of these ranks; names and
    memory are what they were.
    """
    origin = {"rule": "resolved", "instance": instance.id, "digest": instance.digest}
    name = instance.id.partition("/")[0].replace(":", ".") or "graph"
    payload, curves = _payloads(instance.link_time)
    files, file_of = np.unique(instance.time, axis=1, return_inverse=True)
    rows, signature = np.unique(files, axis=0, return_inverse=True)
    signature = signature.reshape(-1)
    devices = {
        f"d{j}": DeviceFile(
            "placebench-device/1", f"d{j}", "modelled", origin,
            {f"s{i}": _timing(t) for i, t in enumerate(rows[:, j].tolist())},
        )
        for j in range(rows.shape[1])
    }  # fmt: skip
    platform, links = _platform(instance, file_of.reshape(-1), curves, origin)
    return Bundle(
        "placebench-bundle/1",
        InstanceSpec(
            name, platform.name, instance.problem, "operator", rules.given(instance.rules)
        ),
        GraphFile(
            "placebench-graph/1",
            name,
            instance.family,
            _nodes(instance, signature, payload),
            [(u, v) for u, v in instance.edges.tolist()],
            origin,
        ),
        platform,
        devices,
        links,
    )


def _timing(seconds: float) -> Timing | None:
    return Timing(seconds, seconds, seconds, 1) if math.isfinite(seconds) else None


def _payloads(link_time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rank of every node's payload, shape (n,), and the seconds of each rank, shape (L, ranks).

    No link takes less for more bytes: sorted by their seconds over any link, payloads are sorted
    over all of them.
    """
    curves, payload = np.unique(link_time, axis=1, return_inverse=True)
    return payload.reshape(-1), curves


def _nodes(instance: Instance, signature: np.ndarray, payload: np.ndarray) -> list[Node]:
    sizes = np.bincount(instance.group)
    # Where memory counts outputs, the rank is a part of them: ranks never exceed bytes.
    own = instance.node_bytes - (payload if instance.rules.memory == "total" else 0)
    weights: list[dict[str, int]] = [
        {f"own{v}": count} if count else {} for v, count in enumerate(own.tolist())
    ]
    for i, size in enumerate(instance.shared_bytes.tolist()):
        readers = instance.shared_node[instance.shared_ptr[i] : instance.shared_ptr[i + 1]]
        for v in readers.tolist():
            weights[v][f"shared{i}"] = size
    return [
        Node(
            name=instance.names[v],
            op="resolved",
            signature=f"s{signature[v]}",
            output_bytes=int(payload[v]),
            weights=weights[v],
            phase="backward" if instance.phase[v] else "forward",
            colocate=f"group{g}" if sizes[g] > 1 else None,
            path=instance.paths[v] if instance.paths else "",
        )
        for v, g in enumerate(instance.group.tolist())
    ]


def _platform(
    instance: Instance, file_of: np.ndarray, curves: np.ndarray, origin: dict[str, Any]
) -> tuple[Platform, dict[str, LinkFile]]:
    links: dict[str, LinkFile] = {}

    def link(there: int, back: int) -> str:
        name = f"link{there}" if there == back else f"link{there}-{back}"
        if name not in links:
            backward = [] if there == back else _points(curves[back])
            links[name] = LinkFile(
                "placebench-link/1", name, "modelled", origin, _points(curves[there]), backward
            )
        return name

    names, wire = instance.device_names, instance.wire
    ported = [instance.staged and not host for host in instance.host.tolist()]
    devices = [
        Device(
            name=names[k],
            device=f"d{file_of[k]}",
            memory_bytes=None if math.isinf(instance.memory[k]) else int(instance.memory[k]),
            host=bool(instance.host[k]),
            unlimited=bool(instance.unlimited[k]),
            link=link(int(instance.port[k]), int(instance.port[k])) if ported[k] else None,
        )
        for k in range(instance.K)
    ]
    chain = instance.problem == "chips"  # only to the next chip, and one way
    wires = [
        Wire(names[a], names[b], link(int(wire[a, b]), int(wire[a, b] if chain else wire[b, a])))
        for a in range(0 if instance.staged else instance.K)
        for b in range(a + 1, min(a + 2, instance.K) if chain else instance.K)
    ]
    topology: Literal["staged", "direct"] = "staged" if instance.staged else "direct"
    made = Platform(
        "placebench-platform/1", "resolved", topology, devices, wires, provenance=origin
    )
    return made, links


def _points(curve: np.ndarray) -> list[LinkPoint]:
    """The curve over ranks; its last point comes twice, since interpolation rounds at the end."""
    seconds = [*curve.tolist(), float(curve[-1])]
    return [LinkPoint(rank, t, t) for rank, t in enumerate(seconds)]
