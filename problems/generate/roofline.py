"""Modelled devices: time of a signature by the roofline rule of Williams et al., CACM 2009.

A modelled device is never called measured; its file says rule and parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from problems.graph import Signature
from problems.platform import DeviceFile, Timing

RULE = "max(flops / (peak_flops * efficiency), bytes / bandwidth_Bps) + launch_s"


@dataclass(frozen=True)
class Roofline:
    """Parameters of a modelled device.

    Attributes
    ----------
    peak_flops : float
        Floating-point operations a second at best.
    efficiency : float
        Share of the peak that matrix products and convolutions reach, in (0, 1].
    bandwidth_Bps : float
        Bytes a second from and to the device's own memory.
    launch_s : float
        Seconds that starting any operator takes.
    source : str
        Where the parameters are from, and which of them are assumed.
    supports : tuple of str
        Beginnings of the names of the operators that the device can run; empty: all.
    """

    peak_flops: float
    efficiency: float
    bandwidth_Bps: float
    launch_s: float
    source: str
    supports: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.peak_flops <= 0 or self.bandwidth_Bps <= 0:
            raise ValueError("peak_flops and bandwidth_Bps must be positive")
        if not 0 < self.efficiency <= 1:
            raise ValueError("efficiency must be in (0, 1]")
        if self.launch_s < 0:
            raise ValueError("launch_s < 0")

    def time(self, signature: Signature) -> float | None:
        """Seconds that a signature takes; None where the device cannot run it."""
        if self.supports and not signature.op.startswith(self.supports):
            return None
        compute = signature.flops / (self.peak_flops * self.efficiency)
        moved = signature.bytes_read + signature.bytes_written
        return max(compute, moved / self.bandwidth_Bps) + self.launch_s


_ASSUMED = "; efficiency 0.7 and launch of 5 us are assumed"
# Name -> fp32 peak, bytes a second, data sheet. Matrix units are left out: the graphs are fp32.
_SHEETS = {
    "gpu-a100-roofline": (19.5e12, 1.555e12, "NVIDIA A100 40 GB"),
    "gpu-h100-roofline": (66.9e12, 3.35e12, "NVIDIA H100 SXM 80 GB"),
    "gpu-l4-roofline": (30.3e12, 300e9, "NVIDIA L4 24 GB"),
    "gpu-p100-roofline": (9.3e12, 732e9, "NVIDIA P100 PCIe 16 GB"),
    "gpu-t4-roofline": (8.1e12, 320e9, "NVIDIA T4 16 GB"),
    "gpu-v100-roofline": (15.7e12, 900e9, "NVIDIA V100 SXM2 16 GB"),
}
GPUS = {
    name: Roofline(
        peak, 0.7, bandwidth, 5e-6, f"{sheet} data sheet: fp32 peak and memory bandwidth{_ASSUMED}"
    )
    for name, (peak, bandwidth, sheet) in _SHEETS.items()
}
"""GPUs of five generations: between them 8 times the arithmetic and 11 times the bandwidth."""

DEVICES = GPUS | {
    "chip-mcm-roofline": Roofline(
        4e12,
        0.5,
        100e9,
        1e-6,
        "one chiplet of a multi-chip module of 36 with 4 T operations a second each and 100 GB/s"
        " between chiplets (Simba, Shao et al., MICRO 2019; there 8-bit integers); efficiency 0.5,"
        " the same bandwidth to its memory and launch of 1 us are assumed",
    ),
    "npu-edge-roofline": Roofline(
        2e12,
        0.6,
        25.6e9,
        20e-6,
        "an edge accelerator with one LPDDR4-3200 channel of 64 bits (25.6 GB/s, JESD209-4); peak"
        " of 2 TFLOP/s, efficiency 0.6, launch of 20 us and the set of operators are assumed",
        supports=(
            "aten.conv2d.", "aten.linear.", "aten.relu", "aten.hardtanh", "aten.hardswish",
            "aten.hardsigmoid", "aten.sigmoid", "aten.max_pool2d.", "aten.avg_pool2d.",
            "aten.adaptive_avg_pool2d.", "aten.add", "aten.mul", "aten.cat.", "aten.batch_norm.",
            "aten.flatten.", "aten.mean.", "aten.pad.", "aten.constant_pad_nd.",
        ),
    ),
}  # fmt: skip
"""Every modelled device: the GPUs, a chiplet, and an accelerator that lacks many operators."""


def roofline_device(
    name: str, roofline: Roofline, signatures: Mapping[str, Signature]
) -> DeviceFile:
    """Make the device file of a modelled device.

    Parameters
    ----------
    name : str
        Of the file.
    roofline : Roofline
        The rule's parameters.
    signatures : mapping
        Signature id -> :class:`Signature` with flops and bytes.
    """
    times = {key: roofline.time(each) for key, each in sorted(signatures.items())}
    return DeviceFile(
        format="placebench-device/1",
        name=name,
        kind="modelled",
        provenance={"rule": RULE, "precision": "fp32"}
        | {key: value for key, value in asdict(roofline).items() if value != ()},
        times={key: None if t is None else Timing(t, t, t, 0) for key, t in times.items()},
    )
