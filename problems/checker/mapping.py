"""What every problem asks of a mapping: support, colocation, memory."""

from __future__ import annotations

import math

from problems.instance import Instance


def support_violations(instance: Instance, device: list[int]) -> list[tuple[str, str]]:
    """Nodes on devices that do not run them."""
    for v, k in enumerate(device):
        if not math.isfinite(instance.time[v, k]):
            where = f"node {v} ({instance.names[v]!r}) does not run on {instance.device_names[k]!r}"
            return [("support", where)]
    return []


def colocate_violations(instance: Instance, device: list[int]) -> list[tuple[str, str]]:
    """Nodes of one group on several devices."""
    first: dict[int, int] = {}
    for v, k in enumerate(device):
        u = first.setdefault(int(instance.group[v]), v)
        if device[u] != k:
            names = f"{instance.names[u]!r} and {instance.names[v]!r}"
            return [("colocate", f"nodes {u} and {v} ({names}) belong on one device")]
    return []


def memory_violations(instance: Instance, device: list[int]) -> list[tuple[str, str]]:
    """Devices that hold more than they can."""
    use = [0] * instance.K
    for v, k in enumerate(device):
        use[k] += int(instance.node_bytes[v])
    for i, size in enumerate(instance.shared_bytes.tolist()):
        readers = instance.shared_node[instance.shared_ptr[i] : instance.shared_ptr[i + 1]]
        for k in {device[v] for v in readers.tolist()}:
            use[k] += size
    return [
        ("memory", f"device {instance.device_names[k]!r} holds {use[k]} of {limit:.0f} bytes")
        for k, limit in enumerate(instance.memory.tolist())
        if use[k] > limit
    ]
