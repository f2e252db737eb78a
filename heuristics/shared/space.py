"""The search space of an instance: units that move as one, as arrays for compiled code.

A unit is a colocation group. Under `contiguous`, groups that lie on a cycle of the forward order
have to share a device, so each strongly connected component is one unit; unit numbers are then
topological. Otherwise units are numbered by their first node.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numba import njit

from problems import latency, ports, throughput
from problems.instance import Instance
from problems.rules import ThroughputRules
from solvers.by_reference import by_reference

OVERLAP = {"none": 0, "half": 1, "full": 2}


@by_reference
class Space(NamedTuple):
    """Arrays of one instance; those of the instance keep their meaning (n nodes, K devices).

    Attributes
    ----------
    links : int64 array, shape (K, K, 2)
        See :func:`problems.latency.communication`.
    unit : int64 array, shape (n,)
        Unit of every node, 0..U-1.
    unit_ptr, unit_node : int64 arrays, shapes (U + 1,), (n,)
        Nodes of every unit, ascending.
    unit_time : float64 array, shape (U, K)
        Seconds of the whole unit; inf where one of its nodes is not supported.
    unit_bytes : float64 array, shape (U,)
        Memory apart from shared weights.
    weight_ptr, weight : int64 arrays, shapes (U + 1,), (.,)
        Shared weights that each unit reads.
    shared_bytes : float64 array, shape (T,)
    after_ptr, after, before_ptr, before : int64 arrays
        The order of units under `contiguous`, in both directions; no pairs otherwise.
    overlap : int
        0 none, 1 half, 2 full.
    contended : bool
        Whether transfers take turns at ports.
    """

    time: np.ndarray
    phase: np.ndarray
    succ_ptr: np.ndarray
    succ: np.ndarray
    pred_ptr: np.ndarray
    pred: np.ndarray
    host: np.ndarray
    unlimited: np.ndarray
    staged: bool
    link_time: np.ndarray
    port: np.ndarray
    wire: np.ndarray
    links: np.ndarray
    memory: np.ndarray
    unit: np.ndarray
    unit_ptr: np.ndarray
    unit_node: np.ndarray
    unit_time: np.ndarray
    unit_bytes: np.ndarray
    weight_ptr: np.ndarray
    weight: np.ndarray
    shared_bytes: np.ndarray
    after_ptr: np.ndarray
    after: np.ndarray
    before_ptr: np.ndarray
    before: np.ndarray
    contiguous: bool
    overlap: int
    split: bool
    contended: bool


def build(instance: Instance) -> Space:
    """The search space of an instance."""
    rules = instance.rules
    contiguous = isinstance(rules, ThroughputRules) and rules.contiguous
    pairs = np.zeros((0, 2), np.int64)
    unit = instance.group.copy()
    if contiguous:
        unit, pairs = _ordered_units(unit, instance.group[throughput.order_edges(instance)])
    U = int(unit.max()) + 1
    unit_time = np.zeros((U, instance.K))
    np.add.at(unit_time, unit, instance.time)
    readers = unit[instance.shared_node]
    weights = np.repeat(np.arange(len(instance.shared_bytes)), np.diff(instance.shared_ptr))
    reads = np.unique(np.stack([readers, weights], axis=1), axis=0)
    backwards = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))][:, ::-1]
    after_ptr, after = _rows(U, pairs)
    before_ptr, before = _rows(U, backwards)
    weight_ptr, weight = _rows(U, reads)
    return Space(
        # Copies: the instance's arrays are read-only, which is another type to the compiler.
        **{name: np.array(getattr(instance, name), order="C") for name in _TAKEN},
        staged=instance.staged,
        links=latency.communication(instance),
        unit=unit,
        unit_ptr=np.searchsorted(np.sort(unit), np.arange(U + 1)).astype(np.int64),
        unit_node=np.argsort(unit, kind="stable").astype(np.int64),
        unit_time=unit_time,
        unit_bytes=np.bincount(unit, instance.node_bytes, U),
        weight_ptr=weight_ptr,
        weight=weight,
        shared_bytes=instance.shared_bytes.astype(float),
        after_ptr=after_ptr,
        after=after,
        before_ptr=before_ptr,
        before=before,
        contiguous=contiguous,
        overlap=OVERLAP[rules.overlap] if isinstance(rules, ThroughputRules) else 0,
        split=isinstance(rules, ThroughputRules) and rules.split_phases,
        contended=ports.has_ports(instance),
    )


_TAKEN = (
    "time", "phase", "succ_ptr", "succ", "pred_ptr", "pred", "host", "unlimited", "link_time",
    "port", "wire", "memory",
)  # fmt: skip


def _rows(rows: int, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row pointers and second entries of sorted `pairs`, shape (., 2)."""
    ptr = np.searchsorted(pairs[:, 0], np.arange(rows + 1)).astype(np.int64)
    return ptr, np.ascontiguousarray(pairs[:, 1], np.int64)


def _ordered_units(group: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Contract the cycles among groups; number the components topologically."""
    # Slow to load, and for chains only: most runs do without.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    G = int(group.max()) + 1
    matrix = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(G, G))
    count, label = connected_components(matrix, directed=True, connection="strong")
    pairs = label[pairs].astype(np.int64)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    first = np.full(count, len(group), np.int64)
    np.minimum.at(first, label[group], np.arange(len(group)))
    ptr, after = _rows(count, pairs)
    order = topological(ptr, after, first.astype(float))
    number = np.empty(count, np.int64)
    number[order] = np.arange(count)
    renumbered = number[pairs]
    return number[label[group]], renumbered[np.lexsort((renumbered[:, 1], renumbered[:, 0]))]


@njit(cache=True)
def topological(ptr, after, key):  # type: ignore[no-untyped-def]
    """Order rows so that row r comes before after[ptr[r]:ptr[r + 1]], small keys first."""
    count = len(ptr) - 1
    missing = np.zeros(count, np.int64)
    for i in range(len(after)):
        missing[after[i]] += 1
    ready = [(key[r], r) for r in range(count) if missing[r] == 0]
    heapq.heapify(ready)
    order = np.empty(count, np.int64)
    filled = 0
    while len(ready) > 0:
        _, r = heapq.heappop(ready)
        order[filled] = r
        filled += 1
        for i in range(ptr[r], ptr[r + 1]):
            missing[after[i]] -= 1
            if missing[after[i]] == 0:
                heapq.heappush(ready, (key[after[i]], after[i]))
    return order[:filled]
