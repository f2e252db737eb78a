"""A pipeline with stages on several devices each: what each holds, another may hold as well.

Where no device holds everything, samples can still be split: the devices of a stage all hold it
and take samples in turns. Parts are cut in their topological order, devices in a given one; the
best cuts into stages come from a program over pairs of both.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import numpy as np

from problems import mixture, throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers.start import chain_of

PLACES = 200, 50, 20
"""Between which cuts are sought at most: where there are more they are even, as good as can be."""
SPENT = 1e-12
"""Shares that are rounding."""


def stages(instance: Instance, deadline: float) -> Iterator[Answer]:
    """Pipelines of stages, for a few orders of the devices; not all of them are valid."""
    mean = np.where(np.isfinite(instance.time), instance.time, 0.0).sum(axis=0)
    orders = [np.arange(instance.K), np.argsort(mean, kind="stable")]
    orders.append(np.argsort(-instance.memory, kind="stable"))
    for most in PLACES:
        if time.monotonic() > deadline:
            return
        line = Line(instance, most)
        for order in np.unique(orders, axis=0):
            answer = line.best(order, deadline)
            if answer is not None:
                yield answer


def spread(instance: Instance, devices: list[np.ndarray]) -> np.ndarray:
    """What devices hold for some mappings, shape (n, K), and what fits besides at either end of it.

    Cuts between stages may then move without any more memory. A device that holds more than one
    stretch of the line gets nothing more.
    """
    line = Line(instance, PLACES[0])
    held = mixture.held_by(instance, devices)
    for k in range(instance.K):
        mine = np.unique(line.block[held[:, k]])
        if not len(mine) or not np.isfinite(instance.memory[k]):
            continue
        low, high = int(mine[0]), int(mine[-1]) + 1
        if not line.takes(k, low, high):
            continue
        moved = True
        while moved:
            moved = False
            for ends in ((low - 1, high), (low, high + 1)):
                ends = (min(ends[0], low), max(ends[1], high))
                if line.takes(k, *ends):
                    (low, high), moved = ends, True
        held[:, k] = (line.block >= low) & (line.block < high)
    return held


class Line:
    """The graph of one instance as a line of at most so many blocks of parts."""

    def __init__(self, instance: Instance, most: int) -> None:
        self.instance = instance
        part, runs = chain_of(instance), np.isfinite(instance.time)
        self.block = part
        if part.max() >= most:
            work = np.bincount(part, np.where(runs, instance.time, 0.0).mean(axis=1))
            reach = np.cumsum(work + 1e-9 * work.sum() + 1e-30)
            ends = np.unique(np.searchsorted(reach, np.linspace(0, reach[-1], most + 1)[1:]))
            self.block = np.searchsorted(ends, part)
        self.B = int(self.block.max()) + 1
        self.work, self.out = self._until(np.where(runs, instance.time, 0.0)), self._until(~runs)
        size = instance.node_bytes.astype(float)
        readers = np.diff(instance.shared_ptr)
        np.add.at(size, instance.shared_node, np.repeat(instance.shared_bytes, readers))
        self.bytes = self._until(size[:, None])[:, 0]
        self.got, self.gave = self._transfers()

    def takes(self, k: int, low: int, high: int) -> bool:
        """Whether device k runs and holds the blocks from `low` up to `high`."""
        if low < 0 or high > self.B:
            return False
        fits = self.bytes[high] - self.bytes[low] <= self.instance.memory[k]
        return bool(fits and self.out[high, k] == self.out[low, k])

    def _transfers(self) -> tuple[np.ndarray, np.ndarray]:
        """Seconds of receiving and sending over each link, for what lies between two places.

        Shape (links, B + 1, B + 1); what is sent to several others counts once.
        """
        instance, B = self.instance, self.B
        u, v = instance.edges.T
        pairs = np.unique(np.stack([u, self.block[v]], axis=1), axis=0)
        u, to = pairs[self.block[pairs[:, 0]] < pairs[:, 1]].T
        source, seconds = self.block[u], instance.link_time[:, u]
        same = np.zeros(len(u), bool)
        same[1:] = u[1:] == u[:-1]
        before = np.where(same, np.roll(to, 1), source)
        furthest = np.append(~same[1:], True) if len(u) else same
        got, gave = (np.zeros((len(instance.link_time), B + 2, B + 2)) for _ in range(2))
        links = np.arange(len(got))[:, None]
        # A piece that begins after the reader before, or the source, and holds this one.
        np.add.at(got, (links, before + 1, to + 1), seconds)
        np.subtract.at(got, (links, to + 1, to + 1), seconds)
        p, q, seconds = source[furthest], to[furthest], seconds[:, furthest]
        for start, sign in ((np.zeros_like(p), 1.0), (p + 1, -1.0)):
            np.add.at(gave, (links, start, p + 1), sign * seconds)
            np.subtract.at(gave, (links, start, q + 1), sign * seconds)
        for each in (got, gave):
            np.cumsum(each, axis=1, out=each)
            np.cumsum(each, axis=2, out=each)
        return got[:, :-1, :-1], gave[:, :-1, :-1]

    def _until(self, amount: np.ndarray) -> np.ndarray:
        """Sums over the blocks before every place, shape (B + 1, columns)."""
        sums = np.zeros((self.B + 1, amount.shape[1]))
        np.add.at(sums, self.block + 1, amount)
        result: np.ndarray = sums.cumsum(axis=0)
        return result

    def best(self, order: np.ndarray, deadline: float) -> Answer | None:
        """The pipeline of largest rate with devices in this order; None if there is none."""
        B, K = self.B, len(order)
        rate = np.array([self._rates(k) for k in order])  # device, from, to
        value = np.zeros((K + 1, B + 1))
        value[0, 0] = np.inf
        came = np.zeros((K + 1, B + 1, 2), np.int64)
        for last in range(1, K + 1):
            together = np.zeros((B + 1, B + 1))
            for first in range(last - 1, -1, -1):
                if time.monotonic() > deadline:
                    return None
                together += rate[first]
                through = np.minimum(value[first][:, None], together)
                start = through.argmax(axis=0)
                reached = through[start, np.arange(B + 1)]
                better = reached > value[last]
                value[last][better] = reached[better]
                came[last][better] = np.stack([np.full(B + 1, first), start], 1)[better]
        last, at = int(value[:, B].argmax()), B
        if not 0 < value[last, B] < np.inf:
            return None
        chosen: list[tuple[int, int, np.ndarray, np.ndarray]] = []
        while at > 0:
            first, start = came[last, at].tolist()
            chosen.append((start, at, order[first:last], rate[first:last, start, at]))
            last, at = first, start
        return self._answer(chosen)

    def _rates(self, k: int) -> np.ndarray:
        """Samples a second that device k takes of what lies between two places, shape (B+1, B+1).

        0 where it does not run or hold it.
        """
        instance = self.instance
        work = self.work[None, :, k] - self.work[:, None, k]
        others = np.arange(instance.K) != k
        if instance.host[k] or not others.any():
            move = np.zeros(work.shape)
        elif instance.staged:
            move = self.got[instance.port[k]] + self.gave[instance.port[k]]
        else:
            move = self.got[instance.wire[others, k]].max(axis=0)
            move += self.gave[instance.wire[k, others]].max(axis=0)
        load = work + move
        if throughput.rules_of(instance).overlap != "none":
            load = np.maximum(work, move)
        size = self.bytes[None, :] - self.bytes[:, None]
        places = np.arange(self.B + 1)
        able = (places[None, :] > places[:, None]) & (size <= instance.memory[k])
        able &= (self.out[None, :, k] == self.out[:, None, k]) & (load > 0)
        rates: np.ndarray = np.divide(1.0, load, out=np.zeros(load.shape), where=able)
        return rates

    def _answer(self, chosen: list[tuple[int, int, np.ndarray, np.ndarray]]) -> Answer:
        """Mappings by which every device of a stage gets its share of the samples."""
        able = [(first, last, who[rate > 0], rate[rate > 0]) for first, last, who, rate in chosen]
        turns = [np.cumsum(rate / rate.sum()) for _, _, _, rate in able]
        marks = np.unique(np.concatenate([[0.0], *turns]))
        devices, shares = [], []
        for low, high in itertools.pairwise(marks.tolist()):
            if high - low <= SPENT:
                continue
            device = np.zeros(self.B, np.int64)
            for (first, last, who, _), turn in zip(able, turns, strict=True):
                mine = np.searchsorted(turn, (low + high) / 2)
                device[first:last] = who[min(mine, len(who) - 1)]
            devices.append(device[self.block])
            shares.append(high - low)
        return mixture.answer_of(self.instance, devices, np.array(shares))
