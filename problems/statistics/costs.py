"""What the times, payloads and bytes of an instance say about it, one function a statistic."""

from __future__ import annotations

import numpy as np

from problems.chips import hops
from problems.instance import Instance


def transfer_times(instance: Instance) -> np.ndarray:
    """Seconds of each node's payload, mean over ordered pairs of devices; shape (n,), K > 1.

    `chips`: mean over the links from a chip to the next.
    """
    K = instance.K
    share = np.zeros(len(instance.link_time))
    if instance.problem == "chips":
        share += np.bincount(hops(instance), minlength=len(share)) / (K - 1)
    elif instance.staged:
        # Out of k and into l: each port serves 2 (K - 1) of the K (K - 1) pairs.
        np.add.at(share, instance.port, 2 / K)
    else:
        apart = instance.wire[~np.eye(K, dtype=bool)]
        share += np.bincount(apart, minlength=len(share)) / len(apart)
    mean: np.ndarray = share @ instance.link_time
    return mean


def communication_to_computation(instance: Instance) -> float | None:
    """Mean transfer of an edge / mean compute of a node; see :class:`.features.Features`."""
    runs = np.isfinite(instance.time)
    compute = (np.where(runs, instance.time, 0.0).sum(axis=1) / runs.sum(axis=1)).mean()
    if instance.K == 1 or not compute > 0:
        return None
    if not instance.m:
        return 0.0
    return float(transfer_times(instance)[instance.edges[:, 0]].mean() / compute)


def pressures(instance: Instance) -> tuple[float | None, float | None]:
    """All bytes / sum of the memory limits, and largest group / largest limit."""
    limits = instance.memory[np.isfinite(instance.memory)]
    if not limits.sum() > 0:
        return None, None
    held = float(instance.node_bytes.sum() + instance.shared_bytes.sum())
    size = np.bincount(instance.group, instance.node_bytes)
    for i, count in enumerate(instance.shared_bytes.tolist()):
        nodes = instance.shared_node[instance.shared_ptr[i] : instance.shared_ptr[i + 1]]
        size[np.unique(instance.group[nodes])] += count
    return held / float(limits.sum()), float(size.max() / limits.max())


def heterogeneity(instance: Instance) -> float:
    """Mean coefficient of variation over devices, of the nodes that take time on two or more."""
    runs = np.isfinite(instance.time)
    count = runs.sum(axis=1)
    mean = np.where(runs, instance.time, 0.0).sum(axis=1) / count
    deviation = np.where(runs, instance.time - mean[:, None], 0.0)
    counted = (mean > 0) & (count > 1)
    if not counted.any():
        return 0.0
    variance = (deviation[counted] ** 2).sum(axis=1) / count[counted]
    return float((np.sqrt(variance) / mean[counted]).mean())


def inconsistency(instance: Instance) -> float:
    """Mean share of nodes that reverse a pair of devices, over the pairs that differ anywhere."""
    columns, how_many = _distinct(np.ascontiguousarray(instance.time.T))
    shares, weights = [], []
    for i in range(len(columns)):
        for j in range(i):
            a, b = columns[i], columns[j]
            both = np.isfinite(a) & np.isfinite(b)
            less = int((both & (a < b)).sum())
            more = int((both & (a > b)).sum())
            if less + more:
                shares.append(min(less, more) / (less + more))
                weights.append(how_many[i] * how_many[j])
    return float(np.average(shares, weights=weights)) if shares else 0.0


def _distinct(rows: np.ndarray) -> tuple[list[np.ndarray], list[int]]:
    """The different rows, and how often each occurs."""
    number: dict[bytes, int] = {}
    kept: list[np.ndarray] = []
    count: list[int] = []
    for row in rows:
        i = number.setdefault(row.tobytes(), len(kept))
        if i == len(kept):
            kept.append(row)
            count.append(0)
        count[i] += 1
    return kept, count


def supported_share(instance: Instance) -> float:
    """Share of the pairs of node and device that are supported."""
    return float(np.isfinite(instance.time).mean())
