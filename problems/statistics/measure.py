"""The statistics of an instance, put together: seconds at most for 100,000 nodes x 64 devices."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from numba import njit

from problems.instance import Instance
from problems.statistics import costs
from problems.statistics.features import Features
from problems.statistics.ideals import ideals
from problems.statistics.width import width
from problems.throughput import order_edges


def measure(instance: Instance) -> Features:
    """Compute the statistics of an instance.

    What depends on the graph alone is kept for the next instance with the same graph.
    """
    depth, widest, exact, count = _structure(instance)
    fastest = instance.time.min(axis=1)
    path = float(longest_path(fastest, instance.pred_ptr, instance.pred).max())
    memory, group = costs.pressures(instance)
    return Features(
        depth=depth,
        width=widest,
        width_exact=exact,
        ideals=count,
        parallelism=_rounded(float(fastest.sum()) / path) if path > 0 else None,
        ccr=_rounded(costs.communication_to_computation(instance)),
        memory_pressure=_rounded(memory),
        group_pressure=_rounded(group),
        heterogeneity=_rounded(costs.heterogeneity(instance)) or 0.0,
        inconsistency=_rounded(costs.inconsistency(instance)) or 0.0,
        symmetry_classes=int(instance.device_class.max()) + 1,
        supported_share=_rounded(costs.supported_share(instance)) or 0.0,
    )


def _rounded(value: float | None) -> float | None:
    """Six significant digits: sums differ in their last bits between machines."""
    return None if value is None else float(f"{value:.6g}")


_structures: dict[bytes, tuple[int, int, bool, int | None]] = {}


def _structure(instance: Instance) -> tuple[int, int, bool, int | None]:
    """Depth, width, whether it is exact, ideals; remembered by the content of the graph."""
    state = sha256(str(instance.n).encode())
    for part in (instance.edges, instance.phase, instance.group):
        state.update(np.ascontiguousarray(part).tobytes())
    key = state.digest()
    if key not in _structures:
        nodes = longest_path(np.ones(instance.n), instance.pred_ptr, instance.pred)
        widest, exact = width(instance.n, instance.edges, nodes.astype(np.int64) - 1)
        count = ideals(order_edges(instance), instance.group)
        _structures[key] = int(nodes.max()), widest, exact, count
    return _structures[key]


@njit(cache=True)
def longest_path(weight, pred_ptr, pred):  # type: ignore[no-untyped-def]
    """Weight of the heaviest path that ends in each node, shape (n,); numbers are topological."""
    result = np.zeros(len(weight))
    for v in range(len(weight)):
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            result[v] = max(result[v], result[pred[i]])
        result[v] += weight[v]
    return result
