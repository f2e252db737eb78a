"""What the catalogue says about an instance in numbers; ``problems/README.md`` has the formulas."""

from __future__ import annotations

import msgspec


class Features(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Statistics of one instance, six significant digits; computed by :mod:`.measure`.

    Attributes
    ----------
    depth : int
        Nodes on the longest path.
    width : int
        Nodes of the largest antichain; of the largest level, a lower bound, where not
        `width_exact`.
    width_exact : bool
        Whether `width` is exact.
    ideals : int or None
        Down-sets of the order of colocation groups, the empty and the whole one included; None
        beyond :data:`.ideals.MOST`.
    parallelism : float or None
        Work / critical path, every node on its fastest device and transfers free; None where
        nothing takes time.
    ccr : float or None
        Communication-to-computation ratio: mean transfer of an edge between two devices / mean
        compute of a node on a device; None with one device, or where nothing takes time.
    memory_pressure : float or None
        Bytes to hold, each once / sum of the memory limits; None where no device has a limit.
    group_pressure : float or None
        Bytes of the largest colocation group / largest memory limit; None likewise.
    heterogeneity : float
        Mean over nodes of the coefficient of variation of their times over the devices.
    inconsistency : float
        Mean over pairs of unlike devices of the share of nodes that run faster on the one that is
        slower for most; 0 where devices keep one order, at most 0.5.
    symmetry_classes : int
        Classes of interchangeable devices.
    supported_share : float
        Pairs of a node and a device that runs it / all pairs.
    """

    depth: int
    width: int
    width_exact: bool
    ideals: int | None
    parallelism: float | None
    ccr: float | None
    memory_pressure: float | None
    group_pressure: float | None
    heterogeneity: float
    inconsistency: float
    symmetry_classes: int
    supported_share: float


NAMES = tuple(name for name in Features.__struct_fields__ if name != "width_exact")
