"""Instances by hand: a few nodes, times and links in round numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from problems.graph import GraphFile, Node
from problems.instance import Bundle, Instance, InstanceSpec
from problems.platform import AlphaBeta, Device, DeviceFile, LinkFile, Platform, Timing, Wire
from problems.resolve import from_bundle


def bundle(
    times: Sequence[Sequence[float | None]],
    edges: Sequence[tuple[int, int]] = (),
    *,
    problem: str = "latency",
    rules: Mapping[str, Any] | None = None,
    payload: Sequence[int] | None = None,
    weights: Sequence[Mapping[str, int]] | None = None,
    backward: Sequence[int] = (),
    colocate: Mapping[int, str] | None = None,
    memory: Sequence[int | None] | None = None,
    hosts: Sequence[int] = (),
    unlimited: Sequence[int] = (),
    delay: Sequence[float] | Mapping[tuple[int, int], float] = (),
) -> Bundle:
    """A bundle with nodes a, b, c, ... and devices d0, d1, ...

    Parameters
    ----------
    times : n rows of K numbers
        Seconds; None where a device does not run a node.
    delay : K numbers or mapping
        Seconds before the payload, which moves at one byte a second: one number a device for a
        staged platform (hosts: not used), (from, to) -> number for a direct one, both ways.
    """
    n, K = len(times), len(times[0])
    names = [chr(ord("a") + v) for v in range(n)]
    topology: Literal["staged", "direct"] = "direct" if isinstance(delay, Mapping) else "staged"
    ports = {} if isinstance(delay, Mapping) else dict(enumerate(delay or [0.0] * K))
    wired = delay if isinstance(delay, Mapping) else {}
    latency = {f"port{k}": t for k, t in ports.items() if k not in hosts}
    latency |= {f"wire{k}-{to}": t for (k, to), t in wired.items()}
    nodes = [
        Node(
            name=names[v],
            op="tiny",
            signature=names[v],
            output_bytes=payload[v] if payload else 0,
            weights=dict(weights[v]) if weights else {},
            phase="backward" if v in backward else "forward",
            colocate=(colocate or {}).get(v),
        )
        for v in range(n)
    ]
    devices = [
        Device(
            name=f"d{k}",
            device=f"d{k}",
            memory_bytes=memory[k] if memory else None,
            host=k in hosts,
            unlimited=k in unlimited,
            link=f"port{k}" if f"port{k}" in latency else None,
        )
        for k in range(K)
    ]
    wires = [Wire(f"d{k}", f"d{to}", f"wire{k}-{to}") for k, to in wired]
    tables = [
        {
            name: None if t is None else Timing(t, t, t, 1)
            for name, t in zip(names, row, strict=True)
        }
        for row in zip(*times, strict=True)
    ]
    return Bundle(
        "placebench-bundle/1",
        InstanceSpec("tiny", "tiny", problem, rules=dict(rules or {})),
        GraphFile("placebench-graph/1", "tiny", "tiny", nodes, list(edges)),
        Platform("placebench-platform/1", "tiny", topology, devices, wires),
        {
            f"d{k}": DeviceFile("placebench-device/1", f"d{k}", "modelled", {}, table)
            for k, table in enumerate(tables)
        },
        {
            name: LinkFile("placebench-link/1", name, "modelled", {}, model=AlphaBeta(t, 1.0))
            for name, t in latency.items()
        },
    )


def instance(*arguments: Any, **named: Any) -> Instance:
    """The resolved instance of :func:`bundle`."""
    return from_bundle(bundle(*arguments, **named))
