"""Places that no answer better than a known one uses: what work before and after a group decides.

With weights w_k >= 0, one a device, any set S of groups takes sum over g in S of min_k w_k p_k(g)
at least, weighted, and b devices have b times the known period at most, weighted: the sum of the b
largest w_k times the period. Hence what must come before a group of a chain says how many positions
it cannot have, and what must come after it likewise. The same goes for bytes and memories.
"""

from __future__ import annotations

import numpy as np

from problems.graph import topological_order
from solvers.formulations._contract import Contracted

MARGIN = 1 - 1e-9
"""Sums of work are lowered by this before they rule something out."""

LARGEST = 5_000
"""Groups beyond which it is not done: memory grows with the square."""


def fitting(c: Contracted, upper: float) -> np.ndarray:
    """Whether a group runs on a device, alone, within `upper` seconds; bool array, shape (G, K)."""
    result: np.ndarray = c.supported & (c.work.sum(axis=0) * MARGIN <= upper)
    return result


def windows(
    c: Contracted, upper: float, positions: int, memory: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """First and last position of each group in a chain of `positions` devices within `upper`.

    Parameters
    ----------
    upper : float
        Seconds; inf without a known answer.
    memory : float64 array, shape (K,)
        Bytes of each device.

    Returns
    -------
    int64 arrays, shape (G,)
        0..positions-1; first > last where no answer is within `upper` seconds.
    """
    G = len(c.supported)
    first, last = np.zeros(G, np.int64), np.full(G, positions - 1)
    if G > LARGEST:
        return first, last
    work = np.where(fitting(c, upper), c.work.sum(axis=0), np.inf)
    needs = [(c.bytes, memory)]
    if np.isfinite(upper) and np.isfinite(work.min(axis=1)).all():
        needs += [((work * w).min(axis=1) * MARGIN, w * upper) for w in _weights(work)]
    before = _reach(c.order, G)
    for amount, capacity in needs:
        held = np.concatenate([[0.0], np.cumsum(np.sort(capacity)[::-1])])
        # All that comes before, and the group itself, fits into so many devices at best.
        np.maximum(first, np.searchsorted(held, before @ amount) - 1, out=first)
        np.minimum(last, positions - np.searchsorted(held, before.T @ amount), out=last)
    return first, last


def _weights(work: np.ndarray) -> list[np.ndarray]:
    """All devices alike, and by speed: least total work of a device's groups to its own."""
    K = work.shape[1]
    fast = np.where(np.isfinite(work), work.min(axis=1, keepdims=True), 0.0).sum(axis=0)
    mine = np.where(np.isfinite(work), work, 0.0).sum(axis=0)
    speed = np.divide(fast, mine, out=np.ones(K), where=mine > 0)
    return [np.ones(K), np.maximum(speed, 1e-9)]  # 0 times the inf of what does not run is NaN


def _reach(order: np.ndarray, count: int) -> np.ndarray:
    """result[g, h]: a path of `order` leads from h to g, or h is g; bool array, shape (G, G)."""
    reach = np.eye(count, dtype=bool)
    pairs = order[np.argsort(order[:, 1], kind="stable")]
    before: list[list[int]] = [[] for _ in range(count)]
    for a, b in pairs.tolist():
        before[b].append(a)
    # None where groups order each other in a cycle: then it takes a few passes.
    sequence = topological_order(count, before)
    while True:
        known = reach.sum()
        for b in range(count) if sequence is None else sequence:
            if before[b]:
                reach[b] |= reach[before[b]].any(axis=0)
        if sequence is not None or reach.sum() == known:
            return reach
