"""Atoms: what modules are made of, the order among them, and the traffic between them.

An atom is a colocation group, or several that the order ties into a cycle. Such cycles can swallow
a graph: training graphs have groups of a forward and a backward node, so that all groups of a chain
reach each other. Where only time orders the nodes (`latency`), atoms then are single nodes, and a
group is placed by the module that meets it first; where nothing does (`throughput` placed freely),
they are groups by number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from heuristics.shared.space import topological
from problems import throughput
from problems.instance import Instance
from problems.rules import ThroughputRules


class Atoms(NamedTuple):
    """A atoms, numbered topologically.

    Attributes
    ----------
    atom : int64 array, shape (n,)
        Atom of every node.
    pairs : int64 array, shape (., 2)
        Distinct pairs a < b: atom a comes before b.
    flow : int64 array, shape (F, 2)
        Distinct pairs a < b between which payloads go, either way.
    traffic : float64 array, shape (F,)
        Seconds of those payloads, the mean over the links. An instance knows no bytes, and seconds
        grow with them. Once for every edge.
    """

    atom: np.ndarray
    pairs: np.ndarray
    flow: np.ndarray
    traffic: np.ndarray

    @property
    def number(self) -> int:
        """How many there are."""
        return int(self.atom.max()) + 1


def build(instance: Instance) -> Atoms:
    """The atoms of a `throughput` or `latency` instance."""
    group, edges, rules = instance.group, instance.edges, instance.rules
    before = edges
    if isinstance(rules, ThroughputRules):
        before = throughput.order_edges(instance)
    atom, pairs = _acyclic(group, group[before])
    cyclic = int(atom.max()) < int(group.max())
    if cyclic and not isinstance(rules, ThroughputRules):
        atom, pairs = np.arange(instance.n), edges
    elif cyclic and isinstance(rules, ThroughputRules) and not rules.contiguous:
        atom, pairs = group, group[before]
        pairs = _distinct(pairs[pairs[:, 0] < pairs[:, 1]])
    seconds = instance.link_time[1:].mean(axis=0) if len(instance.link_time) > 1 else None
    ends = np.sort(atom[edges], axis=1)
    apart = ends[:, 0] != ends[:, 1]
    flow, index = np.unique(ends[apart], axis=0, return_inverse=True)
    payload = np.zeros(instance.n) if seconds is None else seconds
    traffic: np.ndarray = np.bincount(index.reshape(-1), payload[edges[apart, 0]], len(flow))
    if not traffic.any():
        traffic = np.ones(len(flow))
    return Atoms(atom, pairs, flow.reshape(-1, 2).astype(np.int64), traffic)


def components(count: int, pairs: np.ndarray) -> np.ndarray:
    """Strongly connected component of each of `count` things, numbered topologically.

    Ties go by the first member.
    """
    matrix = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    number, label = connected_components(matrix, directed=True, connection="strong")
    pairs = label[pairs].astype(np.int64)
    pairs = _distinct(pairs[pairs[:, 0] != pairs[:, 1]])
    first = np.full(number, count, np.int64)
    np.minimum.at(first, label, np.arange(count))
    ptr = np.searchsorted(pairs[:, 0], np.arange(number + 1)).astype(np.int64)
    order = topological(ptr, np.ascontiguousarray(pairs[:, 1]), first.astype(float))
    rank = np.empty(number, np.int64)
    rank[order] = np.arange(number)
    result: np.ndarray = rank[label]
    return result


def _acyclic(group: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Component of every node, and the distinct pairs among components."""
    of_group = components(int(group.max()) + 1, pairs)
    pairs = of_group[pairs]
    return of_group[group], _distinct(pairs[pairs[:, 0] != pairs[:, 1]])


def _distinct(pairs: np.ndarray) -> np.ndarray:
    return np.unique(pairs, axis=0).reshape(-1, 2).astype(np.int64)
