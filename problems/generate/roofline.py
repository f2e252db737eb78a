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
    """

    peak_flops: float
    efficiency: float
    bandwidth_Bps: float
    launch_s: float
    source: str

    def __post_init__(self) -> None:
        if self.peak_flops <= 0 or self.bandwidth_Bps <= 0:
            raise ValueError("peak_flops and bandwidth_Bps must be positive")
        if not 0 < self.efficiency <= 1:
            raise ValueError("efficiency must be in (0, 1]")
        if self.launch_s < 0:
            raise ValueError("launch_s < 0")

    def time(self, signature: Signature) -> float:
        """Seconds that a signature takes."""
        compute = signature.flops / (self.peak_flops * self.efficiency)
        moved = signature.bytes_read + signature.bytes_written
        return max(compute, moved / self.bandwidth_Bps) + self.launch_s


_ASSUMED = "; efficiency 0.7 and launch of 5 us are assumed"
GPUS = {
    "gpu-a100-roofline": Roofline(
        19.5e12,
        0.7,
        1.555e12,
        5e-6,
        "NVIDIA A100 40 GB data sheet: fp32 peak and memory bandwidth" + _ASSUMED,
    ),
    "gpu-t4-roofline": Roofline(
        8.1e12,
        0.7,
        320e9,
        5e-6,
        "NVIDIA T4 data sheet: fp32 peak and memory bandwidth" + _ASSUMED,
    ),
}
"""Two unlike GPUs: one has 2.4 times the arithmetic of the other and 4.9 times the bandwidth."""


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
        provenance={"rule": RULE, "precision": "fp32", **asdict(roofline)},
        times={key: Timing(t, t, t, 0) for key, t in times.items()},
    )
