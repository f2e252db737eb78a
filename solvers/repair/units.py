"""The rules of a `chips` instance as a problem of units that share a chip.

A unit is a colocation group, or several where groups lie on a cycle of edges: data only flow
forward, so that a cycle has one chip. Unit numbers are topological.
"""

from __future__ import annotations

import numpy as np

from problems.instance import Instance
from solvers.repair.orders import topological
from solvers.repair.problem import Problem, build


def problem_of(instance: Instance) -> tuple[np.ndarray, Problem]:
    """Unit of every node, int64 array of shape (n,), and the rules of the units."""
    unit = _number(instance)
    U = int(unit.max()) + 1
    edges = unit[instance.edges]
    between = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    weights = np.repeat(np.arange(len(instance.shared_bytes)), np.diff(instance.shared_ptr))
    problem = build(
        U,
        between,
        instance.K,
        np.bincount(unit, instance.node_bytes, U).astype(np.int64),
        instance.memory,
        np.stack([unit[instance.shared_node], weights], axis=1),
        instance.shared_bytes,
    )
    return unit, problem


def _number(instance: Instance) -> np.ndarray:
    """Unit of every node, numbered topologically."""
    # Slow to load, and for this problem only.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    group = instance.group
    G = int(group.max()) + 1
    pairs = group[instance.edges]
    matrix = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(G, G))
    count, label = connected_components(matrix, directed=True, connection="strong")
    pairs = np.unique(
        label[pairs[label[pairs[:, 0]] != label[pairs[:, 1]]]].astype(np.int64), axis=0
    )
    first = np.full(count, instance.n, np.int64)
    np.minimum.at(first, label[group], np.arange(instance.n))
    ptr = np.searchsorted(pairs[:, 0], np.arange(count + 1)).astype(np.int64)
    order = topological(ptr, np.ascontiguousarray(pairs[:, 1]), first.astype(float))
    number = np.empty(count, np.int64)
    number[order] = np.arange(count)
    result: np.ndarray = number[label[group]]
    return result
