"""Where nodes can go at all: support and memory, seen by colocation groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from problems.instance import Instance


@dataclass(frozen=True, eq=False)
class Groups:
    """The colocation groups of an instance as items, G of them.

    Attributes
    ----------
    time : float64 array, shape (2, G, K)
        Seconds of the group's forward and backward nodes on each device; inf where it cannot go.
    bytes : int64 array, shape (G,)
        What the group adds to its device for certain: its nodes, and weights that only it reads.
    allowed : bool array, shape (G, K)
        Whether all nodes of the group run on the device and the group alone fits its memory.
    shared : list of (int, int64 array)
        Weights that several groups read: bytes and the groups, ascending.
    """

    time: np.ndarray
    bytes: np.ndarray
    allowed: np.ndarray
    shared: list[tuple[int, np.ndarray]]


def groups_of(instance: Instance) -> Groups:
    """Gather the groups.

    A group that fits no memory keeps the devices that support it: the instance has no answer then,
    and bounds stay finite.
    """
    group, G = instance.group, int(instance.group.max()) + 1
    time, size = np.zeros((2, G, instance.K)), np.zeros(G, np.int64)
    if instance.n == G:  # every node its own group, numbered as it is
        time[instance.phase, np.arange(G)] = instance.time
    else:
        np.add.at(time, (instance.phase.astype(np.int64), group), instance.time)
    np.add.at(size, group, instance.node_bytes)
    shared: list[tuple[int, np.ndarray]] = []
    for i, count in enumerate(instance.shared_bytes.tolist()):
        nodes = instance.shared_node[instance.shared_ptr[i] : instance.shared_ptr[i + 1]]
        readers = np.unique(group[nodes])
        # Every reading group holds the weight wherever it sits, whoever else holds it.
        if len(readers) == 1:
            size[readers[0]] += count
        else:
            shared.append((count, readers))
    supported = np.isfinite(time.sum(axis=0))
    alone = size.astype(float)
    for count, readers in shared:
        alone[readers] += count
    fits = supported & (alone[:, None] <= instance.memory)
    allowed = np.where(fits.any(axis=1, keepdims=True), fits, supported)
    time = np.where(allowed, time, np.inf)
    return Groups(time, size, allowed, shared)


def allowed_times(instance: Instance) -> np.ndarray:
    """p_k(v) in seconds, shape (n, K), with inf also where v's group cannot go."""
    return np.where(groups_of(instance).allowed[instance.group], instance.time, np.inf)
