"""Breaking the symmetry of like devices."""

from __future__ import annotations

import numpy as np

from problems.instance import Instance

DEPTH = 40
"""Groups that take part: the rows grow with the square, and the first few do most of the work."""


def leaders(instance: Instance) -> np.ndarray:
    """The heaviest groups, heaviest first, at most :data:`DEPTH`; int64 array."""
    finite = np.where(np.isfinite(instance.time), instance.time, 0.0)
    weight = np.bincount(instance.group, finite.max(axis=1))
    return np.argsort(-weight, kind="stable")[:DEPTH]


def successors(classes: np.ndarray) -> list[tuple[int, int]]:
    """Pairs (j, k) of devices, j the next smaller one of k's class, for `classes` of shape (K,)."""
    pairs: list[tuple[int, int]] = []
    last: dict[int, int] = {}
    for k, c in enumerate(classes.tolist()):
        if c in last:
            pairs.append((last[c], k))
        last[c] = k
    return pairs


def canonical(order: np.ndarray, placed: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Relabel like devices by first use along `order`.

    Parameters
    ----------
    order : int array
        Groups, first ones first; the others follow by number.
    placed : int array, shape (G,)
        Device of every group.
    classes : int array, shape (K,)

    Returns
    -------
    int64 array, shape (G,)
        Device of every group, such that group ``order[i]`` is on device k only if an earlier one
        of `order` is on the next smaller device of k's class.
    """
    free = {int(c): np.flatnonzero(classes == c).tolist() for c in np.unique(classes)}
    to: dict[int, int] = {}
    for g in [*order.tolist(), *range(len(placed))]:
        k = int(placed[g])
        if k not in to:
            to[k] = free[int(classes[k])].pop(0)
    return np.array([to[int(k)] for k in placed], np.int64)
