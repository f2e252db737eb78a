"""The chain of least weighted load, by dynamic programming over ideals.

A weighted load is a sum over devices, so that along a chain it is one over pieces: what lies
between two ideals, on a device that no other piece is on. The least cost of an ideal with a set of
used devices is that of a smaller one without one of them, and of a piece. What memory a mixture
has spent and where it may not go changes which pieces there are, and nothing else.

Over direct links between more than two devices a piece does not tell how often it is sent: there
it is charged once, over the best link, and a search goes on from what that bounds (:mod:`_ends`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import njit

from problems import throughput
from problems.compiled import REHEARSAL
from problems.instance import Instance
from problems.mixture import memory_use
from solvers.formulations._contract import contract
from solvers.ideals._arrays import WORD, Arrays, arrays_of, by_number
from solvers.ideals._contraction import items_of
from solvers.ideals._lattice import Lattice, OutOfTime, TooMany, lattice
from solvers.mixtures._ends import Ends, Relaxed
from solvers.mixtures._pieces import Pieces, pieces
from solvers.mixtures._room import Room

MOST_DEVICES = 10
"""Of which all sets are told apart."""
MOST_BYTES = 2.0**28
"""Of ideals with their values."""
MOST_ITEMS = 3_000
MOST_INSIDE = 2e7
"""Ideals x items, which are laid out."""
MOST_PIECES = 1_000_000
MOST_VISITS = 3e8
"""Pieces x sets of devices x devices: about a second."""
VISITS = 10_000_000
"""The same between two looks at the clock."""


class Chain:
    """The program of one instance, whose items and pieces are known.

    Parameters
    ----------
    a : Arrays
        Items; every device is a class of its own.
    item : int64 array, shape (G,)
        The item that each colocation group is part of.
    exact : bool
        Whether to search on over direct links.
    """

    def __init__(
        self,
        instance: Instance,
        a: Arrays,
        ideals: Lattice,
        found: Pieces,
        item: np.ndarray,
        exact: bool,
    ) -> None:
        self.instance, self.a, self.pieces, self.item = instance, a, found, item
        self.base = np.repeat(np.arange(ideals.I), np.diff(found.ptr))
        self.value = np.empty((ideals.I, 1 << instance.K))
        self.came = np.empty(self.value.shape, np.int64)
        number = np.arange(a.N)
        word = ideals.bits[:, number // WORD] >> (number % WORD).astype(np.uint64)
        self.inside = (word & np.uint64(1)).astype(float)
        c = contract(instance)
        self.bytes, self.weight, self.reader = c.bytes[:, None], c.reader_weight, c.reader_group
        self.work = self._over(a.work.sum(axis=1))
        self.ends: Ends | None = None
        if exact and not instance.staged and instance.K > 2:
            self.ends = Ends(instance, c, self.inside[:, item] > 0)

    def least(
        self, weight: np.ndarray, room: Room | None, time_left: Callable[[], float]
    ) -> tuple[float, np.ndarray | None]:
        """Bound the least weighted load, and find the chain that has it.

        Parameters
        ----------
        weight : float64 array, shape (K, 3)
            Of a second of computing, receiving and sending.

        Returns
        -------
        float
            Seconds; inf where there is no mapping, 0 where time is up. Over direct links it may be
            less than the chain's.
        int64 array, shape (n,), or None
        """
        instance = self.instance
        if (
            room is not None
            and (memory_use(instance, room.held[instance.group]) > instance.memory).any()
        ):
            return math.inf, None
        cost = self._costs(weight, room)
        value, at = self.value, 0
        value.fill(np.inf)
        value[0, 0] = 0.0
        while at < len(value) - 1:
            if time_left() <= 0:
                return 0.0, None
            at = _grow(at, VISITS, value, self.came, cost, self.pieces.ptr, self.pieces.top)
        used = int(value[-1].argmin())
        if np.isinf(value[-1, used]):
            return math.inf, None
        seconds, place = float(value[-1, used]), self._mapping(used)
        if self.ends is not None:
            relaxed = Relaxed(self.base, self.pieces.top, cost, value)
            like = self._like(weight, room)
            seconds, place = self.ends.least(weight, relaxed, like, place, time_left)
        return seconds, place[instance.group]

    def _like(self, weight: np.ndarray, room: Room | None) -> np.ndarray:
        """Numbers of devices, shape (K,), equal where nothing tells them apart."""
        marks = [self.instance.device_class[:, None], weight]
        if room is not None:
            marks += [room.held.T, room.barred.T]
        rows = np.concatenate(marks, axis=1)
        number: np.ndarray = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
        return number

    def _mapping(self, used: int) -> np.ndarray:
        """The way back from all items on a set of devices: the mapping of groups, shape (G,)."""
        top, K = len(self.value) - 1, self.instance.K
        device = np.zeros(self.a.N, np.int64)
        while top > 0:
            piece, k = divmod(int(self.came[top, used]), K)
            base = int(self.base[piece])
            device[self.inside[top] > self.inside[base]] = k
            top, used = base, used ^ 1 << k
        mapping: np.ndarray = device[self.item]
        return mapping

    def _costs(self, weight: np.ndarray, room: Room | None) -> np.ndarray:
        """Weighted seconds of every piece on every device, shape (pieces, K); inf: not there."""
        of, a, instance = self.pieces, self.a, self.instance
        barred = ~a.supported
        size = np.broadcast_to(self.bytes, (len(self.item), instance.K))
        limit, spared = instance.memory, np.zeros((len(a.shared_bytes), instance.K), bool)
        if room is not None:
            np.logical_or.at(barred, self.item, room.barred)
            limit = limit - memory_use(instance, room.held[instance.group])
            size = np.where(room.held, 0.0, size)
            np.logical_or.at(spared, self.weight, room.held[self.reader])
        of_item = np.zeros(barred.shape)
        np.add.at(of_item, self.item, size)
        use = self._over(of_item) + of.reads @ np.where(spared, 0.0, a.shared_bytes[:, None])
        cost: np.ndarray = weight[:, 0] * self.work
        cost += weight[:, 1] * of.got[:, of.into] + weight[:, 2] * of.gave[:, of.out]
        cost[(use > limit) | (self._over(barred) > 0)] = np.inf
        return cost

    def _over(self, of_item: np.ndarray) -> np.ndarray:
        """Sums over the items of every piece, shape (pieces, K), from shape (N, K)."""
        below = self.inside @ of_item
        result: np.ndarray = below[self.pieces.top] - below[self.base]
        return result


def chain(
    instance: Instance, time_left: Callable[[], float], *, line: bool = False
) -> Chain | None:
    """The program, or None where there are too many ideals or pieces, or no time to list them.

    Parameters
    ----------
    line : bool
        Know only the prefixes of one order, and over direct links relaxed costs. What that finds
        bounds nothing, but good mappings are often such, where there need be no chain as well.
    """
    G = int(instance.group.max()) + 1
    if not throughput.rules_of(instance).contiguous and not line:
        return None
    if instance.K > MOST_DEVICES or G > MOST_ITEMS:
        return None
    every = np.arange(instance.K)
    items = items_of(instance, every)
    sequence = by_number(items) if line else None
    a = arrays_of(
        items, np.ones_like(every), instance.memory, directed=True, most=math.inf, sequence=sequence
    )
    most = int(min(MOST_PIECES, MOST_VISITS / (instance.K << instance.K)))

    def in_time() -> bool:
        return time_left() > 0

    try:
        ideals = lattice(a, MOST_BYTES, in_time)
        if ideals.I * a.N > MOST_INSIDE:
            return None
        found = pieces(a, ideals, most, in_time)
    except (TooMany, OutOfTime):
        return None
    number = {key: i for i, key in enumerate(a.key.tolist())}
    program = Chain(instance, a, ideals, found, items.positions(number), not line)
    if instance.n <= REHEARSAL:  # who asks may have no time left after what was compiled above
        program.least(np.ones((instance.K, 3)), None, lambda: math.inf)
    return program


@njit(cache=True)
def _grow(at, budget, value, came, cost, ptr, top):  # type: ignore[no-untyped-def]
    """Take pieces from ideal `at` on until the budget is spent; where it stopped."""
    K, sets = cost.shape[1], value.shape[1]
    while at < len(value) - 1 and budget > 0:
        for p in range(ptr[at] + 1, ptr[at + 1]):
            budget -= K * sets
            to = top[p]
            for k in range(K):
                if cost[p, k] == np.inf:
                    continue
                one = 1 << k
                for used in range(sets):
                    if used & one:
                        continue
                    new = value[at, used] + cost[p, k]
                    if new < value[to, used | one]:
                        value[to, used | one] = new
                        came[to, used | one] = p * K + k
        at += 1
    return at
