"""Beam search over partial schedules, for graphs on which the mapping matters most (`latency`).

Nodes are placed in one order; every partial schedule has a child on every device, and the best ones
go on. They are compared by the longest path through what is placed, with the least time that may
follow it, and by how busy the devices are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from problems import latency
from problems.answer import Answer
from problems.bounds.headtail import tails
from problems.instance import Instance
from solvers.improve_state import ground_of

MOST = 4_000
"""Nodes up to which it is run: it copies schedules."""
PIECE = 2_000
"""Nodes times width between two looks at the clock."""
WEIGHTS = (0.0, 0.3)
"""Weights of busy time."""


class Beams:
    """Beams of one instance; :meth:`search` runs one."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        unit, ground = instance.group.astype(np.int64), ground_of(instance)
        self.unit_time = np.zeros((len(ground.size), instance.K))
        np.add.at(self.unit_time, unit, instance.time)
        self.size = ground.size.copy()
        held = ground.shared[ground.weight]  # counted at every reader: more than it takes
        readers = np.repeat(np.arange(len(self.size)), np.diff(ground.weight_ptr))
        np.add.at(self.size, readers, held)
        self.ground, self.tail = ground, np.ascontiguousarray(tails(instance))

    def search(
        self,
        sequence: np.ndarray,
        weight: float,
        price: float,
        width: int,
        stop: Callable[[], bool] = bool,
    ) -> Answer | None:
        """The best schedule of a beam; None where memory left none, or if `stop` returned true.

        Parameters
        ----------
        sequence : int64 array, shape (n,)
            All nodes in a topological order.
        weight : float
            Of the mean busy time of the devices beside the longest path.
        price : float
            Seconds that all the memory of a limited device costs: without a price the first nodes
            take it all, whatever the last ones would gain by it.
        width : int
            Partial schedules that go on.
        stop : callable
            Asked once in a while.
        """
        ground, memory = self.ground, self.ground.memory
        prices = np.zeros(len(memory))
        np.divide(price, memory, out=prices, where=memory > 0)
        n, K = ground.time.shape
        sequence = np.ascontiguousarray(sequence, np.int64)
        place = np.full((width, len(self.size)), -1, np.int64)
        finish, pair = np.zeros((width, n)), np.zeros((2, width, K))
        single = np.zeros((3, width))
        piece, count = max(1, PIECE // width), 1
        for first in range(0, n, piece):
            if stop():
                return None
            count = _beam(
                ground.time, ground.pred_ptr, ground.pred, ground.unlimited, ground.way,
                ground.links, memory, ground.unit, self.unit_time, self.size, self.tail, sequence,
                width, weight, prices, place, finish, pair, single, count, first,
                min(n, first + piece),
            )  # fmt: skip
            if count == 0:
                return None
        best = int(np.argmin(single[0, :count]))
        return latency.answer_of(self.instance, place[best][ground.unit], sequence)


@njit(cache=True)
def _beam(  # type: ignore[no-untyped-def]
    time, pred_ptr, pred, unlimited, way, links, memory, unit, unit_time, size, tail,
    sequence, width, weight, price, place, finish, pair, single, count, first, last,
):  # fmt: skip
    """Place the nodes at ``first..last-1`` of the sequence; returns how many schedules are left.

    Slot b of `place`, `finish`, `pair` (free, use) and `single` (longest, busy, paid) holds
    schedule b.
    """
    K = time.shape[1]
    free, use = pair[0], pair[1]
    longest, busy, paid = single[0], single[1], single[2]
    key, child_finish = np.empty(width * K), np.empty(width * K)
    child_longest, chosen = np.empty(width * K), np.empty(width, np.int64)
    heirs = np.zeros(width, np.int64)
    for i in range(first, last):
        v = sequence[i]
        g = unit[v]
        for b in range(count):
            for k in range(K):
                c = b * K + k
                key[c] = np.inf
                there = place[b, g]
                if (there >= 0 and there != k) or unit_time[g, k] == np.inf:
                    continue
                if there < 0 and use[b, k] + size[g] > memory[k]:
                    continue
                t = 0.0 if unlimited[k] else free[b, k]
                for j in range(pred_ptr[v], pred_ptr[v + 1]):
                    u = pred[j]
                    other = place[b, unit[u]]
                    arrival = finish[b, u]
                    if other != k:
                        arrival += way[u, links[other, k, 0]] + way[u, links[other, k, 1]]
                    t = max(t, arrival)
                t += time[v, k]
                child_finish[c] = t
                child_longest[c] = max(longest[b], t + tail[v, k])
                # The end of what is placed breaks ties of the longest path.
                key[c] = child_longest[c] + weight * (busy[b] + time[v, k]) / K + 1e-3 * t
                key[c] += paid[b] + (price[k] * size[g] if there < 0 else 0.0)
        order = np.argsort(key[: count * K], kind="mergesort")
        kept = 0
        for j in range(count * K):
            c = order[j]
            if key[c] == np.inf or kept == width:
                break
            if kept > 0 and key[c] == key[chosen[kept - 1]]:
                continue  # most likely the same schedule on like devices
            chosen[kept] = c
            kept += 1
        if kept == 0:
            return 0
        # Slots: the first child of a schedule stays in its place, others take what is unused.
        heirs[:] = -1
        for j in range(kept):
            if heirs[chosen[j] // K] < 0:
                heirs[chosen[j] // K] = j
        slot = np.full(kept, -1, np.int64)
        for b in range(count):
            if heirs[b] >= 0:
                slot[heirs[b]] = b
        unused = 0
        for j in range(kept):
            if slot[j] >= 0:
                continue
            while unused < width and heirs[unused] >= 0:
                unused += 1
            b = chosen[j] // K
            slot[j] = unused
            place[unused] = place[b]
            free[unused] = free[b]
            use[unused] = use[b]
            busy[unused], paid[unused] = busy[b], paid[b]
            for a in range(i):
                finish[unused, sequence[a]] = finish[b, sequence[a]]
            unused += 1
        for j in range(kept):
            c, b = chosen[j], slot[j]
            k = c % K
            if place[b, g] < 0:
                place[b, g] = k
                use[b, k] += size[g]
                paid[b] += price[k] * size[g]
            finish[b, v] = child_finish[c]
            free[b, k] = child_finish[c]
            busy[b] += time[v, k]
            longest[b] = child_longest[c]
        # Close the gaps: schedules are slots 0..kept-1.
        taken = np.zeros(width, np.bool_)
        for j in range(kept):
            taken[slot[j]] = True
        low = 0
        for b in range(kept, width):
            if not taken[b]:
                continue
            while taken[low]:
                low += 1
            place[low] = place[b]
            free[low] = free[b]
            use[low] = use[b]
            busy[low], longest[low], paid[low] = busy[b], longest[b], paid[b]
            finish[low] = finish[b]
            taken[low] = True
        count = kept
    return count
