"""Orders of units: depth first, and with what branches contracted to a path."""

from __future__ import annotations

from typing import Literal

import networkx as nx
import numpy as np
from numba import njit
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from heuristics.shared.space import Space

# Units without work whose payload is at most this share of the mean one of units with work count
# as inputs.
LIGHT = 0.05


@njit(cache=True)
def depth_first(ptr, after, key):  # type: ignore[no-untyped-def]
    """Topological order that follows a branch to its end; of what is ready last, small keys first.

    Rows as in :func:`heuristics.shared.space.topological`.
    """
    count = len(ptr) - 1
    missing = np.zeros(count, np.int64)
    for i in range(len(after)):
        missing[after[i]] += 1
    stack = np.empty(count, np.int64)
    order = np.empty(count, np.int64)
    top = filled = base = 0
    for r in range(count):
        if missing[r] == 0:
            top = _push(stack, base, top, r, key)
    while top > 0:
        top -= 1
        r = stack[top]
        order[filled] = r
        filled += 1
        base = top
        for i in range(ptr[r], ptr[r + 1]):
            missing[after[i]] -= 1
            if missing[after[i]] == 0:
                top = _push(stack, base, top, after[i], key)
    return order[:filled]


@njit(cache=True)
def _push(stack, base, top, r, key):  # type: ignore[no-untyped-def]
    """Put r among stack[base:top], whose keys fall; returns the new top."""
    i = top
    while i > base and key[stack[i - 1]] < key[r]:
        stack[i] = stack[i - 1]
        i -= 1
    stack[i] = r
    return top + 1


def paths(space: Space) -> list[tuple[np.ndarray, np.ndarray]]:
    """The units in the order of a path, and where it may be cut: in two ways.

    As the PipeDream baseline of Tarnawski et al. 2020 does: the producers of every biconnected
    component of the (undirected) graph are one piece, pieces on a cycle are one, a piece without
    work joins its only neighbour, and the pieces follow each other depth first. Of several that are
    ready, that program takes the one that its containers hold last; here the first and the last one
    are tried. Edges from inputs and the like do not count for the components; that program names
    such nodes by hand, here :func:`_inputs` finds them.

    Returns
    -------
    list of (order, cut)
        int64 array of shape (U,) and bool array of shape (U + 1,).
    """
    U = len(space.unit_bytes)
    pairs = np.stack([np.repeat(np.arange(U), np.diff(space.after_ptr)), space.after], axis=1)
    seen = pairs[~_inputs(space)[pairs[:, 0]]]
    graph: nx.Graph[int] = nx.Graph()
    graph.add_edges_from(seen.tolist())
    same = [pairs[:0]]
    for component in nx.biconnected_component_edges(graph):
        # Unit numbers are topological: the producer of an edge is its smaller end.
        producers = np.array(component).reshape(-1, 2).min(axis=1)
        same.append(np.stack([producers[:1].repeat(len(producers)), producers], axis=1))
    piece = _label(U, np.concatenate(same), "weak")
    piece = _label(int(piece.max()) + 1, piece[pairs], "strong")[piece]
    leaves = _idle_leaves(piece, pairs, (space.unit_time == 0).all(axis=1))
    piece = _label(int(piece.max()) + 1, leaves, "weak")[piece]
    count = int(piece.max()) + 1
    links = np.unique(piece[pairs], axis=0)
    links = links[links[:, 0] != links[:, 1]]
    ptr = np.searchsorted(links[:, 0], np.arange(count + 1)).astype(np.int64)
    first = np.full(count, U)
    np.minimum.at(first, piece, np.arange(U))
    follow = np.ascontiguousarray(links[:, 1])
    found = []
    for key in (first, -first):
        position = np.empty(count, np.int64)
        position[depth_first(ptr, follow, key.astype(float))] = np.arange(count)
        order = np.argsort(position[piece], kind="stable").astype(np.int64)
        placed = position[piece][order]
        cut = np.concatenate([[True], placed[1:] != placed[:-1], [True]])
        found.append((order, cut))
    return found


def _idle_leaves(piece: np.ndarray, pairs: np.ndarray, idle: np.ndarray) -> np.ndarray:
    """Pairs of pieces: one without work and its only neighbour, one after the other."""
    works = np.bincount(piece, ~idle) > 0
    graph: nx.Graph[int] = nx.Graph()
    graph.add_edges_from((a, b) for a, b in piece[pairs].tolist() if a != b)
    leaves = sorted(a for a, degree in graph.degree if degree == 1 and not works[a])
    found = []
    while leaves:
        leaf = leaves.pop()
        for other in list(graph[leaf]):  # none is left if the other one was a leaf, too
            found.append((leaf, other))
            graph.remove_edge(leaf, other)
            if graph.degree[other] == 1 and not works[other]:
                leaves.append(other)
    return np.array(found, np.int64).reshape(-1, 2)


def _inputs(space: Space) -> np.ndarray:
    """Units that do nothing and send next to nothing, as inputs and masks do; bool, shape (U,)."""
    payload = space.link_time.max(axis=0)
    U = len(space.unit_bytes)
    sent = np.zeros(U)
    np.maximum.at(sent, space.unit, payload)
    idle: np.ndarray = (space.unit_time == 0).all(axis=1)
    busy = sent[~idle]
    return idle & (sent <= LIGHT * (busy.mean() if len(busy) else 0.0))


def _label(count: int, pairs: np.ndarray, connection: Literal["weak", "strong"]) -> np.ndarray:
    matrix = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    label: np.ndarray = connected_components(matrix, directed=True, connection=connection)[1]
    return label.astype(np.int64)
