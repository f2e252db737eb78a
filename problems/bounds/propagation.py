"""Latency: what must hold in every schedule of a makespan of at most U.

Repeated until nothing changes, over nodes v and classes c of alike devices:

* heads and tails (:mod:`problems.bounds.headtail`) over what is still possible;
* the producers of v, direct and indirect, are done before v starts: with load multipliers lambda,
  H(v, c) >= r + sum of min_c lambda_c p_c(u) over the producers u with H(u, .) >= r, for every r;
* v cannot be on c if H(v, c) + p_c(v) + T(v, c) > U;
* v shares the device of a cluster if the transfers from and to it fit for no other device within
  U. Nodes that share a device form a cluster, which fits that device's memory, and runs there one
  node at a time:
  H(v, c) >= r + sum of p_c(u) over the producers u in v's cluster with H(u, c) >= r, and the
  cluster cannot be on c if r + q + sum of p_c over its nodes with H >= r, T >= q exceeds U.

A node or cluster without a device is a contradiction: no schedule takes U or less. The scheme is
that of destructive bounds (Klein and Scholl, 1999, European J. of Operational Research 112).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numba import njit

from problems.bounds.allowed import groups_of
from problems.bounds.load_lp import best_multipliers
from problems.instance import Instance
from problems.latency import communication

MARGIN = 1e-9  # relative; far above the rounding of sums of a few thousand times
PASSES = 40


@dataclass(frozen=True, eq=False)
class Case:
    """An instance with one device for each of C classes of alike devices.

    Attributes
    ----------
    time : float64 array, shape (n, C)
        p; inf where not supported.
    allowed : bool array, shape (G, C)
        Where each colocation group can be at all.
    bytes : int64 array, shape (G,)
        What a group adds to the memory of its device for certain.
    memory : float64 array, shape (C,)
    several, limited : bool arrays, shape (C,)
        Whether there are several devices in the class; whether they run one node at a time.
    weight : float64 array, shape (C,)
        Load multipliers; those of all devices add up to 1.
    links : int64 array, shape (C, C, 2)
        Links between two different devices of these classes.
    above, below : bool arrays, shape (n, n)
        Whether u is a producer (consumer) of v, direct or indirect, at [v, u].
    """

    instance: Instance
    time: np.ndarray
    allowed: np.ndarray
    bytes: np.ndarray
    memory: np.ndarray
    several: np.ndarray
    limited: np.ndarray
    weight: np.ndarray
    links: np.ndarray
    above: np.ndarray
    below: np.ndarray


@dataclass(frozen=True, eq=False)
class State:
    """What is left under some U.

    Attributes
    ----------
    cluster : int64 array, shape (n,)
        Nodes with equal numbers share a device.
    allowed : bool array, shape (G, C)
        By number of cluster.
    held : int64 array, shape (G,)
        Bytes of a cluster for certain.
    head, tail : float64 arrays, shape (n, C)
        Seconds.
    """

    cluster: np.ndarray
    allowed: np.ndarray
    held: np.ndarray
    head: np.ndarray
    tail: np.ndarray


def case_of(instance: Instance) -> Case:
    """Prepare an instance; n x n bytes are used."""
    one, count = np.unique(instance.device_class, return_index=True, return_counts=True)[1:]
    groups = groups_of(instance)
    links = communication(instance)
    between = links[np.ix_(one, one)].copy()
    for c, first in enumerate(one):
        others = np.flatnonzero(instance.device_class == c)
        between[c, c] = links[first, others[-1]]
    if instance.unlimited.all():
        weight = np.zeros(len(one))
    else:
        whole = groups.time.sum(axis=0, keepdims=True)
        weight = best_multipliers(instance, groups, whole)[1].load[0][one]
        # Exactly alike devices may have multipliers that differ in the last bit.
        weight = weight / max(1.0, float((weight * count).sum())) * (1 - 1e-15 * instance.K)
    above = np.zeros((instance.n, instance.n), np.bool_)
    for v in range(instance.n):
        direct = instance.pred[instance.pred_ptr[v] : instance.pred_ptr[v + 1]]
        above[v] = above[direct].any(axis=0)
        above[v, direct] = True
    return Case(
        instance,
        np.ascontiguousarray(instance.time[:, one]),
        groups.allowed[:, one],
        groups.bytes,
        instance.memory[one],
        count > 1,
        ~instance.unlimited[one],
        weight,
        between,
        above,
        np.ascontiguousarray(above.T),
    )


def propagate(
    case: Case,
    limit: float,
    known: State | None = None,
    passes: int = PASSES,
    end: float = np.inf,
) -> State | None:
    """What is left if the makespan is at most `limit` seconds; None if nothing is.

    Parameters
    ----------
    known : State or None
        What is left already, under this limit or a larger one.
    end : float
        Moment of ``time.monotonic()`` after which no pass begins: what is left then is left.
    """
    instance = case.instance
    left = start(case) if known is None else known
    cluster, allowed, held = left.cluster.copy(), left.allowed.copy(), left.held.copy()
    head, tail = left.head.copy(), left.tail.copy()
    top = limit * (1 + MARGIN)
    for _ in range(passes):
        if time.monotonic() > end:
            break
        changed = _pass(
            top, case.time, allowed, cluster, held, case.memory, case.several, case.limited,
            case.weight, instance.pred_ptr, instance.pred, instance.succ_ptr, instance.succ,
            instance.link_time, case.links, case.above, case.below, head, tail,
        )  # fmt: skip
        if changed < 0:
            return None
        if changed == 0:
            break
    return State(cluster, allowed, held, head, tail)


def start(case: Case) -> State:
    """What is left without any limit."""
    zero = np.zeros(case.time.shape)
    return State(case.instance.group, case.allowed, case.bytes, zero, zero)


@njit(cache=True)
def _pass(  # type: ignore[no-untyped-def]
    top, time, allowed, cluster, held, memory, several, limited, weight, pred_ptr, pred, succ_ptr,
    succ, link_time, links, above, below, head, tail,
):  # fmt: skip
    """One round; number of changes, or -1 on a contradiction. Changes its arrays in place."""
    n, C = time.shape
    changes = _ends(top, time, allowed, cluster, pred_ptr, pred, link_time, links, True, head, tail)
    changes += _ends(
        top, time, allowed, cluster, succ_ptr, succ, link_time, links, False, tail, head
    )
    share = np.full(n, np.inf)
    for v in range(n):
        for c in range(C):
            if allowed[cluster[v], c]:
                share[v] = min(share[v], weight[c] * time[v, c])
    changes += _after_load(share, allowed, cluster, above, head)
    changes += _after_load(share, allowed, cluster, below, tail)
    order = np.argsort(cluster)
    first = 0
    while first < n:
        last = first + 1
        while last < n and cluster[order[last]] == cluster[order[first]]:
            last += 1
        mine = order[first:last]
        g = cluster[mine[0]]
        for c in range(C):
            if not allowed[g, c]:
                continue
            if limited[c] and len(mine) > 1:
                changes += _one_by_one(mine, time, c, above, head)
                changes += _one_by_one(mine, time, c, below, tail)
            possible = held[g] <= memory[c]
            for v in mine:
                possible = possible and head[v, c] + time[v, c] + tail[v, c] <= top
            if possible and limited[c] and len(mine) > 1:
                possible = _fits(mine, time, c, head, tail, top)
            if not possible:
                allowed[g, c] = False
                changes += 1
        if not allowed[g].any():
            return -1
        first = last
    for v in range(n):
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            u = pred[i]
            a, b = cluster[u], cluster[v]
            if a == b or (
                _can_part(
                    v, a, top, time, allowed, cluster, several, pred_ptr, pred, succ_ptr, succ,
                    link_time, links, head, tail,
                )
                and _can_part(
                    u, b, top, time, allowed, cluster, several, pred_ptr, pred, succ_ptr, succ,
                    link_time, links, head, tail,
                )
            ):  # fmt: skip
                continue
            changes += 1
            held[a] += held[b]
            for c in range(C):
                allowed[a, c] = allowed[a, c] and allowed[b, c] and held[a] <= memory[c]
            for w in range(n):
                if cluster[w] == b:
                    cluster[w] = a
            if not allowed[a].any():
                return -1
    return changes


@njit(cache=True)
def _raise(value, old):  # type: ignore[no-untyped-def]
    """Whether a value is larger by enough to count as a change."""
    return value > old + 1e-7 * abs(old) + 1e-300


@njit(cache=True)
def _ends(  # type: ignore[no-untyped-def]
    top, time, allowed, cluster, ptr, near, link_time, links, forward, mine, other
):
    """Heads (`forward`) or tails over the edges; `mine` is raised, `other` is the opposite."""
    n, C = time.shape
    changes = 0
    for step in range(n):
        v = step if forward else n - 1 - step
        for c in range(C):
            if not allowed[cluster[v], c]:
                continue
            value = mine[v, c]
            rest = time[v, c] + other[v, c]
            for i in range(ptr[v], ptr[v + 1]):
                u = near[i]
                same = cluster[u] == cluster[v]
                least = np.inf
                for d in range(C):
                    if not allowed[cluster[u], d]:
                        continue
                    end = mine[u, d] + time[u, d]
                    if d != c:
                        if same:
                            continue
                        # The payload is the producer's, and goes from it to the consumer.
                        if forward:
                            end += link_time[links[d, c, 0], u] + link_time[links[d, c, 1], u]
                        else:
                            end += link_time[links[c, d, 0], v] + link_time[links[c, d, 1], v]
                    if end < least and end + rest <= top:
                        least = end
                value = max(value, least)
            if _raise(value, mine[v, c]):
                changes += 1
            mine[v, c] = value
    return changes


@njit(cache=True)
def _after_load(share, allowed, cluster, before, mine):  # type: ignore[no-untyped-def]
    """Raise heads (or tails) by the load of all that comes before (or after)."""
    n, C = mine.shape
    earliest = np.full(n, np.inf)
    for v in range(n):
        for c in range(C):
            if allowed[cluster[v], c]:
                earliest[v] = min(earliest[v], mine[v, c])
    order = np.argsort(-earliest)
    changes = 0
    for v in range(n):
        row = before[v]
        total, best = 0.0, 0.0
        for u in order:
            if row[u]:
                total += share[u]
                best = max(best, earliest[u] + total)
        for c in range(C):
            if _raise(best, mine[v, c]):
                changes += 1
            mine[v, c] = max(mine[v, c], best)
    return changes


@njit(cache=True)
def _one_by_one(nodes, time, c, before, mine):  # type: ignore[no-untyped-def]
    """Raise heads (or tails) on c by what of the cluster comes before (or after), one by one."""
    key = np.empty(len(nodes))
    for i, v in enumerate(nodes):
        key[i] = -mine[v, c]
    order = np.argsort(key)
    changes = 0
    for v in nodes:
        total, best = 0.0, 0.0
        for i in order:
            u = nodes[i]
            if before[v, u]:
                total += time[u, c]
                best = max(best, total - key[i])
        if _raise(best, mine[v, c]):
            changes += 1
        mine[v, c] = max(mine[v, c], best)
    return changes


@njit(cache=True)
def _fits(nodes, time, c, head, tail, top):  # type: ignore[no-untyped-def]
    """Whether no r + q + work between them exceeds the limit on one device."""
    key = np.empty(len(nodes))
    for i, v in enumerate(nodes):
        key[i] = -tail[v, c]
    order = np.argsort(key)
    for v in nodes:
        r, total = head[v, c], 0.0
        for i in order:
            u = nodes[i]
            if head[u, c] >= r:
                total += time[u, c]
                if r + total - key[i] > top:
                    return False
    return True


@njit(cache=True)
def _can_part(  # type: ignore[no-untyped-def]
    v, g, top, time, allowed, cluster, several, pred_ptr, pred, succ_ptr, succ, link_time, links,
    head, tail,
):  # fmt: skip
    """Whether v can be on another device than cluster g within the limit."""
    C = time.shape[1]
    for c in range(C):
        if not allowed[cluster[v], c]:
            continue
        before, after = head[v, c], tail[v, c]
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            u = pred[i]
            if cluster[u] != g:
                continue
            least = np.inf
            for d in range(C):
                if allowed[g, d] and (d != c or several[c]):
                    delay = link_time[links[d, c, 0], u] + link_time[links[d, c, 1], u]
                    least = min(least, head[u, d] + time[u, d] + delay)
            before = max(before, least)
        for i in range(succ_ptr[v], succ_ptr[v + 1]):
            w = succ[i]
            if cluster[w] != g:
                continue
            least = np.inf
            for d in range(C):
                if allowed[g, d] and (d != c or several[c]):
                    delay = link_time[links[c, d, 0], v] + link_time[links[c, d, 1], v]
                    least = min(least, delay + time[w, d] + tail[w, d])
            after = max(after, least)
        if before + time[v, c] + after <= top:
            return True
    return False
