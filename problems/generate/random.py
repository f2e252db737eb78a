"""Small random instances over every rule: for tests, warm-up and conformance."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from problems.graph import GraphFile, Node
from problems.instance import Bundle, InstanceSpec
from problems.platform import (
    AlphaBeta,
    Device,
    DeviceFile,
    LinkFile,
    LinkPoint,
    Platform,
    Timing,
    Wire,
)


def random_bundle(
    seed: int,
    *,
    n: int = 6,
    devices: int = 2,
    problem: str = "throughput",
    rules: dict[str, Any] | None = None,
    topology: Literal["staged", "direct"] = "staged",
    density: float = 0.4,
    hosts: int = 1,
    unlimited: bool = False,
    tight: float | None = None,
    like: bool = False,
    groups: int = 0,
    tied: int = 0,
    training: bool = False,
    unsupported: float = 0.0,
    ties: bool = False,
    uneven: bool = False,
) -> Bundle:
    """A random instance; the same arguments give the same bundle.

    `chips` are a chain of like chips whatever `topology` and `hosts` say; `like` speaks of their
    links alone.

    Parameters
    ----------
    n, devices : int
        Number of nodes and devices.
    density : float
        Probability of an edge between two nodes.
    hosts : int
        The first devices that are hosts.
    unlimited : bool
        The first device has as many lanes as needed (`latency`).
    tight : float or None
        Memory of every device as a multiple of all bytes / devices; None: no limit.
    like : bool
        All devices that are not hosts share one device file and one link.
    groups, tied : int
        Number of colocation pairs and of weights that two nodes read.
    training : bool
        The second half of the nodes is backward.
    unsupported : float
        Probability that a node does not run on a device (never on the last one).
    ties : bool
        Small whole numbers as times, so that many placements tie; some nodes cost nothing.
    uneven : bool
        Links take longer on the way back.
    """
    chips = problem == "chips"
    if chips:
        topology, hosts = "direct", 0
    rng = np.random.default_rng(seed)
    first_backward = (n + 1) // 2 if training else n
    pairs = rng.integers(0, n, (groups, 2))
    # A backward and a forward node may share a group, as in training graphs.
    colocate = {int(v): f"group{g}" for g, pair in enumerate(pairs) for v in pair}
    weights: list[dict[str, int]] = [{f"w{v}": int(rng.integers(0, 50))} for v in range(n)]
    for t in range(tied):
        size = int(rng.integers(1, 60))
        for v in rng.integers(0, n, 2):
            weights[int(v)][f"tied{t}"] = size
    nodes = [
        Node(
            name=f"v{v}",
            op="random",
            signature=f"v{v}",
            output_bytes=int(rng.integers(0, 40)),
            weights=weights[v],
            phase="backward" if v >= first_backward else "forward",
            colocate=colocate.get(v),
            path=f"block{v // 3}.part{v // 2}",
        )
        for v in range(n)
    ]
    # Drawn row by row: a draw a pair takes a minute for 10,000 nodes.
    rows = (np.flatnonzero(rng.random(v) < density).tolist() for v in range(n))
    edges = [(u, v) for v, row in enumerate(rows) for u in row]
    held = sum(node.output_bytes for node in nodes)
    held += sum({name: size for each in weights for name, size in each.items()}.values())
    memory = None if tight is None else int(tight * held / devices) + 1

    def time() -> float:
        return float(rng.integers(0, 4)) if ties else float(rng.uniform(0.1, 10))

    def table(k: int) -> DeviceFile:
        times: dict[str, Timing | None] = {}
        for v in range(n):
            t = time()
            missing = k < devices - 1 and rng.random() < unsupported
            times[f"v{v}"] = None if missing else Timing(t, t, t, 1)
        return DeviceFile("placebench-device/1", f"d{k}", "modelled", {"rule": "random"}, times)

    def link(name: str) -> LinkFile:
        latency = float(rng.integers(0, 2)) if ties else float(rng.uniform(0, 1))
        model = AlphaBeta(latency, float(rng.uniform(5, 50)))
        there: list[LinkPoint] = []
        back: list[LinkPoint] = []
        if uneven:
            slower = float(rng.uniform(1.5, 4))
            for size in (0, 40):
                t = latency + size / model.bandwidth_Bps
                there.append(LinkPoint(size, t, t))
                back.append(LinkPoint(size, slower * t, slower * t))
        rule = {"rule": "random"}
        return LinkFile("placebench-link/1", name, "modelled", rule, there, back, model)

    files = [k if k < hosts or not (like or chips) else devices - 1 for k in range(devices)]
    wires: list[Wire] = []
    links: dict[str, LinkFile] = {}
    for k in range(devices):
        name = f"port{files[k]}"
        if topology == "staged" and k >= hosts and name not in links:
            links[name] = link(name)
        others = range(max(0, k - 1), k) if chips else range(k)
        for j in others if topology == "direct" else ():
            name = "wire" if like else f"wire{j}-{k}"
            links[name] = links.get(name) or link(name)
            wires.append(Wire(f"dev{j}", f"dev{k}", name))
    platform = Platform(
        "placebench-platform/1",
        f"random{devices}",
        topology,
        [
            Device(
                name=f"dev{k}",
                device=f"d{files[k]}",
                memory_bytes=memory,
                host=k < hosts,
                unlimited=unlimited and k == 0,
                link=f"port{files[k]}" if topology == "staged" and k >= hosts else None,
            )
            for k in range(devices)
        ],
        wires=wires,
    )
    return Bundle(
        "placebench-bundle/1",
        InstanceSpec(f"random{seed}-{n}", platform.name, problem, rules=rules or {}),
        GraphFile("placebench-graph/1", f"random{seed}-{n}", "random", nodes, edges),
        platform,
        {f"d{k}": table(k) for k in sorted(set(files))},
        links,
    )
