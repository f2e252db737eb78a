"""Multipliers of the set partition by column generation, within a box around the best ones.

The bound that multipliers give is concave in them, so that the best ones of a box that do not
lie at its border are the best of all. A master program over the sets found so far overestimates
it; its maximum in the box is tried next, and the sets that are most valuable there join the pool.
The box grows when a trial is better than all before, and shrinks when it is not.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from problems.bounds.block import unit_cost
from problems.bounds.chain_pricing import ChainPricing
from problems.bounds.linear import TOLERANCE, Linear
from problems.bounds.local_polytope import program
from problems.bounds.nets import Nets
from problems.bounds.pricing import Pricing

CONVERGED = 1e-4
FIRST_BOX, LEAST_BOX, LARGEST_BOX = 0.1, 0.001, 3.0  # half its width, in usual multipliers
LOAD_PART = 0.1  # of the mean multiplier of loads, which each of their boxes has for certain
GROW, SHRINK = 2.0, 0.7
SHARE = 0.1  # of the time left that one minimum over sets may take, but a second


class Multipliers(NamedTuple):
    """lambda, shape (C,), and pi, shape (G,)."""

    load: np.ndarray
    cover: np.ndarray


class _Set(NamedTuple):
    c: int
    groups: np.ndarray
    load: float


class Known(NamedTuple):
    """What one level leaves to the next, by groups of the instance."""

    multipliers: Multipliers | None
    sets: list[np.ndarray]


class Search:
    """Multipliers for one level.

    Parameters
    ----------
    nets : Nets
        The instance, whose load LP is the unit.
    left, label : Nets, int64 array of shape (G,)
        What :func:`problems.bounds.supposing.supposing` leaves of it.
    level : float
        Most load of a device, in units.
    known : Known
        What another level has found.
    """

    def __init__(
        self, nets: Nets, left: Nets, label: np.ndarray, level: float, known: Known
    ) -> None:
        # The unit is that of the instance, so that all levels have one.
        self.unit, self.nets, self.label, self.level = nets.work[0], left, label, level
        self.steps = 0
        self.classes = range(len(left.count))
        price = ChainPricing if left.contiguous else Pricing
        self.pricing = [price(left, self.unit, c) for c in self.classes]
        self.size = np.bincount(label)
        self.pool: list[_Set] = []
        self.seen: set[tuple[int, bytes]] = set()
        for groups in known.sets:
            inside = np.bincount(label[groups], minlength=len(self.size))
            if (inside[inside > 0] == self.size[inside > 0]).all():
                self.add(np.flatnonzero(inside))
        if known.multipliers is None:
            self.centre = self.first()
        else:
            cover = np.bincount(label, known.multipliers.cover, len(self.size))
            self.centre = Multipliers(known.multipliers.load, cover)

    def first(self) -> Multipliers:
        """Those of the local polytope."""
        model, t, whole, loads = program(self.nets)
        solved = model.solved(unit_cost(model, t))
        unit, share = self.nets.work
        if solved is None:
            return Multipliers(share, np.full(len(self.size), 1.0 / len(self.size)))
        rows = model.matrix()[:, [t]].tocoo().row
        held = np.zeros(model.height, bool)
        held[rows] = True
        load = np.array([np.maximum(-solved[1][each[held[each]]], 0.0).sum() for each in loads])
        total = float(self.nets.count @ load)
        return Multipliers(
            load / total if total > 0 else share, solved[1][whole] * (unit / self.unit)
        )

    def multipliers(self) -> Multipliers:
        """The best ones by groups of the instance, those of merged groups shared out evenly."""
        return Multipliers(self.centre.load, (self.centre.cover / self.size)[self.label])

    def sets(self) -> list[np.ndarray]:
        """The pool by groups of the instance."""
        distinct = {each.groups.tobytes(): each.groups for each in self.pool}
        return [np.flatnonzero(np.isin(self.label, groups)) for groups in distinct.values()]

    def add(self, groups: np.ndarray) -> None:
        """Put a set into the pool for every class that can hold it."""
        nets = self.nets
        for c in self.classes:
            key = (c, groups.tobytes())
            fits = nets.bytes[groups].sum() <= nets.memory[c]
            if fits and np.isfinite(nets.time[groups, c]).all() and key not in self.seen:
                load = load_of(nets, c, groups) / self.unit
                if load <= self.level * (1 + TOLERANCE):
                    self.seen.add(key)
                    self.pool.append(_Set(c, groups, load))

    def run(self, deadline: float, promise: float) -> float:
        """The best bound that is found, in units; above the level there is no need for more.

        Parameters
        ----------
        deadline : float
            Moment of ``time.monotonic()`` to stop at.
        promise : float
            Part of the way from the best bound to the level under which the box is left.
        """
        best, box, trial = -np.inf, FIRST_BOX, self.centre
        usual = np.maximum(np.abs(trial.cover), np.abs(trial.cover).mean())
        while time.monotonic() < deadline:
            self.steps += 1
            value, known = float(trial.cover.sum()), len(self.pool)
            for each, n in zip(self.pricing, self.nets.count.tolist(), strict=True):
                left = max(deadline - time.monotonic(), 0.0)
                limit = min(left, max(1.0, SHARE * left))
                low, held = each.least(trial.load[each.c], trial.cover, self.level, limit)
                self.hold_against_known(each.c, low, trial)
                value += n * low
                if held is not None and len(held):
                    self.add(held)
            if value > best:
                grown = value > best + CONVERGED
                best, self.centre = value, trial
                box = min(GROW * box, LARGEST_BOX) if grown else box
            else:
                box *= SHRINK
            if best >= self.level:
                break
            proposed = self.master(box * usual, box)
            if proposed is None:
                break
            upper, trial = proposed
            # The best multipliers are the best of the box, hence of all; or nothing new is found.
            little = max(CONVERGED, promise * (self.level - best))
            if upper <= best + little or (len(self.pool) == known and box < LEAST_BOX):
                break
        return best

    def hold_against_known(self, c: int, low: float, at: Multipliers) -> None:
        """Refuse a minimum that a known set is under: a solver that is wrong proves nothing.

        Raises
        ------
        ArithmeticError
            If there is one. (Sets of chains are left out: not all in the pool are convex.)
        """
        known = [each for each in self.pool if each.c == c]
        if self.nets.contiguous or not known:
            return
        begin = np.cumsum([0, *(len(each.groups) for each in known[:-1])])
        cover = np.add.reduceat(at.cover[np.concatenate([each.groups for each in known])], begin)
        least = float((at.load[c] * np.array([each.load for each in known]) - cover).min())
        if low > least + TOLERANCE:
            raise ArithmeticError(f"a set costs {least}, under the minimum of {low} over all sets")

    def master(self, cover_box: np.ndarray, load_box: float) -> tuple[float, Multipliers] | None:
        """Best multipliers for the pool, in a box around the centre, and their value.

        Dual: fractional partitions into the sets, which may leave it at a price.
        """
        nets, sets, centre = self.nets, self.pool, self.centre
        G, C, N = len(nets.time), len(nets.count), len(sets)
        model = Linear()
        use = model.variables(N, upper=np.inf)
        missing, doubled = model.variables(G, upper=np.inf), model.variables(G, upper=np.inf)
        over, under = model.variables(C, upper=np.inf), model.variables(C, upper=np.inf)
        period = model.variables(1, lower=-np.inf, upper=np.inf)
        cover = model.rows(G, lower=1.0, upper=1.0)
        loads = model.rows(C, upper=0.0)
        used = model.rows(C, upper=nets.count.astype(float))
        if sets:
            kind = np.array([each.c for each in sets])
            column = np.repeat(use, [len(each.groups) for each in sets])
            model.add(cover[np.concatenate([each.groups for each in sets])], column, 1.0)
            model.add(loads[kind], use, [each.load for each in sets])
            model.add(used[kind], use, 1.0)
        for rows, plus, minus in ((cover, missing, doubled), (loads, under, over)):
            model.add(rows, plus, 1.0)
            model.add(rows, minus, -1.0)
        model.add(loads, period, -nets.count.astype(float))
        cost = np.zeros(model.width)
        cost[missing], cost[doubled] = centre.cover + cover_box, cover_box - centre.cover
        width = load_box * (centre.load + LOAD_PART / nets.count.sum())
        cost[over], cost[under] = centre.load + width, -np.maximum(centre.load - width, 0.0)
        cost[period] = 1.0
        solved = model.solved(cost)
        if solved is None:
            return None
        upper, dual = solved
        load = np.maximum(-dual[loads], 0.0)
        total = float(nets.count @ load)
        load = load / total if total > 0 else centre.load
        return upper, Multipliers(load, dual[cover])


def load_of(nets: Nets, c: int, groups: np.ndarray) -> float:
    """Least load of a device of class c that holds `groups`, in seconds."""
    x = np.zeros(len(nets.time), bool)
    x[groups] = True
    inside, outside = np.zeros(len(nets.source), bool), np.zeros(len(nets.source), bool)
    np.logical_or.at(inside, nets.pin_net, x[nets.pin])
    np.logical_or.at(outside, nets.pin_net, ~x[nets.pin])
    compute = float(nets.time[groups, c].sum())
    out = float(nets.send[c, x[nets.source] & outside].sum())
    into = float(nets.receive[c, ~x[nets.source] & inside].sum())
    return {
        "none": compute + into + out,
        "half": max(compute, into + out),
        "full": max(compute, into, out),
    }[nets.overlap]
