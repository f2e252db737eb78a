"""`latency`: a module with its boundary as an instance, for the exact models of schedules.

The instance has the module's nodes and, fixed, what they can notice of the rest: the producers that
they read, stretches in which a device is busy, under ports the transfers that are made; and one
node a device that holds its memory. What follows is a least time to the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from heuristics.modules.rebuilt import rebuilt
from problems.instance import Instance
from solvers.formulations._boundary import Boundary

STRETCHES = 60
"""Busy stretches of a device at most; beyond that the shortest gaps count as busy."""


@dataclass(eq=False)
class Partial:
    """A schedule of some nodes.

    Attributes
    ----------
    placed : bool array, shape (n,)
    place : int64 array, shape (G,)
        Device of every group that is placed, -1 elsewhere; a group of which some node is placed is.
    start : float64 array, shape (n,)
        Seconds.
    sent : dict
        Under ports: start of both legs of every transfer (producer, destination), in seconds.
    """

    placed: np.ndarray
    place: np.ndarray
    start: np.ndarray
    sent: dict[tuple[int, int], tuple[float, float]]

    def finish(self, instance: Instance) -> np.ndarray:
        """Finish of every node in seconds, -inf where it is not placed."""
        device = self.place[instance.group]
        end = self.start + instance.time[np.arange(instance.n), device]
        return np.where(self.placed, end, -np.inf)


def empty(instance: Instance) -> Partial:
    """A schedule of no nodes."""
    n = instance.n
    none = np.full(int(instance.group.max()) + 1, -1, np.int64)
    return Partial(np.zeros(n, bool), none, np.zeros(n), {})


class Timed(NamedTuple):
    """The model of a module.

    Attributes
    ----------
    instance : Instance
    boundary : Boundary
    node : int64 array
        Node of the whole instance that each node stands for; -1 for those that stand for none.
    """

    instance: Instance
    boundary: Boundary
    node: np.ndarray


def timed(instance: Instance, part: Partial, module: np.ndarray, tail: np.ndarray) -> Timed:
    """The model of a module, given as nodes, ascending.

    Parameters
    ----------
    tail : float64 array, shape (n, K)
        See :class:`solvers.formulations._boundary.Boundary`; of the whole instance.
    """
    n, K, group, place = instance.n, instance.K, instance.group, part.place
    mine = np.zeros(n, bool)
    mine[module] = True
    finish = part.finish(instance)
    u, v = instance.edges.T
    into = mine[v] & part.placed[u]
    inner = mine[u] & mine[v]
    earliest = _earliest(module, u[into], v[into], v[inner], finish)
    sent = {
        key: at for key, at in part.sent.items()
        if finish[key[0]] + _length(instance, part, key, at) > earliest
    }  # fmt: skip
    single = np.zeros(n, bool)
    single[u[into]] = True
    single[[key[0] for key in sent]] = True
    sent |= {key: at for key, at in part.sent.items() if single[key[0]]}
    fixed = np.flatnonzero(single)
    busy = _busy(instance, part, module, finish, single, earliest)

    f, b = len(fixed), len(busy)
    used = np.unique(place[place >= 0])
    anchors = f + b
    first = anchors + len(used)  # of the module
    count = first + len(module)
    number = np.full(n, -1, np.int64)
    number[fixed] = np.arange(f)
    number[module] = first + np.arange(len(module))
    time = np.full((count, K), np.inf)
    start = np.full(count, np.nan)
    device = place[group[fixed]]
    time[np.arange(f), device] = instance.time[fixed, device]
    start[:f] = part.start[fixed]
    for i, (k, begin, end) in enumerate(busy):
        time[f + i, k], start[f + i] = end - begin, begin
    time[anchors + np.arange(len(used)), used] = 0.0
    supported = np.ones((int(group.max()) + 1, K), bool)
    np.logical_and.at(supported, group, np.isfinite(instance.time))
    time[first:] = np.where(supported[group[module]], instance.time[module], np.inf)
    # A group that is placed already stays where it is.
    known = place[group[module]]
    held = np.flatnonzero(known >= 0)
    time[first + held] = np.inf
    time[first + held, known[held]] = instance.time[module[held], known[held]]

    at = dict(zip(used.tolist(), range(anchors, first), strict=True))
    made = np.array([(number[u], at[to]) for u, to in sent], np.int64).reshape(-1, 2)
    edges = np.concatenate([number[instance.edges[into | inner]], made])
    edges = np.unique(edges, axis=0).reshape(-1, 2)
    rest = np.full((count, K), 0.0)
    rest[first:] = tail[module]
    link_time = np.zeros((len(instance.link_time), count))
    link_time[:, :f] = instance.link_time[:, fixed]
    link_time[:, first:] = instance.link_time[:, module]
    groups = np.arange(count)
    groups[first:] = count + group[module]
    small = _instance(
        instance, time, edges, groups, link_time, _memory(instance, part, module, at, count)
    )
    boundary = Boundary(start, rest, {(int(number[u]), to): t for (u, to), t in sent.items()})
    node = np.full(count, -1, np.int64)
    node[:f], node[first:] = fixed, module
    return Timed(small, boundary, node)


def _earliest(
    module: np.ndarray, u: np.ndarray, v: np.ndarray, inner: np.ndarray, finish: np.ndarray
) -> float:
    """Seconds before which no node of the module starts."""
    ready = np.full(len(module), -np.inf)
    np.maximum.at(ready, np.searchsorted(module, v), finish[u])
    ready[np.searchsorted(module, inner)] = np.maximum(ready[np.searchsorted(module, inner)], 0.0)
    has = np.isin(module, inner)  # waits for another node of the module, which is no earlier
    return max(float(np.where(has, np.inf, ready).min()), 0.0)


def _length(
    instance: Instance, part: Partial, key: tuple[int, int], at: tuple[float, float]
) -> float:
    """Seconds from the finish of a transfer's producer to its arrival."""
    u, to = key
    k = part.place[instance.group[u]]
    if instance.staged:
        last = instance.link_time[instance.port[to], u]
    else:
        last = instance.link_time[instance.wire[k, to], u]
    return float(at[1] + last - part.start[u] - instance.time[u, k])


def _busy(
    instance: Instance,
    part: Partial,
    module: np.ndarray,
    finish: np.ndarray,
    single: np.ndarray,
    earliest: float,
) -> list[tuple[int, float, float]]:
    """(device, begin, end) of what occupies the devices, nodes of their own aside."""
    device = part.place[instance.group]
    result: list[tuple[int, float, float]] = []
    late = part.placed & ~single & (finish > earliest) & (finish > part.start)
    for k in np.flatnonzero(~instance.unlimited).tolist():
        mine = np.flatnonzero(late & (device == k))
        if not len(mine):
            continue
        mine = mine[np.argsort(part.start[mine], kind="stable")]
        begin, end = part.start[mine], finish[mine]
        gap = begin[1:] - end[:-1]
        # Between two of them may lie a node of its own, which must stay out of the stretch.
        own = part.start[single & (device == k)]
        before = np.searchsorted(np.sort(own), begin)
        inside = before[1:] > before[:-1]
        least = float(instance.time[module, k].min(initial=np.inf)) * (1 - 1e-9)
        if len(gap) > STRETCHES:
            least = max(least, float(np.sort(gap)[-STRETCHES]))
        join = ~inside & (gap < least)
        heads = np.flatnonzero(np.concatenate([[True], ~join]))
        tails = np.concatenate([heads[1:] - 1, [len(mine) - 1]])
        result += [(k, float(begin[a]), float(end[z])) for a, z in zip(heads, tails, strict=True)]
    return result


def induced(instance: Instance, nodes: np.ndarray) -> Instance:
    """The instance of some nodes, ascending, with the edges among them; without memory."""
    number = np.full(instance.n, -1, np.int64)
    number[nodes] = np.arange(len(nodes))
    edges = number[instance.edges]
    none = np.zeros(len(nodes), np.int64), np.zeros(1, np.int64), *(np.zeros(0, np.int64),) * 2
    return _instance(
        instance,
        instance.time[nodes],
        edges[(edges >= 0).all(axis=1)],
        instance.group[nodes],
        np.ascontiguousarray(instance.link_time[:, nodes]),
        none,
    )


def _instance(
    instance: Instance,
    time: np.ndarray,
    edges: np.ndarray,
    group: np.ndarray,
    link_time: np.ndarray,
    memory: tuple[np.ndarray, ...],
) -> Instance:
    """An instance of other nodes on the same devices."""
    size, shared_ptr, shared_node, shared_bytes = memory
    return rebuilt(
        instance,
        group,
        edges,
        time=time,
        phase=np.zeros(len(time), np.int8),
        node_bytes=size,
        shared_ptr=shared_ptr,
        shared_node=shared_node,
        shared_bytes=shared_bytes,
        link_time=link_time,
    )


def _memory(
    instance: Instance, part: Partial, module: np.ndarray, anchor: dict[int, int], count: int
) -> tuple[np.ndarray, ...]:
    """Bytes of all nodes, and shared weights: of a whole group with its first node.

    Groups that are placed count with the node `anchor` of their device; the module's nodes are the
    last of `count`.
    """
    group = instance.group
    holder = np.full(len(part.place), -1, np.int64)
    # Backwards, so that the first node of a group is the one that stays.
    holder[group[module][::-1]] = (count - len(module) + np.arange(len(module)))[::-1]
    placed = np.flatnonzero(part.place >= 0)
    holder[placed] = [anchor[k] for k in part.place[placed].tolist()]
    size = np.zeros(count, np.int64)
    here = holder[group] >= 0
    np.add.at(size, holder[group[here]], instance.node_bytes[here])
    T = len(instance.shared_bytes)
    weight = np.repeat(np.arange(T), np.diff(instance.shared_ptr))
    reader = holder[group[instance.shared_node]]
    reads = np.unique((weight * count + reader)[reader >= 0])
    weight, reader = np.divmod(reads, count)
    return size, np.searchsorted(weight, np.arange(T + 1)), reader, instance.shared_bytes
