"""`throughput` with parts of the graph contracted: the boundary of a module as an instance.

What is placed already is one part a device that no other device supports; a module's units are
parts of their own; what follows lies in a few large parts. The result is an ordinary instance,
small and exact: a mapping of the parts has the same loads, memory and chain as the mapping of all
their nodes, so that any exact method solves it, and nothing has to know of boundaries.
"""

from __future__ import annotations

import numpy as np

from heuristics.modules.atoms import components
from heuristics.modules.rebuilt import rebuilt
from problems import throughput
from problems.instance import Instance
from problems.rules import ThroughputRules


def reduced(instance: Instance, part: np.ndarray, fixed: np.ndarray) -> Instance:
    """The instance in which every part is one colocation group.

    Under `contiguous` the parts must not lie on cycles of the chain's order, those on one device
    aside, which have to be one part.

    Parameters
    ----------
    part : int64 array, shape (n,)
        Part of every node, 0..P-1, none empty; a colocation group lies in one part.
    fixed : int64 array, shape (P,)
        The one device on which a part may be; -1 where it is free.

    Returns
    -------
    Instance
        Nodes 0..P-1 order the chain, then come producers, and at last two nodes a part that hold
        its work, forward and backward.
    """
    P, K = len(fixed), instance.K
    pins = _order(instance, part, P)
    rank = np.empty(P, np.int64)  # pins are numbered topologically
    rank[pins[1]] = np.arange(P)
    net_part, net_phase, net_time, edge_net, edge_part = _nets(instance, part)
    nets = len(net_part)
    # A payload must say nothing about the order, which the pins keep: its phase is another one
    # than that of the node that reads it.
    target = P + nets + 2 * edge_part + 1 - net_phase[edge_net]
    edges = np.concatenate([rank[pins[0]], np.stack([P + edge_net, target], axis=1)])
    edges = np.unique(edges, axis=0).reshape(-1, 2).astype(np.int64)
    n = P + nets + 2 * P
    group = np.concatenate([pins[1], net_part, np.repeat(np.arange(P), 2)])
    phase = np.concatenate([np.zeros(P), net_phase, np.tile([0, 1], P)]).astype(np.int8)

    time = np.zeros((n, K))
    np.add.at(time, P + nets + 2 * part + instance.phase, instance.time)
    held = np.flatnonzero(fixed >= 0)
    elsewhere = np.ones((len(held), K), bool)
    elsewhere[np.arange(len(held)), fixed[held]] = False
    for p in (0, 1):
        time[P + nets + 2 * held + p] = np.where(elsewhere, np.inf, time[P + nets + 2 * held + p])
    size = np.zeros(n, np.int64)
    np.add.at(size, P + nets + 2 * part, instance.node_bytes)
    link_time = np.zeros((len(instance.link_time), n))
    link_time[:, P : P + nets] = net_time
    shared_ptr, shared_part, shared_bytes = shared_by_part(instance, part)

    return rebuilt(
        instance,
        group,
        edges,
        time=time,
        phase=phase,
        node_bytes=size,
        shared_ptr=shared_ptr,
        shared_node=P + nets + 2 * shared_part,
        shared_bytes=shared_bytes,
        link_time=link_time,
    )


def part_nodes(small: Instance, parts: int) -> np.ndarray:
    """A node of each part of a reduced instance, int64 array of shape (P,).

    ``device[part_nodes(small, P)[part]]`` spreads a mapping of it to the nodes of the instance.
    """
    return np.arange(small.n - 2 * parts, small.n, 2)


def _order(instance: Instance, part: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct pairs of parts that a chain has to keep, and all parts in an order that keeps them.

    Raises
    ------
    ValueError
        If there is none.
    """
    rules = instance.rules
    assert isinstance(rules, ThroughputRules)
    if not rules.contiguous:
        return np.zeros((0, 2), np.int64), np.arange(count)
    pairs = part[throughput.order_edges(instance)]
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).reshape(-1, 2)
    label = components(count, pairs)
    if int(label.max(initial=-1)) + 1 < count:
        raise ValueError("reduced: parts lie on a cycle")
    return pairs, np.argsort(label)


def _nets(
    instance: Instance, part: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What goes from a part to the same other parts in one phase, as one producer.

    Returns
    -------
    net_part, net_phase : int64 arrays, shape (E,)
    net_time : float64 array, shape (L, E)
    edge_net, edge_part : int64 arrays
        Which net goes to which part.
    """
    P = int(part.max()) + 1
    u, to = instance.edges[:, 0], part[instance.edges[:, 1]]
    apart = part[u] != to
    pairs = np.unique(u[apart] * P + to[apart])
    u, to = np.divmod(pairs, P)
    # A set of parts as a sum of random words: two sets meet by chance once in 2**64 or so.
    word = np.random.default_rng(0).integers(1, 2**63, P, dtype=np.uint64)
    word = word * np.uint64(2) + np.uint64(1)
    key = np.zeros(instance.n, np.uint64)
    np.add.at(key, u, word[to])
    senders = np.unique(u)
    each = np.empty(len(senders), [("part", np.int64), ("phase", np.int64), ("key", np.uint64)])
    each["part"], each["phase"] = part[senders], instance.phase[senders]
    each["key"] = key[senders]
    kinds, first, index = np.unique(each, return_index=True, return_inverse=True)
    net = np.full(instance.n, -1, np.int64)
    net[senders] = index.reshape(-1)
    net_time = np.zeros((len(instance.link_time), len(kinds)))
    for row, seconds in zip(net_time, instance.link_time[:, senders], strict=True):
        row[:] = np.bincount(index.reshape(-1), seconds, len(kinds))
    one = np.isin(u, senders[first])
    return kinds["part"], kinds["phase"], net_time, net[u[one]], to[one]


def shared_by_part(
    instance: Instance, part: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The shared weights by parts: as ``shared_ptr``, parts, ``shared_bytes`` of an instance."""
    T, P = len(instance.shared_bytes), int(part.max()) + 1
    weight = np.repeat(np.arange(T), np.diff(instance.shared_ptr))
    reads = np.unique(weight * P + part[instance.shared_node])
    weight, reader = np.divmod(reads, P)
    return np.searchsorted(weight, np.arange(T + 1)), reader, instance.shared_bytes
