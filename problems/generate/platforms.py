"""The platforms of the library that are put together by rule: servers, clusters, chains, racks.

What a platform says about itself stands in its `provenance`; what its parts are, measured,
imported or modelled, stands in their own files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from problems.platform import Device, Platform, Wire

MIB, GIB = 2**20, 2**30
HOST = Device("cpu", "epyc3-2t", host=True)
# What a device file's hardware has, in bytes, and the port it sits behind.
MEMORY = {
    "gpu-a100-roofline": 40 * GIB,
    "gpu-h100-roofline": 80 * GIB,
    "gpu-l4-roofline": 24 * GIB,
    "gpu-p100-roofline": 16 * GIB,
    "gpu-t4-roofline": 16 * GIB,
    "gpu-v100-roofline": 16 * GIB,
}
PORT = {
    "gpu-a100-roofline": "pcie4-x16",
    "gpu-h100-roofline": "pcie5-x16",
    "gpu-l4-roofline": "pcie4-x16",
    "gpu-p100-roofline": "pcie3-x16",
    "gpu-t4-roofline": "pcie3-x16",
    "gpu-v100-roofline": "pcie3-x16",
}


def staged(
    name: str,
    gpus: Iterable[str],
    description: str,
    *,
    memory: Sequence[int] | None = None,
    host: Device = HOST,
    others: Sequence[Device] = (),
) -> Platform:
    """A host with GPUs behind PCIe ports.

    Parameters
    ----------
    gpus : iterable of str
        Short names such as ``a100``; repeats are numbered.
    memory : sequence of int, optional
        Bytes of every GPU instead of what the hardware has.
    others : sequence of Device, optional
        What else is behind a port.
    """
    gpus = list(gpus)
    labels = _numbered(gpus)
    devices = [host]
    for i, gpu in enumerate(gpus):
        file = f"gpu-{gpu}-roofline"
        size = MEMORY[file] if memory is None else memory[i]
        devices.append(Device(labels[i], file, size, link=PORT[file]))
    return _platform(name, "staged", [*devices, *others], description)


def direct(
    name: str,
    devices: Sequence[Device],
    description: str,
    *,
    wires: Sequence[Wire] = (),
    default: str | None = None,
    kind: str = "modelled",
) -> Platform:
    """Devices with a wire between every two of them; `default` serves the pairs without one."""
    return _platform(
        name, "direct", devices, description, wires=list(wires), default_link=default, kind=kind
    )


def cluster(
    name: str,
    servers: Sequence[tuple[str, int, str]],
    network: str,
    description: str,
) -> Platform:
    """Servers of GPUs joined by a slower network without contention.

    Parameters
    ----------
    servers : sequence of (str, int, str)
        Short name of the GPU, how many, and the link between the GPUs of this server.
    network : str
        Link between the GPUs of unlike servers.
    """
    devices: list[Device] = []
    wires: list[Wire] = []
    for s, (gpu, count, inside) in enumerate(servers):
        file = f"gpu-{gpu}-roofline"
        own = [f"s{s}-{gpu}-{i}" for i in range(count)]
        devices += [Device(label, file, MEMORY[file]) for label in own]
        wires += [Wire(a, b, inside) for i, a in enumerate(own) for b in own[i + 1 :]]
    return direct(name, devices, description, wires=wires, default=network)


def chain(name: str, count: int, memory: int | None, description: str) -> Platform:
    """Like chips in a row; a transfer passes every chip between its ends, cut-through."""
    chips = [Device(f"chip{i:02d}", "chip-mcm-roofline", memory) for i in range(count)]
    wires = [
        Wire(chips[i].name, chips[j].name, f"chip-hop{j - i:02d}")
        for i in range(count)
        for j in range(i + 1, count)
    ]
    return direct(name, chips, description, wires=wires)


def module(
    name: str, count: int, memory: int | None, description: str, link: str = "chip-hop01"
) -> Platform:
    """Like chips in a row, each joined to the next by `link`: for `chips`."""
    devices = [Device(f"chip{i:02d}", "chip-mcm-roofline", memory) for i in range(count)]
    return direct(name, devices, description, default=link)


def _platform(
    name: str,
    topology: Any,
    devices: Sequence[Device],
    description: str,
    kind: str = "modelled",
    **fields: Any,
) -> Platform:
    return Platform(
        format="placebench-platform/1",
        name=name,
        topology=topology,
        devices=list(devices),
        provenance={"kind": kind, "description": description},
        **fields,
    )


def _numbered(names: Sequence[str]) -> list[str]:
    return [
        f"{name}-{names[:i].count(name)}" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    ]
