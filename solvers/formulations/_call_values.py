"""Times and ranks of a given answer in the model of :mod:`solvers.formulations.calls`.

Slots are numbered as there: slot s = a q + j is call j of accelerator number a.
"""

from __future__ import annotations

import numpy as np

from problems.instance import Instance


def call_times(
    done: np.ndarray, takes: np.ndarray, x: np.ndarray, q: int
) -> tuple[np.ndarray, np.ndarray]:
    """Start and finish of every slot, shape (S,).

    Parameters
    ----------
    done : float64 array, shape (n,)
        When every node is done.
    takes : float64 array, shape (S,)
        How long every slot takes with its transfers, in the same unit.
    x : float64 array, shape (n, S)
        1 where the node runs in the slot.
    q : int
        Slots of an accelerator.
    """
    finish, last = np.zeros(len(takes)), 0.0
    for s in range(len(takes)):
        last = last if s % q else 0.0
        if x[:, s].any():
            last = done[x[:, s] > 0].max()
        finish[s] = last
    return np.maximum(finish - takes, 0.0), finish


def path_times(instance: Instance, cost: np.ndarray, head: np.ndarray) -> np.ndarray:
    """Longest path of compute to every node and through it, at least `head`; all of shape (n,)."""
    path = np.zeros(instance.n)
    for v in range(instance.n):
        before = instance.pred[instance.pred_ptr[v] : instance.pred_ptr[v + 1]]
        path[v] = max(path[before].max(initial=0.0) + cost[v], head[v])
    return path


def ranks(
    instance: Instance, x: np.ndarray, into: np.ndarray, q: int
) -> tuple[np.ndarray, np.ndarray]:
    """Least rank of every slot, shape (S,), and level of every node, shape (n,).

    Parameters
    ----------
    x, into : float64 arrays, shape (n, S)
        1 where the node runs in the slot, and where its payload enters it.
    q : int
        Slots of an accelerator.
    """
    slots = x.shape[1]
    rank, level = np.ones(slots), np.zeros(instance.n)
    for _ in range(slots + 1):  # longest paths: each pass settles at least one more slot
        for v in range(instance.n):
            before = instance.pred[instance.pred_ptr[v] : instance.pred_ptr[v + 1]]
            level[v] = max(level[before].max(initial=0.0), rank[x[v] > 0].max(initial=0.0))
        fed = np.where(into > 0, level[:, None] + 1, 1.0).max(axis=0)
        for s in range(slots):
            before_it = rank[s - 1] + 1 if s % q else 1.0
            rank[s] = max(rank[s], fed[s], before_it)
    return rank, level
