"""Throughput, contiguous: a heavy block together with what stands before and after it.

The heavy block of :mod:`problems.bounds.block` has a place in the chain: some devices come before
it, the others after it. For each class of the block and each number of devices of each class before
it, a mixed-integer program asks for the least t such that

* the block has a load of at most t, and does its share of the work;
* what comes before is a prefix of the chain and fits the devices before: their compute, by class
  and fractional inside a class, their memory, and all of it together with the transfers across the
  prefix's border, are at most t a device; likewise what comes after.

The least over all places is the bound. With three devices it is close to the problem itself.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from problems.bounds.block import (
    Period,
    hold,
    hold_no_more,
    least_of,
    least_period,
    members,
    refuses,
)
from problems.bounds.linear import TOLERANCE, Linear
from problems.bounds.nets import Nets, by_phases
from problems.bounds.node_bound import RULES
from problems.bounds.registry import bound
from problems.instance import Instance
from problems.throughput import rules_of

MOST_PLACES = 200


def _refuses(instance: Instance) -> str | None:
    if not rules_of(instance).contiguous:
        return "a free placement has no chain"
    counts = np.bincount(instance.device_class)
    if np.prod(counts + 1.0) * len(counts) > MOST_PLACES:
        return f"more than {MOST_PLACES} places for the heavy block"
    return refuses(instance)


@bound("block-position", problems=["throughput"], rules=RULES, refuses=_refuses, effort="search")
def block_position(instance: Instance, seconds: float) -> tuple[float, str]:
    """Least period with one heavy block and all else pooled on its two sides, in seconds."""
    return by_phases(instance, _position, seconds)


def _position(nets: Nets, seconds: float) -> tuple[float, str]:
    places = []
    for c in np.flatnonzero(~nets.host).tolist():
        others = nets.count - (np.arange(len(nets.count)) == c)
        for before in product(*(range(n + 1) for n in others.tolist())):
            places.append((c, np.array(before), others - before))

    def solve(i: int, limit: float, above: float) -> float:
        c, before, after = places[i]
        model, t = Linear(), Period()
        t.variable = int(model.variables(1, lower=1.0 - TOLERANCE, upper=np.inf)[0])
        first, x, last = members(model, nets)
        hold(model, nets, c, x, t)
        _pool(model, nets, before, first, t, (False, True))
        _pool(model, nets, after, last, t, (True, False))
        return least_period(model, t.variable, limit, above)

    return least_of(nets, len(places), solve, seconds, "HiGHS: one heavy block at every place")


def _pool(
    model: Linear,
    nets: Nets,
    count: np.ndarray,
    x: np.ndarray,
    t: Period,
    ways: tuple[bool, bool],
) -> None:
    """Devices of several classes, `count` of shape (C,), hold `x` together."""
    classes = np.flatnonzero(count).tolist()
    G = len(x)
    parts = np.array([x] if len(classes) == 1 else [model.variables(G) for _ in classes])
    if len(classes) != 1:  # also none, which leaves nothing to hold
        split = model.rows(G, lower=0.0, upper=0.0)
        model.add(split, x, -1.0)
        for part in parts:
            model.add(split, part, 1.0)
    if classes:
        hold_no_more(model, nets, classes, parts, t.variable, count[classes].tolist(), x, ways)
