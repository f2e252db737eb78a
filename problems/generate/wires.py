"""Modelled links: latency + bytes / bandwidth (Hockney 1994), the parameters said in the file."""

from __future__ import annotations

from problems.platform import AlphaBeta, LinkFile

# Name -> latency in seconds, bytes a second, source.
WIRES = {
    "ethernet-1g": (
        50e-6,
        1e9 / 8 * 1448 / 1538,
        "IEEE 802.3ab: 1 Gbit/s, of which 1448 bytes of payload in 1538 on the wire (TCP, "
        "MTU 1500); one-way latency of 50 us through stack and switch is assumed",
    ),
    "pcie3-x16": (
        10e-6,
        16 * 8e9 / 8 * 128 / 130 * 0.8,
        "PCI Express 3.0: 8 GT/s, 16 lanes, 128b/130b; 80 % of it left by packets and flow "
        "control and 10 us to start a copy are assumed",
    ),
    "pcie4-x16": (
        10e-6,
        16 * 16e9 / 8 * 128 / 130 * 0.8,
        "PCI Express 4.0: 16 GT/s, 16 lanes, 128b/130b; 80 % of it left by packets and flow "
        "control and 10 us to start a copy are assumed",
    ),
}


def modelled_link(name: str) -> LinkFile:
    """Make the link file of one of :data:`WIRES`, the same in both directions.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    if name not in WIRES:
        raise ValueError(f"no modelled link {name!r}; the links are {', '.join(WIRES)}")
    latency, bandwidth, source = WIRES[name]
    return LinkFile(
        format="placebench-link/1",
        name=name,
        kind="modelled",
        provenance={"rule": "latency_s + bytes / bandwidth_Bps", "source": source},
        model=AlphaBeta(latency, bandwidth),
    )
