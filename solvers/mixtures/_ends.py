"""Chains over direct links, from their ends, the most promising first.

Over direct links what a piece sends depends on where it is read. The program over ideals charges
it once, over the best link, and so bounds what an ideal costs that is still to be placed. What is
placed already, the last pieces of a chain, is charged as it is; together that bounds all chains
that end in these pieces.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from problems.instance import Instance
from solvers.formulations._contract import Contracted

MOST = 3_000
"""Ends of chains that are looked at; some tenths of a second."""
ROUNDING = 1e-11
"""Relative; sums that are made in another order differ by less."""


class Relaxed(NamedTuple):
    """What the program over ideals knows at some weights.

    Attributes
    ----------
    base, top : int arrays, shape (pieces,)
        The ideals that pieces lie between.
    cost : float64 array, shape (pieces, K)
        Seconds of a piece, its transfers relaxed.
    value : float64 array, shape (I, 2**K)
        Seconds of an ideal on exactly a set of devices, likewise.
    """

    base: np.ndarray
    top: np.ndarray
    cost: np.ndarray
    value: np.ndarray


class Ends:
    """The search for one instance.

    Parameters
    ----------
    inside : bool array, shape (I, G)
        Groups of every ideal.
    """

    def __init__(self, instance: Instance, c: Contracted, inside: np.ndarray) -> None:
        self.inside = inside
        self.source, self.pin_net, self.pin = c.net_group, c.pin_net, c.pin_group
        self.work = c.work.sum(axis=0)
        self.seconds = c.net_time[instance.wire].transpose(2, 0, 1)  # net, from, to
        self.pays = ~instance.host

    def least(
        self,
        weight: np.ndarray,
        relaxed: Relaxed,
        like: np.ndarray,
        best: np.ndarray,
        time_left: Callable[[], float],
    ) -> tuple[float, np.ndarray]:
        """Bound the least weighted load, and find the mapping that has it.

        Parameters
        ----------
        weight : float64 array, shape (K, 3)
            Of a second of computing, receiving and sending.
        like : int64 array, shape (K,)
            The same for devices that may change places at these weights.
        best : int64 array, shape (G,)
            A mapping to begin with.

        Returns
        -------
        float
            Seconds; less than the mapping's where the search was cut short.
        int64 array, shape (G,)
        """
        charge = self._charges(weight)
        within = _within(relaxed.value)
        order = np.argsort(relaxed.top, kind="stable")
        ptr = np.searchsorted(relaxed.top[order], np.arange(len(within) + 1))
        value = charge(best)[0]
        top, free = len(within) - 1, within.shape[1] - 1
        known: set[tuple[int, int, bytes]] = set()
        number = itertools.count(0, -1)  # of those that promise as much, the last one first
        # What is placed, what is not, and the devices for it.
        heap = [(float(within[top, free]), next(number), np.full(len(best), -1), top, free)]
        for _ in range(MOST):
            if not heap or heap[0][0] >= value * (1 - ROUNDING):
                return value * (1 - ROUNDING), best
            if time_left() <= 0:
                break
            bound, _, device, top, free = heapq.heappop(heap)
            paid, still = charge(device)
            exact = paid + float(within[top, free])
            if exact > bound * (1 + ROUNDING):  # it was promised before it was charged
                heapq.heappush(heap, (exact, next(number), device, top, free))
                continue
            if top == 0:
                best, value = device, paid
                continue
            if (top, free, still) in known:  # it comes to no less than the one before
                continue
            known.add((top, free, still))
            rest = bound - within[top, free]
            mine = order[ptr[top] : ptr[top + 1]]
            mine = mine[relaxed.base[mine] < top]
            able = np.flatnonzero(free >> np.arange(len(like)) & 1)
            for k in able[np.unique(like[able], return_index=True)[1]].tolist():
                left = free ^ 1 << k
                base = relaxed.base[mine]
                promise = rest + relaxed.cost[mine, k] + within[base, left]
                for j in np.flatnonzero(promise < value * (1 - ROUNDING)).tolist():
                    placed = np.where(self.inside[top] & ~self.inside[base[j]], k, device)
                    entry = (float(promise[j]), next(number), placed, int(base[j]), left)
                    heapq.heappush(heap, entry)
        return heap[0][0] if heap else value * (1 - ROUNDING), best

    def _charges(self, weight: np.ndarray) -> Callable[[np.ndarray], tuple[float, bytes]]:
        """What a mapping costs of which some groups are on no device yet (-1).

        A net that reaches into what is not placed costs its least for that, once. What tells how
        much more each of these nets will cost comes second: where it is, as far as it is placed.
        """
        K = len(weight)
        work = np.concatenate([self.work * weight[:, 0], np.zeros((len(self.work), 1))], axis=1)
        sends = self.seconds * (weight[:, 2] * self.pays)[:, None]
        receives = self.seconds * (weight[:, 1] * self.pays)
        alone = np.eye(K, dtype=bool)
        price = np.zeros((len(self.source), K + 1, K + 1))  # the last of each: not placed
        price[:, :K, :K] = sends + receives
        price[:, :K, K] = np.where(alone, np.inf, sends).min(axis=2, initial=np.inf)
        price[:, K, :K] = np.where(alone, np.inf, receives).min(axis=1, initial=np.inf)
        nets, groups = np.arange(len(self.source)), np.arange(len(self.work))

        def charge(device: np.ndarray) -> tuple[float, bytes]:
            reads = np.zeros((len(nets), K + 1), bool)
            reads[self.pin_net, device[self.pin]] = True
            source = device[self.source]
            paid = np.where(reads, price[nets, source], 0.0)
            still = np.flatnonzero(reads[:, K] | (source < 0))
            key = reads[still].tobytes() + source[still].tobytes() + still.tobytes()
            return float(work[groups, device].sum() + paid.sum()), key

        return charge


def _within(value: np.ndarray) -> np.ndarray:
    """The least seconds of every ideal on some of a set's devices, shape (I, 2**K)."""
    result = value.copy()
    used = np.arange(value.shape[1])
    k = 1
    while k < value.shape[1]:
        more = used[(used & k) > 0]
        result[:, more] = np.minimum(result[:, more], result[:, more ^ k])
        k <<= 1
    return result
