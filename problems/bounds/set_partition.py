"""Throughput: column generation over what one device can hold.

Suppose that the optimum is at most a level t. Then every device of class c holds a set S of groups
that fits it, with load_c(S) <= t (convex where the instance is contiguous), and the sets of all
devices partition the groups. For multipliers lambda_c >= 0 with sum_c n_c lambda_c = 1 and pi_g,

    OPT >= sum_g pi_g + sum_c n_c min over such S of  lambda_c load_c(S) - pi(S)

and so OPT >= min(t, that). Like devices take their sets from one pool, which leaves no symmetry.
The minimum over S is :mod:`problems.bounds.pricing`'s; its dual bound is what counts, so that one
stopped early is as sound. Before it goes what :mod:`problems.bounds.supposing` says of answers
under t.

Multipliers begin as those of the local polytope (:mod:`problems.bounds.local_polytope`), which lie
near the best ones. From there a master program over the sets found so far proposes others, within a
box around the best so far that grows when it helps and shrinks when it does not. A level that is
reached is proved, and the next one is higher; one whose best multipliers stay below it was too
high.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from problems.bounds.block import unit_cost
from problems.bounds.linear import TOLERANCE, Linear
from problems.bounds.local_polytope import local, program
from problems.bounds.nets import Nets, by_phases
from problems.bounds.node_bound import RULES
from problems.bounds.node_cut import Effort, least
from problems.bounds.pricing import Pricing
from problems.bounds.registry import bound
from problems.bounds.supposing import supposing
from problems.instance import Instance

MOST_NODES = 1_500
FIRST_STEP, LAST_STEP = 0.1, 0.001  # of the level above the proved bound, relative
CONVERGED = 1e-4
# Of what a level is above the best bound for it: a box that promises less is not worth the wait,
# as a lower level goes on from the same multipliers and has fewer sets. The lowest one waits.
PROMISE = 0.15
FIRST_BOX, LEAST_BOX, LARGEST_BOX = 0.1, 0.001, 3.0  # half its width, in usual multipliers
GROW, SHRINK = 2.0, 0.7
CUTS = 6_000_000  # arcs x minimum cuts to see what a level implies: about a second
SHARE = 0.1  # of the time left that one minimum over sets may take, but a second
CHUNKS = 6  # first sets: that many runs of the topological order, at as many sizes


def _refuses(instance: Instance) -> str | None:
    if instance.host.all():
        return "no device pays transfers"
    if instance.n > MOST_NODES:
        return f"more than {MOST_NODES} nodes"
    return None


@bound(
    "set-partition",
    problems=["throughput"],
    rules=RULES,
    refuses=_refuses,
    effort="search",
)
def set_partition(instance: Instance, seconds: float) -> tuple[float, str]:
    """Lagrangian bound over partitions into sets that devices can hold, in seconds."""
    return by_phases(instance, _generate, seconds)


class _Multipliers(NamedTuple):
    """lambda, shape (C,), and pi, shape (G,)."""

    load: np.ndarray
    cover: np.ndarray


class _Set(NamedTuple):
    c: int
    groups: np.ndarray
    load: float


class _Known(NamedTuple):
    """What one level leaves to the next, by groups of the instance."""

    multipliers: _Multipliers | None
    sets: list[np.ndarray]


def _generate(nets: Nets, seconds: float) -> tuple[float, str]:
    deadline = time.monotonic() + seconds
    unit = nets.work[0]
    if unit <= 0:
        return 0.0, "no work to share"
    proved = max(1.0, least(nets)[0] / unit, local(nets)[0] / unit)
    first, steps, step, most = proved, 0, FIRST_STEP, _most(nets)
    known = _Known(None, _first_sets(nets))
    while proved < most and time.monotonic() < deadline:
        level = proved * (1 + step)
        left = supposing(nets, unit * level, Effort(CUTS))
        if left is None:
            reached = level
        else:
            search = _Search(nets, *left, level, known)
            reached = search.run(deadline, PROMISE if step > LAST_STEP else 0.0)
            steps += search.steps
            # Above the best bound multipliers only grow: those of a level that was reached lead
            # astray, its sets do not.
            known = _Known(
                known.multipliers if reached >= level else search.multipliers(), search.sets()
            )
        if reached >= level:
            step = min(2 * step, FIRST_STEP)
        elif step > LAST_STEP:
            step = max(step / 3, LAST_STEP)
        elif reached <= proved + CONVERGED:
            break
        proved = max(proved, min(level, reached))
    if proved >= most:
        return (
            unit * most,
            "stopped beyond all work and transfers on one device: most likely nothing fits",
        )
    if proved <= first:
        return unit * proved, "no more than the cheap bounds that it starts from"
    return unit * proved, f"HiGHS: Lagrangian of column generation, {steps} steps"


class _Search:
    """Multipliers for one level.

    Parameters
    ----------
    nets : Nets
        The instance, whose load LP is the unit.
    left, label : Nets, int64 array of shape (G,)
        What :func:`problems.bounds.supposing.supposing` leaves of it.
    """

    def __init__(
        self, nets: Nets, left: Nets, label: np.ndarray, level: float, known: _Known
    ) -> None:
        self.unit, self.label, self.level = nets.work[0], label, level
        # In the unit of the instance, so that all levels have one.
        self.nets = left
        self.steps = 0
        self.classes = range(len(left.count))
        self.pricing = [Pricing(left, self.unit, c) for c in self.classes]
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
            self.centre = _Multipliers(known.multipliers.load, cover)

    def first(self) -> _Multipliers:
        """Those of the local polytope."""
        model, t, whole, loads = program(self.nets)
        solved = model.solved(unit_cost(model, t))
        unit, share = self.nets.work
        if solved is None:
            return _Multipliers(share, np.full(len(self.size), 1.0 / len(self.size)))
        rows = model.matrix()[:, [t]].tocoo().row
        held = np.zeros(model.height, bool)
        held[rows] = True
        load = np.array([np.maximum(-solved[1][each[held[each]]], 0.0).sum() for each in loads])
        total = float(self.nets.count @ load)
        return _Multipliers(
            load / total if total > 0 else share, solved[1][whole] * (unit / self.unit)
        )

    def multipliers(self) -> _Multipliers:
        """The best ones by groups of the instance, those of merged groups shared out evenly."""
        return _Multipliers(self.centre.load, (self.centre.cover / self.size)[self.label])

    def sets(self) -> list[np.ndarray]:
        """The pool by groups of the instance."""
        distinct = {each.groups.tobytes(): each.groups for each in self.pool}
        return [np.flatnonzero(np.isin(self.label, groups)) for groups in distinct.values()]

    def add(self, groups: np.ndarray) -> None:
        """Put a set into the pool for every class that can hold it."""
        nets = self.nets
        for c in self.classes:
            key = (c, groups.tobytes())
            fits = (
                np.isfinite(nets.time[groups, c]).all()
                and nets.bytes[groups].sum() <= (nets.memory[c])
            )
            if fits and key not in self.seen:
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

    def master(self, cover_box: np.ndarray, load_box: float) -> tuple[float, _Multipliers] | None:
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
        cost[over] = centre.load * (1 + load_box)
        cost[under] = -np.maximum(centre.load * (1 - load_box) - load_box / C * 0.1, 0.0)
        cost[over] += load_box / C * 0.1
        cost[period] = 1.0
        solved = model.solved(cost)
        if solved is None:
            return None
        upper, dual = solved
        load = np.maximum(-dual[loads], 0.0)
        total = float(nets.count @ load)
        load = load / total if total > 0 else centre.load
        return upper, _Multipliers(load, dual[cover])


def _most(nets: Nets) -> float:
    """Everything on the slowest device, and each transfer once, in units: beyond, nothing fits."""
    slowest = np.where(np.isfinite(nets.time), nets.time, 0.0).max(axis=1).sum()
    return (
        float(slowest + nets.send.max(axis=0).sum() + nets.receive.max(axis=0).sum()) / nets.work[0]
    )


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


def _first_sets(nets: Nets) -> list[np.ndarray]:
    """Single groups, and runs of the topological order at several sizes."""
    G = len(nets.time)
    runs = [np.arange(g, g + 1) for g in range(G)]
    for parts in range(2, CHUNKS + 2):
        runs += [r for r in np.array_split(np.arange(G), parts * nets.count.sum()) if len(r) > 1]
    return runs
