"""The least weighted load of devices that are all alike and weigh the same.

Then it does not matter which device computes, and every mapping costs what it transfers: a
partition of the groups into parts, each of which fits on a device. Groups are placed in their
order, parts numbered by their first group; a label is what a mapping of the first groups has cost,
what its parts take, and where the nets are that will be read again. Of two that differ in cost
alone the cheaper stays. Labels up to a level of cost are few as long as the level is a few
transfers; levels rise until one has a mapping.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from problems import throughput
from problems.instance import Instance
from solvers.formulations._contract import Contracted
from solvers.start import groups_in_line

MOST_DEVICES = 15
"""Bits of a set of readers."""
MOST, MOST_ALL = 50_000, 3_000_000
"""Labels of one group, and of all: beyond them the last level is what is proved."""
GROWTH = 1.25
"""Of levels."""
ROUNDING = 1e-12
"""Relative, of sums."""


@dataclass(eq=False)
class Labels:
    """Mappings of the first groups, L of them; nets that are open have one of S places.

    Attributes
    ----------
    cost : float64 array, shape (L,)
    size : float64 array, shape (L, K)
        Bytes of every part.
    used : int64 array, shape (L,)
        Number of parts.
    owner, readers : int64 arrays, shape (L, S)
        The part that sends a net, and those that have it, as bits.
    """

    cost: np.ndarray
    size: np.ndarray
    used: np.ndarray
    owner: np.ndarray
    readers: np.ndarray

    def take(self, which: np.ndarray) -> None:
        """Keep some, in this order."""
        self.cost, self.size, self.used = self.cost[which], self.size[which], self.used[which]
        self.owner, self.readers = self.owner[which], self.readers[which]

    def distinct(self) -> np.ndarray:
        """The cheapest of those that are the same but for their cost."""
        rows = np.concatenate([self.size, self.used[:, None], self.owner, self.readers], axis=1)
        mark = rows @ np.random.default_rng(0).random(rows.shape[1])
        order = np.lexsort((self.cost, mark))
        same = np.zeros(len(order), bool)
        same[1:] = (rows[order[1:]] == rows[order[:-1]]).all(axis=1)
        return order[~same]


class Parts:
    """The search for one instance; see :func:`parts`."""

    def __init__(self, instance: Instance, c: Contracted, line: np.ndarray) -> None:
        self.instance, self.line = instance, line
        self.limit = min(float(instance.memory[0]), float(c.bytes.sum()) + 1.0)
        self.bytes = c.bytes[line]
        self.work = float(c.work[:, :, 0].sum())
        self.seconds = c.net_time[instance.port[0] if instance.staged else instance.wire[0, 1]]
        at = np.empty_like(line)
        at[line] = np.arange(len(line))
        self.opens: list[list[tuple[int, int]]] = [[] for _ in line]  # net, its place
        self.reads: list[list[tuple[int, int]]] = [[] for _ in line]
        self.closes: list[list[int]] = [[] for _ in line]  # places
        last = at[c.net_group]
        np.maximum.at(last, c.pin_net, at[c.pin_group])
        first = np.argsort(at[c.net_group], kind="stable")
        free_from: list[int] = []  # the group from which on a place is free again
        place = np.zeros(len(first), np.int64)
        for e in first.tolist():
            start = int(at[c.net_group[e]])
            able = [s for s, end in enumerate(free_from) if end <= start]
            place[e] = able[0] if able else len(free_from)
            free_from[place[e] : place[e] + 1] = [int(last[e])]
            self.opens[start].append((e, int(place[e])))
            self.closes[int(last[e])].append(int(place[e]))
        for e, g in zip(c.pin_net.tolist(), c.pin_group.tolist(), strict=True):
            self.reads[at[g]].append((e, int(place[e])))
        self.S = len(free_from)

    def least(
        self, weight: np.ndarray, time_left: Callable[[], float]
    ) -> tuple[float, np.ndarray | None]:
        """Bound the least weighted load, and find a mapping that has it, shape (n,).

        Parameters
        ----------
        weight : float64 array, shape (3,)
            Of a second of computing, receiving and sending, on any device.

        Returns
        -------
        float
            Seconds; inf where there is no mapping.
        int64 array or None
            None as well where the search was cut short, or what it found breaks a rule that it does
            not know: weights that several groups read take no memory here.
        """
        each, once = weight[1] * self.seconds, weight[2] * self.seconds
        if not self.instance.staged:  # sent to every reader
            each, once = each + once, np.zeros_like(once)
        every = float((each + once).sum()) * self.instance.K
        level, proved = float(each[each > 0].min(initial=every + 1e-30)), 0.0
        left = MOST_ALL
        while True:
            found = self._below(each, once, level, left, time_left)
            if found is None:
                break
            cost, place, spent = found
            left -= spent
            if place is not None:
                device = np.empty(len(place), np.int64)
                device[self.line] = place
                mapping = device[self.instance.group]
                valid = throughput.is_valid(self.instance, mapping)
                seconds = weight[0] * self.work + cost
                return float(seconds) * (1 - ROUNDING), mapping if valid else None
            proved = level
            if level > every:
                return math.inf, None
            level *= GROWTH
        return float(weight[0] * self.work + proved) * (1 - ROUNDING), None

    def _below(
        self,
        each: np.ndarray,
        once: np.ndarray,
        level: float,
        most: int,
        time_left: Callable[[], float],
    ) -> tuple[float, np.ndarray | None, int] | None:
        """The partition that transfers least, if it is less than the level; None if cut short."""
        G, K = len(self.line), self.instance.K
        price = [float(sum(each[e] for e, _ in reads)) for reads in self.reads]
        joins = np.minimum.accumulate(np.array(price)[::-1])[::-1]  # of a new part, at least
        rest = np.append(np.cumsum(self.bytes[::-1])[::-1], 0.0)
        now = Labels(
            np.zeros(1), np.zeros((1, K)), np.zeros(1, np.int64),
            np.zeros((1, self.S), np.int64), np.zeros((1, self.S), np.int64),
        )  # fmt: skip
        history: list[tuple[np.ndarray, np.ndarray]] = []
        spent = 0
        for g in range(G):
            if time_left() <= 0:
                return None
            before, part = self._places(now, g, each, once, level)
            # What does not fit into the parts that there are makes new ones.
            room = np.where(np.arange(K) < now.used[:, None], self.limit - now.size, 0.0)
            new = np.ceil((rest[g + 1] - room.sum(axis=1)) / max(self.limit, 1.0) - ROUNDING)
            new = np.maximum(new, 0.0)
            more = new * (joins[g + 1] if g + 1 < G else 0.0)
            fine = np.flatnonzero((now.cost + more < level) & (now.used + new <= K))
            now.take(fine)
            kept = now.distinct()
            now.take(kept)
            history.append((before[fine][kept].astype(np.int32), part[fine][kept].astype(np.int8)))
            spent += len(before)
            if not len(kept):
                return math.inf, None, spent
            if len(kept) > MOST or spent > most:
                return None
        i = int(now.cost.argmin())
        cost = float(now.cost[i])
        place = np.zeros(G, np.int64)
        for g in range(G - 1, -1, -1):
            before, part = history[g]
            place[g], i = part[i], int(before[i])
        return cost, place, spent

    def _places(
        self, now: Labels, g: int, each: np.ndarray, once: np.ndarray, level: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Place group g of the line in all ways; each label's number before, and its new part."""
        before, part, cost = [], [], []
        for p in range(self.instance.K):
            able = np.flatnonzero((now.used >= p) & (now.size[:, p] + self.bytes[g] <= self.limit))
            paid = now.cost[able].copy()
            for e, s in self.reads[g]:
                readers = now.readers[able, s]
                comes = (now.owner[able, s] != p) & (readers >> p & 1 == 0)
                paid += np.where(comes, each[e] + np.where(readers == 0, once[e], 0.0), 0.0)
            fine = paid < level
            before.append(able[fine])
            part.append(np.full(int(fine.sum()), p))
            cost.append(paid[fine])
        origin, at = np.concatenate(before), np.concatenate(part)
        now.take(origin)
        now.cost = np.concatenate(cost)
        now.size[np.arange(len(at)), at] += self.bytes[g]
        now.used = np.maximum(now.used, at + 1)
        for _, s in self.reads[g]:
            now.readers[:, s] |= np.where(now.owner[:, s] != at, 1 << at, 0)
        for s in self.closes[g]:
            now.owner[:, s] = now.readers[:, s] = 0
        for _, s in self.opens[g]:
            now.owner[:, s], now.readers[:, s] = at, 0
        return origin, at


def parts(instance: Instance, c: Contracted) -> Parts | None:
    """The search, or None where devices differ or a group may read what comes after it."""
    K = instance.K
    if K > MOST_DEVICES or instance.host.any() or (instance.device_class != 0).any():
        return None
    if throughput.rules_of(instance).contiguous or not c.supported.all():
        return None
    line = groups_in_line(instance)
    at = np.argsort(line)
    if (at[c.net_group[c.pin_net]] > at[c.pin_group]).any():
        return None
    return Parts(instance, c, line)
