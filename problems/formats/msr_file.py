"""The fields of an MSR file, as they stand in it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

import msgspec

Flag = Literal[0, 1] | bool


class MsrNode(msgspec.Struct, frozen=True):
    """A node as the file has it."""

    id: int
    cpuLatency: Decimal | None
    fpgaLatency: Decimal | None
    name: str | None = None
    supportedOnFpga: Flag = True
    isBackwardNode: Flag = False
    colorClass: int | str | None = None
    size: Decimal = Decimal(0)
    layerId: Any = None


class MsrEdge(msgspec.Struct, frozen=True):
    """An edge as the file has it."""

    sourceId: int
    destId: int
    cost: Decimal
    size: Decimal | None = None


class MsrFile(msgspec.Struct, frozen=True):
    """The whole file."""

    maxFPGAs: int
    maxCPUs: int
    nodes: list[MsrNode]
    edges: list[MsrEdge]
    maxSizePerFPGA: Decimal | None = None
