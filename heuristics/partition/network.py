"""What a graph partitioner sees of an instance: units as vertices, transfers as weighted edges.

A partitioner knows neither directions nor devices. A vertex weighs its share of the work, as a mean
over the devices in question; an edge weighs the seconds of the payloads that would have to travel
were it cut, each counted on every edge that carries it (as the published code does).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from heuristics.shared.space import Space
from problems.instance import Instance

# Sum of all loads, and of all costs, of a graph in whole numbers: within 32 bits.
TOTAL = 2**29


class Network(NamedTuple):
    """The structure, U vertices and E undirected edges; an edge stands in two rows.

    Attributes
    ----------
    ptr, neighbour, edge : int64 arrays, shapes (U + 1,), (2E,), (2E,)
        Neighbours of every unit, ascending, and the edges to them.
    producer, carries : int64 arrays, shape (.,)
        Nodes whose payload some other unit reads, and the edge to that unit.
    bytes : float64 array, shape (U,)
        Memory of every unit, shared weights in equal parts to their readers.
    """

    ptr: np.ndarray
    neighbour: np.ndarray
    edge: np.ndarray
    producer: np.ndarray
    carries: np.ndarray
    bytes: np.ndarray


class Graph(NamedTuple):
    """A weighted graph in whole numbers, V vertices.

    Attributes
    ----------
    ptr, neighbour, cost : int64 arrays, shapes (V + 1,), (2E,), (2E,)
        Adjacency, each edge in both rows, and the positive cost of cutting it.
    load : int64 array, shape (V,)
        Positive.
    """

    ptr: np.ndarray
    neighbour: np.ndarray
    cost: np.ndarray
    load: np.ndarray


def build(instance: Instance, space: Space) -> Network:
    """The structure for all devices."""
    U = len(space.unit_bytes)
    u, v = instance.edges[:, 0], instance.edges[:, 1]
    a, b = space.unit[u], space.unit[v]
    across = a != b
    # A producer counts once for every unit that reads it.
    once = np.unique(u[across] * U + b[across])
    producer, reader = once // U, once % U
    owner = space.unit[producer]
    pair = np.minimum(owner, reader) * U + np.maximum(owner, reader)
    pairs, carries = np.unique(pair, return_inverse=True)
    low, high = pairs // U, pairs % U
    row, column = np.concatenate([low, high]), np.concatenate([high, low])
    order = np.lexsort((column, row))
    readers = np.diff(space.weight_ptr)
    weights = np.bincount(space.weight, minlength=len(space.shared_bytes))
    parts = (space.shared_bytes / np.maximum(weights, 1))[space.weight]
    shared = np.bincount(np.repeat(np.arange(U), readers), parts, U)
    return Network(
        np.searchsorted(row[order], np.arange(U + 1)).astype(np.int64),
        column[order].astype(np.int64),
        np.tile(np.arange(len(pairs)), 2)[order].astype(np.int64),
        producer.astype(np.int64),
        carries.reshape(-1).astype(np.int64),
        space.unit_bytes + shared,
    )


def seconds(instance: Instance, space: Space, network: Network, devices: np.ndarray) -> np.ndarray:
    """Mean seconds over the pairs of `devices` that a cut edge costs, by row, shape (2E,)."""
    links = space.links[np.ix_(devices, devices)]
    apart = links[~np.eye(len(devices), dtype=bool)]
    share = np.bincount(apart.ravel(), minlength=len(instance.link_time)).astype(float)
    share /= max(1, len(apart))
    payload = share @ instance.link_time
    each = np.bincount(network.carries, payload[network.producer], len(network.edge) // 2)
    # Of nothing, numpy's sums are whole numbers: compiled code would be compiled once more.
    result: np.ndarray = each[network.edge].astype(float)
    return result


def work(space: Space, devices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Share of the work in every unit, shape (U,), and relative speed of `devices`.

    A unit's share is the mean, over those of the devices that support it, of its part of all that
    the device supports. Speed is supported work by time.
    """
    share, done, total = _work(space.unit_time, devices)
    if not total.any():  # nothing takes time: all units and devices alike
        return np.ones(len(share)), np.ones(len(devices))
    return share, np.maximum(done / np.maximum(total, total.max() * 1e-9), 1e-9)


@njit(cache=True)
def _work(time, devices):  # type: ignore[no-untyped-def]
    """Share of every unit, shape (U,); work and seconds that each device supports, shape (P,)."""
    U, P = len(time), len(devices)
    total, done = np.zeros(P), np.zeros(P)
    for g in range(U):
        for i in range(P):
            if time[g, devices[i]] < np.inf:
                total[i] += time[g, devices[i]]
    floor = total.max() * 1e-9
    share = np.zeros(U)
    for g in range(U):
        count = 0
        for i in range(P):
            seconds = time[g, devices[i]]
            if seconds < np.inf:
                count += 1
                if seconds > 0:
                    share[g] += seconds / max(total[i], floor)
        if count > 0:
            share[g] /= count
        for i in range(P):
            if time[g, devices[i]] < np.inf:
                done[i] += share[g]
    return share, done, total


def graph(network: Network, load: np.ndarray, cost: np.ndarray) -> Graph:
    """The graph in whole numbers; `load`, shape (U,), and `cost`, shape (2E,), in any unit.

    Without edges the units are strung on a path, since not every partitioner takes isolated
    vertices only; a cut of it costs the same wherever it is.
    """
    ptr, neighbour, U = network.ptr, network.neighbour, len(load)
    if not len(neighbour):
        row = np.arange(U)
        both = np.stack([row - 1, row + 1], axis=1)
        inside = (both >= 0) & (both < U)
        ptr = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        neighbour, cost = both[inside], np.ones(int(inside.sum()))
    return Graph(ptr, neighbour, _whole(cost), _whole(load))


def coarse(full: Graph, size: int) -> tuple[Graph, np.ndarray]:
    """Contract runs of consecutive vertices of about equal load to at most `size` vertices.

    Returns
    -------
    Graph
    int64 array, shape (V,)
        Its vertex for each of the full graph's.
    """
    before = np.cumsum(full.load) - full.load
    label = before * size // max(1, int(full.load.sum()))
    label = np.unique(label, return_inverse=True)[1].astype(np.int64)
    V = int(label.max()) + 1
    row = label[np.repeat(np.arange(len(full.load)), np.diff(full.ptr))]
    column = label[full.neighbour]
    apart = row != column
    pairs, where = np.unique(row[apart] * V + column[apart], return_inverse=True)
    cost = np.bincount(where.reshape(-1), full.cost[apart], len(pairs)).astype(np.int64)
    ptr = np.searchsorted(pairs // V, np.arange(V + 1)).astype(np.int64)
    load = np.bincount(label, full.load, V).astype(np.int64)
    return Graph(ptr, pairs % V, cost, load), label


def _whole(values: np.ndarray) -> np.ndarray:
    """Positive whole numbers in proportion, of a sum of about :data:`TOTAL` at most."""
    total = float(values.sum())
    scale = TOTAL / total if total > 0 else 0.0
    return np.maximum(np.rint(values * scale), 1).astype(np.int64)
