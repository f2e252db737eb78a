"""What every problem asks of a mapping of nodes to devices: support, memory, colocation."""

from __future__ import annotations

import numpy as np
from numba import njit

from problems.instance import Instance


def memory_use(instance: Instance, device: np.ndarray) -> np.ndarray:
    """Bytes that each device holds, shape (K,), for a mapping `device` of shape (n,)."""
    use: np.ndarray = _memory_use(
        np.ascontiguousarray(device, np.int64),
        instance.node_bytes,
        instance.shared_ptr,
        instance.shared_node,
        instance.shared_bytes,
        instance.K,
    )
    return use


def is_placeable(instance: Instance, device: np.ndarray) -> bool:
    """Whether a mapping of shape (n,) into 0..K-1 keeps support, memory and colocation."""
    nodes = np.arange(instance.n)
    if not np.isfinite(instance.time[nodes, device]).all():
        return False
    # Memory is a float64 sum of integers below 2**53: exact as long as instances are sane.
    if (memory_use(instance, device) > instance.memory).any():
        return False
    leader = np.full(int(instance.group.max()) + 1, -1)
    leader[instance.group[::-1]] = device[::-1]
    return bool((leader[instance.group] == device).all())


@njit(cache=True)
def _memory_use(device, node_bytes, shared_ptr, shared_node, shared_bytes, K):  # type: ignore[no-untyped-def]
    use = np.zeros(K)
    for v in range(device.shape[0]):
        use[device[v]] += node_bytes[v]
    seen = np.full(K, -1, np.int64)
    for i in range(shared_bytes.shape[0]):
        for j in range(shared_ptr[i], shared_ptr[i + 1]):
            k = device[shared_node[j]]
            if seen[k] != i:
                seen[k] = i
                use[k] += shared_bytes[i]
    return use
