"""Problem `chips`: the largest load on a one-way chain of like chips (a multi-chip module).

The one definition of the objective and of the rules; solvers, heuristics, harness and page all use
it. The rules are those of the compiler partitioning of Xie et al. 2022 (arXiv 2112.04041): data
only flow forward (C1), no chip is skipped (C2), no direct dependency next to a longer one (C3),
memory (C4). :mod:`problems.rules` has what an instance may choose; the judge is
:mod:`problems.checker`.

Chip k is device k, and its link leads to chip k + 1: ``instance.wire[k, k + 1]``, the only wires
that an instance of `chips` has.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from problems.instance import Instance
from problems.placement import is_placeable
from problems.rules import ChipsRules

COMPUTE, RECEIVE, SEND = 0, 1, 2


def rules_of(instance: Instance) -> ChipsRules:
    """The rules of a chips instance.

    Raises
    ------
    ValueError
        If it is an instance of another problem.
    """
    if not isinstance(instance.rules, ChipsRules):
        raise ValueError(f"{instance.id} is a {instance.problem} instance, not chips")
    return instance.rules


def hops(instance: Instance) -> np.ndarray:
    """Link from each chip to the next, int64 array, shape (K - 1,): rows of ``link_time``."""
    k = np.arange(instance.K - 1)
    result: np.ndarray = instance.wire[k, k + 1]
    return result


def parts(instance: Instance, device: np.ndarray) -> np.ndarray:
    """Seconds a sample that each chip computes, receives and sends.

    Parameters
    ----------
    device : int array, shape (n,), values in 0..K-1
        Chip of every node; no edge may go backwards (:func:`is_forward`), or what it carries is
        not counted.

    Returns
    -------
    float64 array, shape (K, 3)
        Chip x (:data:`COMPUTE`, :data:`RECEIVE`, :data:`SEND`).
    """
    result: np.ndarray = _parts(
        np.ascontiguousarray(device, np.int64),
        instance.time,
        instance.succ_ptr,
        instance.succ,
        instance.link_time,
        hops(instance),
        rules_of(instance).through_traffic,
    )
    return result


def loads(instance: Instance, device: np.ndarray) -> np.ndarray:
    """Load of each chip in seconds a sample, shape (K,)."""
    overlap = rules_of(instance).overlap
    comp, receive, send = parts(instance, device).T
    result: np.ndarray
    if overlap == "none":
        result = comp + receive + send
    elif overlap == "half":
        result = np.maximum(comp, receive + send)
    else:
        result = np.maximum(comp, np.maximum(receive, send))
    return result


def period(instance: Instance, device: np.ndarray) -> float:
    """Objective of a mapping in seconds a sample; inf where a node is not supported."""
    return float(loads(instance, device).max())


def is_valid(instance: Instance, device: np.ndarray) -> bool:
    """Whether a mapping of shape (n,) into 0..K-1 keeps every rule of the instance."""
    return (
        is_forward(instance, device)
        and is_gapless(device)
        and is_placeable(instance, device)
        and not has_detour(quotient(instance, device))
    )


def is_forward(instance: Instance, device: np.ndarray) -> bool:
    """C1: whether no edge goes to an earlier chip."""
    return bool((device[instance.edges[:, 0]] <= device[instance.edges[:, 1]]).all())


def is_gapless(device: np.ndarray) -> bool:
    """C2: whether the chips in use are 0, 1, ... up to the last one, without a gap."""
    return bool(np.bincount(device).all())


def quotient(instance: Instance, device: np.ndarray) -> np.ndarray:
    """Which chip feeds which directly: bool array, shape (K, K), false for a chip and itself."""
    result = np.zeros((instance.K, instance.K), bool)
    chips = device[instance.edges]
    result[chips[:, 0], chips[:, 1]] = True
    np.fill_diagonal(result, False)
    return result


def has_detour(feeds: np.ndarray) -> bool:
    """C3 broken: whether some chip feeds another both directly and over others.

    Parameters
    ----------
    feeds : bool array, shape (K, K)
        Of :func:`quotient`, with edges to later chips only.
    """
    return bool(detour(np.ascontiguousarray(feeds))[0] >= 0)


@njit(cache=True)
def detour(feeds):  # type: ignore[no-untyped-def]
    """The first pair of chips (a, b) that breaks the triangle rule (C3); (-1, -1) without one."""
    K = feeds.shape[0]
    beyond = np.zeros((K, K), np.bool_)  # reached over at least one other chip
    for a in range(K - 1, -1, -1):
        for b in range(a + 1, K):
            if feeds[a, b]:
                for c in range(b + 1, K):
                    if feeds[b, c] or beyond[b, c]:
                        beyond[a, c] = True
        for b in range(a + 1, K):
            if feeds[a, b] and beyond[a, b]:
                return a, b
    return -1, -1


@njit(cache=True)
def _parts(device, time, succ_ptr, succ, link_time, hop, through):  # type: ignore[no-untyped-def]
    n, K = time.shape
    result = np.zeros((K, 3))
    seen = np.full(K, -1, np.int64)
    for u in range(n):
        k = device[u]
        result[k, COMPUTE] += time[u, k]
        last = k
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            to = device[succ[i]]
            if to > last:
                last = to
            if not through and to > k and seen[to] != u:
                seen[to] = u
                result[k, SEND] += link_time[hop[k], u]
                result[to, RECEIVE] += link_time[hop[to - 1], u]
        if through:
            for c in range(k, last):
                seconds = link_time[hop[c], u]
                result[c, SEND] += seconds
                result[c + 1, RECEIVE] += seconds
    return result
