"""What calls along a chain of nodes cost: parts of :mod:`problems.bounds.chain`.

A chain is a sequence of nodes each of which depends on the one before, directly or through others.
A call that holds some of it holds a run of it, for calls are convex.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
from numba import njit

from problems.calls import most_slots
from problems.instance import Instance

CASES = 16
"""Ways to say which accelerators hold which shared weights, at most; else weights are split."""
PIECE = 4_000_000
"""Steps between two looks at the clock: some milliseconds."""
STATES = 512
"""Numbers of calls left that are told apart, at most; else their number is not limited."""


class Chain(NamedTuple):
    """Nodes c_0, ..., c_{m-1} in order, and what runs of them cost.

    Attributes
    ----------
    node : int64 array, shape (m,)
    accelerators : int64 array, shape (A,)
        Numbers of the devices that are not hosts.
    cost : float64 array, shape (A, m, m + 1)
        ``cost[a, i, j]``: seconds of a call of c_i, ..., c_{j-1} on accelerator a, with the
        transfers to and from other nodes of the chain; inf where a node is not supported.
    alone : float64 array, shape (m,)
        Seconds of each node on the host that is fastest for it; inf without one.
    host : int64 array, shape (m,)
        That host.
    before : int64 array, shape (A, S)
        The state after a call of accelerator a in a state of calls left; -1 where none is left.
        State S - 1 is the first one.
    limit : float64 array, shape (A,)
        Memory of the accelerators, bytes.
    size : float64 array, shape (m,)
        Bytes of each node apart from shared weights.
    weights : list of (int64 array, float)
        For every weight that nodes of the chain share: their places in it, and its bytes.
    """

    node: np.ndarray
    accelerators: np.ndarray
    cost: np.ndarray
    alone: np.ndarray
    host: np.ndarray
    before: np.ndarray
    limit: np.ndarray
    size: np.ndarray
    weights: list[tuple[np.ndarray, float]]

    @property
    def m(self) -> int:
        """Nodes of the chain."""
        return len(self.node)


class Case(NamedTuple):
    """One way to hold the shared weights, with which memory is a sum over nodes.

    Attributes
    ----------
    limit : float64 array, shape (A,)
        Bytes that are left for the nodes.
    total : float64 array, shape (m + 1,)
        Bytes of the first nodes of the chain.
    end : int64 array, shape (A, m)
        How far a call that begins with each node can reach: at most up to node ``end - 1``.
    """

    limit: np.ndarray
    total: np.ndarray
    end: np.ndarray


def chain_of(instance: Instance, node: np.ndarray) -> Chain:
    """Price the runs of a chain, shape (m,), on every accelerator."""
    found = chain_in_time(instance, node, lambda: False)
    assert found is not None
    return found


def chain_in_time(instance: Instance, node: np.ndarray, done: Callable[[], bool]) -> Chain | None:
    """The same, or None where `done`, asked every some milliseconds, says so before the end."""
    m = len(node)
    place = np.full(instance.n, -1)
    place[node] = np.arange(m)
    edges = place[instance.edges]
    edges = np.unique(edges[(edges >= 0).all(axis=1)], axis=0)
    last = np.full(m, -1)
    np.maximum.at(last, edges[:, 0], edges[:, 1])
    by_reader = edges[np.lexsort((edges[:, 0], edges[:, 1]))]
    ptr = np.searchsorted(by_reader[:, 1], np.arange(m + 1))
    accelerators, hosts = np.flatnonzero(~instance.host), np.flatnonzero(instance.host)
    cost = np.full((len(accelerators), m, m + 1), np.inf)
    producer, rows = by_reader[:, 0].copy(), max(1, PIECE // m**2)
    for a, k in enumerate(accelerators):
        seconds = np.array(instance.time[node, k])
        tau = np.array(instance.link_time[instance.port[k], node])
        for first in range(0, m, rows):
            if done():
                return None
            _price(seconds, tau, last, ptr, producer, cost[a], first, min(first + rows, m))
    alone, host = np.full(m, np.inf), np.full(m, -1)
    if len(hosts):
        host = hosts[instance.time[np.ix_(node, hosts)].argmin(axis=1)]
        alone = instance.time[node, host]
    weights = []
    for i, size in enumerate(instance.shared_bytes.tolist()):
        readers = place[instance.shared_node[instance.shared_ptr[i] : instance.shared_ptr[i + 1]]]
        if (readers >= 0).any():
            weights.append((np.sort(readers[readers >= 0]), size))
    return Chain(
        node, accelerators, cost, alone, host, _states(len(accelerators), most_slots(instance), m),
        np.asarray(instance.memory[accelerators], float),
        np.asarray(instance.node_bytes[node], float), weights,
    )  # fmt: skip


def cases(chain: Chain, above: bool = False) -> tuple[list[Case], bool]:
    """All ways to hold the shared weights, and whether they are told apart.

    Each says of every accelerator and weight either that it is held, and counts, or that no node
    which reads it is there. Where these are more than :data:`CASES` there is one case, in which
    every reader counts an equal part of a weight, so that memory is never more than in truth; or,
    with `above`, all of it, so that it is never less.
    """
    A, m = len(chain.accelerators), chain.m
    pairs = [(a, w) for a in range(A) for w in range(len(chain.weights))]
    if 2 ** len(pairs) > CASES:
        size = chain.size.copy()
        for readers, weight in chain.weights:
            size[readers] += weight if above else weight / len(readers)
        return [_case(chain, chain.limit, size, np.zeros((A, m), bool))], False
    found = []
    for held in product((True, False), repeat=len(pairs)):
        limit, never = chain.limit.copy(), np.zeros((A, m), bool)
        for (a, w), here in zip(pairs, held, strict=True):
            readers, weight = chain.weights[w]
            if here:
                limit[a] -= weight
            else:
                never[a, readers] = True
        if (limit >= 0).all():
            found.append(_case(chain, limit, chain.size, never))
    return found, True


def _case(chain: Chain, limit: np.ndarray, size: np.ndarray, never: np.ndarray) -> Case:
    m = chain.m
    total = np.concatenate([[0.0], np.cumsum(size)])
    end = np.empty((len(limit), m), np.int64)
    for a in range(len(limit)):
        # Parts of weights are rounded: what fits by a hair fits.
        room = limit[a] + 1e-12 * total[-1]
        reach = np.searchsorted(total, total[:-1] + room, side="right") - 1
        stop = m
        for i in range(m - 1, -1, -1):
            if never[a, i] or chain.cost[a, i, i + 1] == np.inf:
                stop = i
            end[a, i] = min(reach[i], stop)
    return Case(limit, total, end)


def _states(A: int, slots: int, m: int) -> np.ndarray:
    """The state after a call in each state, shape (A, S); one state where there is no limit."""
    slots = min(slots, m)
    if (slots + 1) ** A > STATES or slots == m:
        return np.zeros((A, 1), np.int64)
    state = np.arange((slots + 1) ** A)
    step = (slots + 1) ** np.arange(A)
    left = state // step[:, None] % (slots + 1)
    return np.where(left > 0, state - step[:, None], -1)


@njit(cache=True)
def _price(time, tau, last, ptr, producer, cost, first, until):  # type: ignore[no-untyped-def]
    """Fill ``cost[i, j]``, shape (m, m + 1), for one accelerator and i from `first` to `until`."""
    m = time.shape[0]
    seen = np.full(m, -1, np.int64)
    for i in range(first, until):
        compute = into = 0.0
        for j in range(i + 1, m + 1):
            v = j - 1
            if time[v] == np.inf:
                break
            compute += time[v]
            for e in range(ptr[v], ptr[v + 1]):
                u = producer[e]
                if u < i and seen[u] != i:
                    seen[u] = i
                    into += tau[u]
            out = 0.0
            for u in range(i, j):
                if last[u] >= j:
                    out += tau[u]
            cost[i, j] = compute + into + out
