"""A throughput instance seen by colocation groups: what its formulations share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from problems import throughput
from problems.instance import Instance


@dataclass(frozen=True, eq=False)
class Contracted:
    """G groups, E nets, P phases that count apart (2 under `split_phases`, else 1).

    Attributes
    ----------
    work : float64 array, shape (P, G, K)
        Seconds of a group on a device; nodes that it does not run count 0.
    supported : bool array, shape (G, K)
        Whether the device runs the group and could hold it alone.
    net_group, net_phase : int64 arrays, shape (E,)
        A net is what one group sends to one set of other groups: producers that go from the same
        group to the same groups in one phase are one net, which loses nothing.
    net_time : float64 array, shape (L, E)
        Seconds of the net's payloads over each link.
    pin_net, pin_group : int64 arrays, shape (pins,)
        Consumer groups of each net, its own group left out.
    bytes : float64 array, shape (G,)
        Memory of a group, weights that other groups read too left out.
    shared_bytes : float64 array, shape (T,)
    reader_weight, reader_group : int64 arrays
        Which groups read which shared weight.
    order : int64 array, shape (., 2)
        Distinct pairs (a, b), a != b: in a chain, a's device may not come after b's.
    """

    work: np.ndarray
    supported: np.ndarray
    net_group: np.ndarray
    net_phase: np.ndarray
    net_time: np.ndarray
    pin_net: np.ndarray
    pin_group: np.ndarray
    bytes: np.ndarray
    shared_bytes: np.ndarray
    reader_weight: np.ndarray
    reader_group: np.ndarray
    order: np.ndarray


def contract(instance: Instance) -> Contracted:
    """Contract the colocation groups of a throughput instance."""
    rules = throughput.rules_of(instance)
    group = instance.group
    G, P = int(group.max()) + 1, 2 if rules.split_phases else 1
    phase = instance.phase.astype(np.int64) if rules.split_phases else np.zeros(instance.n, int)
    finite = np.isfinite(instance.time)
    supported = np.ones((G, instance.K), bool)
    np.logical_and.at(supported, group, finite)
    work = np.zeros((P, G, instance.K))
    np.add.at(work, (phase, group), np.where(finite, instance.time, 0.0))
    order = group[throughput.order_edges(instance)]
    size, shared, weight, reader = memory_by_group(instance)
    alone = size.copy()
    np.add.at(alone, reader, shared[weight])
    supported &= alone[:, None] <= instance.memory
    return Contracted(
        work,
        supported,
        *_nets(instance, phase),
        size,
        shared,
        weight,
        reader,
        np.unique(order[order[:, 0] != order[:, 1]], axis=0).reshape(-1, 2),
    )


def memory_by_group(
    instance: Instance,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Bytes of each group, of each weight that several groups read, and who reads which.

    Returns
    -------
    bytes : float64 array, shape (G,)
    shared_bytes : float64 array, shape (T,)
    reader_weight, reader_group : int64 arrays
        Pairs (weight, group).
    """
    group = instance.group
    size = np.bincount(group, instance.node_bytes)
    weight = np.repeat(np.arange(len(instance.shared_bytes)), np.diff(instance.shared_ptr))
    pairs = np.unique(np.stack([weight, group[instance.shared_node]], axis=1), axis=0)
    readers = np.bincount(pairs[:, 0], minlength=len(instance.shared_bytes))
    alone = readers[pairs[:, 0]] == 1
    np.add.at(size, pairs[alone, 1], instance.shared_bytes[pairs[alone, 0]])
    pairs = pairs[~alone]
    kept, number = np.unique(pairs[:, 0], return_inverse=True)
    return size, instance.shared_bytes[kept].astype(float), number, pairs[:, 1]


def _nets(
    instance: Instance, phase: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    group = instance.group
    index: dict[tuple[int, ...], int] = {}
    members: list[tuple[int, int]] = []
    for u in range(instance.n):
        consumers = instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]]
        pins = np.unique(group[consumers])
        pins = pins[pins != group[u]]
        if len(pins) and instance.link_time[:, u].any():
            key = (int(phase[u]), int(group[u]), *pins.tolist())
            members.append((index.setdefault(key, len(index)), u))
    net_time = np.zeros((len(instance.link_time), len(index)))
    for net, u in members:
        net_time[:, net] += instance.link_time[:, u]
    keys = list(index)
    return (
        np.array([key[1] for key in keys], np.int64),
        np.array([key[0] for key in keys], np.int64),
        net_time,
        np.repeat(np.arange(len(keys)), [len(key) - 2 for key in keys]).astype(np.int64),
        np.array([g for key in keys for g in key[2:]], np.int64),
    )
