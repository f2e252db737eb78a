"""Modelled links: latency + bytes / bandwidth (Hockney 1994), the parameters said in the file."""

from __future__ import annotations

from problems.platform import AlphaBeta, LinkFile

RULE = "latency_s + bytes / bandwidth_Bps"
HOPS = 35
"""Longest way in the chains of chips of the library."""


def _ethernet(gigabits: int, standard: str) -> tuple[float, float, str]:
    return (
        50e-6,
        gigabits * 1e9 / 8 * 1448 / 1538,
        f"{standard}: {gigabits} Gbit/s, of which 1448 bytes of payload in 1538 on the wire (TCP,"
        " MTU 1500); one-way latency of 50 us through stack and switch is assumed",
    )


def _pcie(generation: int, gigatransfers: float, lanes: int = 16) -> tuple[float, float, str]:
    return (
        10e-6,
        lanes * gigatransfers * 1e9 / 8 * 128 / 130 * 0.8,
        f"PCI Express {generation}.0: {gigatransfers:g} GT/s, {lanes}"
        f" {'lane' if lanes == 1 else 'lanes'}, 128b/130b; 80 % of it left by packets and flow"
        " control and 10 us to start a copy are assumed",
    )


def _nvlink(generation: int, links: int, gpu: str) -> tuple[float, float, str]:
    return (
        10e-6,
        links * 25e9 * 0.8,
        f"NVLink {generation} of the NVIDIA {gpu} data sheet: {links} links of 25 GB/s each way;"
        " 80 % of it left by packets and 10 us to start a copy are assumed",
    )


def _hop(count: int) -> tuple[float, float, str]:
    return (
        1e-6 + count * 20e-9,
        100e9,
        f"{count} of the hops between neighbouring chiplets, cut-through: 100 GB/s and 20 ns a hop"
        " (Simba, Shao et al., MICRO 2019); 1 us to start a transfer is assumed",
    )


# Name -> latency in seconds, bytes a second, source.
WIRES = {
    "ethernet-1g": _ethernet(1, "IEEE 802.3ab"),
    "ethernet-10g": _ethernet(10, "IEEE 802.3an"),
    "ethernet-25g": _ethernet(25, "IEEE 802.3by"),
    "infiniband-hdr": (
        5e-6,
        200e9 / 8 * 0.9,
        "InfiniBand HDR, 4 lanes: 200 Gbit/s; 90 % of it and 5 us from GPU memory to GPU memory"
        " are assumed",
    ),
    "nvlink2": _nvlink(2, 6, "V100"),
    "nvlink3": _nvlink(3, 12, "A100"),
    "nvlink4": _nvlink(4, 18, "H100"),
    "pcie3-x1": _pcie(3, 8, 1),
    "pcie3-x16": _pcie(3, 8),
    "pcie4-x16": _pcie(4, 16),
    "pcie5-x16": _pcie(5, 32),
} | {f"chip-hop{count:02d}": _hop(count) for count in range(1, HOPS + 1)}


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
        provenance={"rule": RULE, "source": source},
        model=AlphaBeta(latency, bandwidth),
    )
