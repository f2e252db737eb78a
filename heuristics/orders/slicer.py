"""Runs the program over slices: one order after the other, by the clock and by phases."""

from __future__ import annotations

import math
from dataclasses import replace

import msgspec
import numpy as np

from heuristics.orders import slices, ways
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from problems import throughput
from problems.instance import Instance

# Runs for falling limits of the forward loads, where the phases count apart.
LEVELS = 64


def chain_space(instance: Instance) -> space_.Space:
    """The units that a chain of devices cannot separate, numbered topologically.

    That is the space of the instance, or of its contiguous twin: an answer of that one is valid for
    free placement too.
    """
    rules = throughput.rules_of(instance)
    if not rules.contiguous:
        instance = replace(instance, rules=msgspec.structs.replace(rules, contiguous=True))
    return space_.build(instance)


class Slicer:
    """The program for one instance; answers that improve go to `best`.

    Attributes
    ----------
    space : Space
        Of chains; see :func:`chain_space`.
    """

    def __init__(self, instance: Instance, best: Best) -> None:
        self.instance, self.best = instance, best
        self.space = chain_space(instance)
        self.ways = ways.build(instance, self.space.unit_time, _sequence(instance, self.space))
        units = len(self.space.unit_bytes)
        self.known = slices.table(units, self.ways)
        self._remaining = np.empty((units + 1, 2))
        self._place = np.empty(units, np.int64)
        self.everywhere = np.ones(units + 1, bool)
        self.split = self.space.split
        # Whether the value of the program is the objective.
        self.exact = ways.is_exact(instance) and not self.split

    def solve(self, order: np.ndarray, cut: np.ndarray, *, phases: bool = True) -> float:
        """Offer the best slices of an order if they beat the best answer; returns their objective.

        Parameters
        ----------
        order : int64 array, shape (U,)
            A topological order of the units.
        cut : bool array, shape (U + 1,)
            Where a slice may end.
        phases : bool
            Where phases count apart, whether to search for the best of them, which takes many
            runs, or to take the least sum of both.

        Returns
        -------
        float
            Seconds; inf if nothing better was found, or none in time.
        """
        if not (self.split and phases):
            return self.run(order, cut, self.best.value)
        # A chain with more of the forward loads has at least that much of the backward ones.
        forward, found = self.best.value, math.inf
        for _ in range(LEVELS):
            value = self.run(order, cut, self.best.value, forward)
            if value == math.inf:
                break
            found = min(found, value)
            forward = float(throughput.loads(self.instance, self.device())[0].max())
            forward *= 1 - 3 * slices.ROUNDING
        return found

    def run(
        self, order: np.ndarray, cut: np.ndarray, cap: float, forward: float | None = None
    ) -> float:
        """Run the program once for loads under `cap` seconds; returns the objective, or inf.

        With `forward`, the forward loads are held to it and the backward ones count; without, the
        sum counts.
        """
        split = forward is not None
        caps = np.array([math.inf if forward is None else forward, cap])
        if not split or caps[0] == math.inf:
            caps[0] = min(caps[0], np.finfo(float).max / 4)
        caps[1] = min(cap, np.finfo(float).max / 4)
        slices.begin(self.space, self.ways, self.known, order, self._remaining)
        at = 0
        while at < len(order):
            if self.best.done():
                return math.inf
            at = slices.expand(
                self.space, self.ways, self.known, order, cut, self._remaining, split, caps, at,
                slices.VISITS,
            )  # fmt: skip
        value = float(slices.trace(self.ways, self.known, order, self._place))
        if value == math.inf:
            return value
        if not self.exact:
            value = throughput.period(self.instance, self.device())
        if value < self.best.value:
            self.best.offer_device(self.device())
        return value

    def device(self) -> np.ndarray:
        """Device of every node after a run that found slices, shape (n,)."""
        device: np.ndarray = self._place[self.space.unit]
        return device


def _sequence(instance: Instance, space: space_.Space) -> np.ndarray:
    """One order of devices for those that are too unlike to try all: the fastest come first."""
    work = np.where(np.isfinite(space.unit_time), space.unit_time, 0.0).sum(axis=0)
    able = np.isfinite(space.unit_time).sum(axis=0)
    return np.argsort(work / np.maximum(able, 1), kind="stable")
