"""What is legal in an MSR file, and was a mistake in files that others made of the format."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from problems.formats.msr_file import MsrFile

# All transfers together against all accelerator compute: 1.2 to 13 in the public files, and a
# thousandth of that where costs are in seconds.
SLOW, FAST = 1e3, 1e-2


def doubts(file: MsrFile, costs: dict[int, float]) -> list[str]:
    """What is legal and was a mistake in files that others made of this format."""
    notes = []
    work = sum(float(n.fpgaLatency or 0) * 1e-3 for n in file.nodes if n.supportedOnFpga)
    moved = sum(costs.values())
    if file.maxFPGAs and file.edges and not moved:
        notes.append("every transfer takes no time: were the edge costs left at zero?")
    elif file.maxFPGAs and moved and work and not FAST < moved / work < SLOW:
        unit = "s" if moved < work else "ms"
        notes.append(
            f"all transfers together take {moved / work:.2g} of the accelerators' compute time:"
            f" are the costs in another unit? (--cost-unit {unit})"
        )
    return notes + _doubts_of_pairs(file)


def _doubts_of_pairs(file: MsrFile) -> list[str]:
    backward = {node.id: bool(node.isBackwardNode) for node in file.nodes}
    colour = {n.id: n.colorClass for n in file.nodes if n.colorClass is not None}
    same, other = 0, 0
    inner = [
        (colour[e.sourceId], colour[e.destId], backward[e.sourceId])
        for e in file.edges
        if backward[e.sourceId] == backward[e.destId]
        and e.sourceId in colour
        and e.destId in colour
        and colour[e.sourceId] != colour[e.destId]
    ]
    forward_flow = {(a, b) for a, b, is_backward in inner if not is_backward}
    for a, b, is_backward in inner:
        same += is_backward and (a, b) in forward_flow
        other += is_backward and (b, a) in forward_flow
    notes = []
    if same > other:
        notes.append(
            f"{same} backward edges point the way of their forward partners; gradients flow the"
            " other way (taken as they stand)"
        )
    held: dict[Any, list[Decimal]] = {}
    for node in file.nodes:
        if node.colorClass is not None:
            held.setdefault((node.colorClass, bool(node.isBackwardNode)), []).append(node.size)
    pairs = [
        (sum(held[key, False]), sum(held[key, True]))
        for key, is_backward in held
        if is_backward and (key, False) in held
    ]
    lopsided = sum((a > 0) != (b > 0) for a, b in pairs)
    if pairs and lopsided > len(pairs) / 2:
        notes.append(
            f"{lopsided} of {len(pairs)} classes with forward and backward nodes have sizes on one"
            " side only: is memory missing on the other?"
        )
    return notes
