"""Devices, links and platforms: what was measured, and how it is put together."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Annotated, Any, Literal

import msgspec

from problems.files import FileError
from problems.graph import Bytes

Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
Kind = Literal["measured", "imported", "modelled"]


class Timing(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Time of one signature on one device: ``[min_s, median_s, max_s, repeats]`` in seconds."""

    min_s: Seconds
    median_s: Seconds
    max_s: Seconds
    repeats: Annotated[int, msgspec.Meta(ge=0)]

    def __post_init__(self) -> None:
        if not self.min_s <= self.median_s <= self.max_s:
            raise ValueError("a timing needs min_s <= median_s <= max_s")


class DeviceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Time of every signature on one device.

    Attributes
    ----------
    name : str
        File name without ending.
    kind : {'measured', 'imported', 'modelled'}
        How the times came about; `kinds` lists the signatures that came about otherwise.
    provenance : dict
        Hardware, threads, precision, software versions, date and method of a measured device;
        rule and parameters of a modelled one; source and licence of an imported one.
    times : dict
        Signature -> :class:`Timing`; None where the device cannot run it.
    statistic : {'min', 'median'}
        Which figure of a timing is p_k(v).
    """

    format: Literal["placebench-device/1"]
    name: str
    kind: Kind
    provenance: dict[str, Any]
    times: dict[str, Timing | None]
    kinds: dict[str, Kind] = {}
    statistic: Literal["min", "median"] = "min"

    def seconds(self, signature: str) -> float:
        """Time of a signature as instances use it; inf where the device cannot run it.

        Raises
        ------
        KeyError
            If the file does not know the signature.
        """
        timing = self.times[signature]
        if timing is None:
            return math.inf
        return timing.min_s if self.statistic == "min" else timing.median_s


class LinkPoint(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One measured transfer: ``[bytes, min_s, median_s]``."""

    bytes: Bytes
    min_s: Seconds
    median_s: Seconds


class AlphaBeta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A modelled link: latency_s + bytes / bandwidth_Bps."""

    latency_s: Seconds
    bandwidth_Bps: Annotated[float, msgspec.Meta(gt=0, le=1e18)]


class LinkFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Transfer time against size, one curve a direction.

    Attributes
    ----------
    forward, backward : list of LinkPoint
        Measured points, ascending in bytes, from the first end to the second and back; an empty
        `backward` means that the link is symmetric.
    model : AlphaBeta or None
        Instead of points, where the link is modelled; the summary of the points otherwise.
    """

    format: Literal["placebench-link/1"]
    name: str
    kind: Kind
    provenance: dict[str, Any]
    forward: list[LinkPoint] = []
    backward: list[LinkPoint] = []
    model: AlphaBeta | None = None

    def __post_init__(self) -> None:
        if not self.forward and (self.backward or self.model is None):
            raise ValueError("a link needs `forward` points or a `model`")
        for direction in (self.forward, self.backward):
            sizes = [point.bytes for point in direction]
            if any(a >= b for a, b in pairwise(sizes)):
                raise ValueError("the points of a link must ascend in bytes")

    def time(self, size: int, backward: bool = False) -> float:
        """Seconds that `size` bytes take; see :meth:`times`."""
        return self.times([size], backward)[0]

    def times(self, sizes: Sequence[int], backward: bool = False) -> list[float]:
        """Seconds that each number of bytes takes.

        Linear interpolation between the measured minima, made monotone by the running maximum:
        a larger payload never takes less. Below the first point its time stands; beyond the last
        one the slope of the last segment goes on.
        """
        points = self.backward if backward and self.backward else self.forward
        if not points:
            assert self.model is not None
            model = self.model
            return [model.latency_s + size / model.bandwidth_Bps for size in sizes]
        x = [point.bytes for point in points]
        y = list(accumulate((point.min_s for point in points), max))

        def interpolated(size: int) -> float:
            if size <= x[0] or len(x) == 1:
                return y[0]
            i = min(bisect_right(x, size), len(x) - 1)
            return y[i - 1] + (y[i] - y[i - 1]) * ((size - x[i - 1]) / (x[i] - x[i - 1]))

        return [interpolated(size) for size in sizes]


class Device(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One device of a platform.

    Attributes
    ----------
    device : str
        Device file; several devices may share one.
    memory_bytes : int or None
        None: as much as needed.
    host : bool
        A CPU device whose memory is the staging area; pays no transfers in `throughput`.
    unlimited : bool
        As many parallel lanes as needed (`latency` only).
    link : str or None
        Link file of the port to host memory (`staged` topology, non-host devices; forward = out).
    """

    name: str
    device: str
    memory_bytes: Bytes | None = None
    host: bool = False
    unlimited: bool = False
    link: str | None = None


class Wire(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A link between two devices of a `direct` platform, both ways (forward = source to target)."""

    source: str
    target: str
    link: str


class Platform(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Devices and how they are joined.

    Attributes
    ----------
    topology : {'staged', 'direct'}
        `staged`: every non-host device has a port to host memory (its `link`).
        `direct`: every pair of devices has its own wire; `default_link` serves the pairs that no
        wire names.
    """

    format: Literal["placebench-platform/1"]
    name: str
    topology: Literal["staged", "direct"]
    devices: list[Device]
    wires: list[Wire] = []
    default_link: str | None = None
    provenance: dict[str, Any] = {}


def link_names(platform: Platform) -> set[str]:
    """Names of the link files that a platform uses."""
    named = {device.link for device in platform.devices} | {w.link for w in platform.wires}
    return {name for name in named | {platform.default_link} if name is not None}


def validate(platform: Platform, where: str = "platform", *, chain: bool = False) -> None:
    """Check what types alone cannot say.

    Parameters
    ----------
    chain : bool
        Only neighbours in the list of devices need a link (`chips`).

    Raises
    ------
    FileError
        On no devices, a repeated name, an unknown device in a wire, a pair without a link, or a
        field that the topology does not use.
    """
    names = [device.name for device in platform.devices]
    if not names:
        raise FileError(f"{where}: a platform needs at least one device - at `$.devices`")
    for k, device in enumerate(platform.devices):
        place = f" - at `$.devices[{k}]`"
        if names.index(device.name) != k:
            raise FileError(f"{where}: device name {device.name!r} is used twice{place}")
        if platform.topology == "direct" and device.link is not None:
            raise FileError(f"{where}: `link` belongs to the staged topology{place}")
        if platform.topology == "staged" and device.host == (device.link is not None):
            raise FileError(
                f"{where}: in the staged topology a device is a host or has a `link`{place}"
            )
    if platform.topology == "staged":
        if platform.wires or platform.default_link is not None:
            raise FileError(f"{where}: wires belong to the direct topology - at `$.wires`")
        return
    joined: set[frozenset[str]] = set()
    for i, wire in enumerate(platform.wires):
        place = f" - at `$.wires[{i}]`"
        for end in (wire.source, wire.target):
            if end not in names:
                raise FileError(
                    f"{where}: no device {end!r}; the devices are {', '.join(names)}{place}"
                )
        pair = frozenset((wire.source, wire.target))
        if len(pair) == 1 or pair in joined:
            raise FileError(f"{where}: wire to itself or given twice: {wire.source}{place}")
        joined.add(pair)
    if platform.default_link is None:
        for i, a in enumerate(names):
            for b in names[max(0, i - 1) : i] if chain else names[:i]:
                if frozenset((a, b)) not in joined:
                    raise FileError(f"{where}: no wire joins {b!r} and {a!r} - at `$.wires`")
