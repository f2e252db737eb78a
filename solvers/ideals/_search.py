r"""The dynamic program: the least largest load of a chain of ideals, no load above a level.

A state is an ideal J and how many devices of each class are used; its value is the largest load so
far. From J one more device takes I \ J, for every ideal I above J that a load at the level
allows. These I are visited along ascending items, so that each comes once: the last item of a set
in topological order may always be taken out again. The transfers of I \ J are those of the nets
that are cut at J and touched by it, which only grow along the way, and of the nets cut at I that
are new since J. The former are kept incrementally, the cuts of single ideals in a table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.ideals._arrays import Arrays
from solvers.ideals._bits import members
from solvers.ideals._expand import expand
from solvers.ideals._lattice import Lattice, OutOfTime
from solvers.ideals._tables import closure, sums
from solvers.ideals._trace import back, block_loads

VISITS = 1_000_000
"""Visits between two looks at the clock: about a tenth of a second."""
CUTS = 100_000
"""Ideals whose cuts are summed up between two looks at the clock."""
OVERLAP = {"none": 0, "half": 1, "full": 2}
ROUNDING = 1e-9
"""Relative; far above the rounding of a load here, and far below what a level needs."""


@dataclass(frozen=True, eq=False)
class Chain:
    """A solution.

    Attributes
    ----------
    value : float
        The largest load in seconds; with two phases, the second one's.
    first : float
        The first phase's largest load.
    position : int64 array, shape (N,)
    device_class : list of int
        The class at each position.
    """

    value: float
    first: float
    position: np.ndarray
    device_class: list[int]


class Search:
    """Runs the program at one level after the other.

    Parameters
    ----------
    moved : bool
        Whether bytes that were moved count.
    """

    def __init__(
        self,
        a: Arrays,
        lattice: Lattice,
        overlap: str,
        moved: bool,
        in_time: Callable[[], bool],
    ) -> None:
        self.a, self.lattice = a, lattice
        self.overlap = OVERLAP[overlap]
        self.bytes = a.kept + a.moved if moved else a.kept
        self.visits = 0
        self.cuts = np.zeros((lattice.I, len(a.count), a.R))
        self.remaining = np.zeros((lattice.I, len(a.least)))
        self.remaining[0] = a.least.sum(axis=1)
        done = np.zeros(lattice.I, bool)
        for at in range(0, lattice.I, CUTS):
            if not in_time():
                raise OutOfTime(lattice.I)
            sums(
                at, min(at + CUTS, lattice.I), done, self.cuts, self.remaining, a.least,
                lattice.bits, lattice.ptr, lattice.item, lattice.target, a.net_member,
                a.net_producer, a.net_into, a.net_out, a.net_receive, a.net_send, a.on_ptr, a.on,
            )  # fmt: skip
        self.above = closure(a.least, a.succ_ptr, a.succ)
        vectors = np.arange(a.V)[:, None]
        self.used = vectors // a.stride % (a.count + 1)
        free = a.count - self.used
        self.capacity = free @ a.rate.T
        self.memory = free @ np.where(a.hold > 0, a.hold * np.where(a.hold > 0, a.limit, 0), 0).T
        self.value = np.zeros((0, a.V))

    def run(self, cap: np.ndarray, in_time: Callable[[], bool]) -> Chain | None:
        """The best chain with loads up to `cap`; None if there is none.

        Parameters
        ----------
        cap : float64 array, shape (P,)
            Seconds. With two phases the first one's loads are only held to theirs, and the value
            is the second one's.

        Raises
        ------
        OutOfTime
            As soon as `in_time` says no.
        """
        a, lattice = self.a, self.lattice
        if not len(self.value):
            self.value = np.empty((lattice.I, a.V))
        self.value.fill(np.inf)
        self.value[0, 0] = 0.0
        room = (self.capacity * cap[a.rate_phase] + self.memory) * (1 + ROUNDING)
        room += ROUNDING * a.least.sum(axis=1)
        held = a.limit
        at = 0
        while at < lattice.I - 1:
            if not in_time():
                raise OutOfTime(lattice.I)
            at, visits = expand(
                at, VISITS, self.value, cap, room, self.used, self.remaining, self.cuts,
                lattice.bits, lattice.ptr, lattice.item, lattice.target, a.work, a.supported,
                a.count, a.stride, a.least, self.above, a.net_member, a.net_producer, a.net_into,
                a.net_out, a.net_receive, a.net_send, a.on_ptr, a.on, self.bytes, held, a.share_ptr,
                a.share, a.shared_bytes, self.overlap,
            )  # fmt: skip
            self.visits += visits
        if not np.isfinite(self.value[-1]).any():
            return None
        return self._trace(cap, held)

    def _trace(self, cap: np.ndarray, held: np.ndarray) -> Chain:
        """Find the way to the best end backwards: the values tell it, no pointers are kept."""
        a, lattice = self.a, self.lattice
        top, vector = lattice.I - 1, int(self.value[-1].argmin())
        value = float(self.value[-1, vector])
        position = np.zeros(a.N, np.int64)
        classes: list[int] = []
        first, load = 0.0, np.zeros(a.work.shape[1])
        while top > 0:
            below, c = back(
                top, vector, value * (1 + ROUNDING), cap * (1 + ROUNDING), self.value, self.used,
                lattice.bits, a.work, a.supported, a.stride, a.net_member, a.net_producer,
                a.net_into, a.net_out, a.net_receive, a.net_send, self.bytes, held, a.share_ptr,
                a.share, a.shared_bytes, self.overlap, a.R // a.work.shape[1],
            )  # fmt: skip
            assert below >= 0, "the values of the program have no way back"
            block = lattice.bits[top] & ~lattice.bits[below]
            block_loads(
                block, c, load, a.work, a.supported, a.net_member, a.net_producer, a.net_into,
                a.net_out, a.net_receive, a.net_send, self.bytes, held, a.share_ptr, a.share,
                a.shared_bytes, self.overlap, a.R // a.work.shape[1],
            )  # fmt: skip
            first = max(first, float(load[0]))
            position[members(block, a.N)] = len(classes)
            classes.append(int(c))
            top, vector = int(below), vector - int(a.stride[c])
        last = len(classes) - 1
        return Chain(value, first, last - position, classes[::-1])
