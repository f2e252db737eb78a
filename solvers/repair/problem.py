"""What is to be repaired, as plain arrays: a graph, a chain of chips, and memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from solvers.by_reference import by_reference

MOST_CHIPS = 62
"""Domains are the bits of one signed word."""
UNLIMITED = 2**53
"""Capacity in bytes of a chip without a limit; sums of 62 of them fit a word."""


@by_reference
class Problem(NamedTuple):
    """n nodes with m edges on C chips.

    Attributes
    ----------
    succ_ptr, succ : int64 arrays, shapes (n + 1,), (m,)
        Nodes that read what a node produces.
    pred_ptr, pred, pred_edge : int64 arrays, shapes (n + 1,), (m,), (m,)
        Nodes that a node reads, and the positions of those edges in `succ`.
    bytes : int64 array, shape (n,)
        Memory of a node apart from shared weights.
    weight_ptr, weight, shared_bytes : int64 arrays, shapes (n + 1,), (.,), (T,)
        Shared weights that each node reads; a chip holds each of its own once.
    capacity : int64 array, shape (C,)
    limited : bool
        Whether memory can be short at all.
    chips : int
    """

    succ_ptr: np.ndarray
    succ: np.ndarray
    pred_ptr: np.ndarray
    pred: np.ndarray
    pred_edge: np.ndarray
    bytes: np.ndarray
    weight_ptr: np.ndarray
    weight: np.ndarray
    shared_bytes: np.ndarray
    capacity: np.ndarray
    limited: bool
    chips: int


def build(
    nodes: int,
    edges: np.ndarray | Sequence[tuple[int, int]],
    chips: int,
    node_bytes: np.ndarray | Sequence[int] | None = None,
    capacity: np.ndarray | Sequence[float] | None = None,
    reads: np.ndarray | Sequence[tuple[int, int]] = (),
    shared_bytes: np.ndarray | Sequence[int] = (),
) -> Problem:
    """Arrays of a graph whose nodes are numbered topologically.

    Parameters
    ----------
    edges : int array, shape (m, 2)
        Pairs (u, v), u < v; repeated ones count once.
    node_bytes : int array, shape (nodes,)
        0 by default.
    capacity : float array, shape (chips,)
        Bytes, inf without a limit; none by default.
    reads : int array, shape (., 2)
        Pairs (node, shared weight).

    Raises
    ------
    ValueError
        If there is no node or no chip, there are more than :data:`MOST_CHIPS` chips, an edge does
        not go from a smaller number to a larger one, or shapes do not fit.
    """
    if nodes < 1:
        raise ValueError(f"nodes={nodes}: at least 1")
    if not 1 <= chips <= MOST_CHIPS:
        raise ValueError(f"chips={chips}: 1 to {MOST_CHIPS}")
    pairs = np.unique(np.asarray(edges, np.int64).reshape(-1, 2), axis=0)
    if len(pairs) and not (
        pairs[:, 0].min() >= 0 and pairs[:, 1].max() < nodes and (pairs[:, 0] < pairs[:, 1]).all()
    ):
        raise ValueError(f"edges: pairs (u, v) with 0 <= u < v < {nodes} only")
    held = np.zeros(nodes, np.int64) if node_bytes is None else np.asarray(node_bytes, np.int64)
    room = np.full(chips, np.inf) if capacity is None else np.asarray(capacity, float)
    shared = np.asarray(shared_bytes, np.int64)
    if held.shape != (nodes,) or room.shape != (chips,):
        raise ValueError(
            f"node_bytes of shape {held.shape} and capacity of shape {room.shape}"
            f" for {nodes} nodes and {chips} chips"
        )
    weights = np.unique(np.asarray(reads, np.int64).reshape(-1, 2), axis=0)
    if len(weights) and not (
        weights.min() >= 0 and weights[:, 0].max() < nodes and weights[:, 1].max() < len(shared)
    ):
        raise ValueError(f"reads: pairs of a node below {nodes} and a weight below {len(shared)}")
    limited = bool((room < held.sum() + shared.sum()).any())
    backwards = np.lexsort((pairs[:, 0], pairs[:, 1]))
    rows = np.arange(nodes + 1)
    return Problem(
        succ_ptr=np.searchsorted(pairs[:, 0], rows).astype(np.int64),
        succ=np.ascontiguousarray(pairs[:, 1]),
        pred_ptr=np.searchsorted(pairs[backwards, 1], rows).astype(np.int64),
        pred=np.ascontiguousarray(pairs[backwards, 0]),
        pred_edge=backwards.astype(np.int64),
        bytes=held.copy(),
        weight_ptr=np.searchsorted(weights[:, 0], rows).astype(np.int64),
        weight=np.ascontiguousarray(weights[:, 1]),
        shared_bytes=shared.copy(),
        capacity=np.floor(np.minimum(room, UNLIMITED)).astype(np.int64),
        limited=limited,
        chips=chips,
    )
