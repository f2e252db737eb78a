"""Long cool walks from many starts for `throughput`, the better half of which goes on.

Chunks on one order of the devices end in another basin than chunks on the next: neither their own
periods nor what a short walk makes of them tells which, and no walk that is cool enough to be of
use leaves a basin. So each start gets a walk of some length at once. Then the field is halved and
the walks are doubled until one is left. The course depends on the random numbers alone; the clock
cuts it.
"""

from __future__ import annotations

import math

import numpy as np

from heuristics.shared import anneal_throughput
from heuristics.shared.anneal_throughput import Search
from heuristics.shared.best import Best
from heuristics.shared.chunks import device_orders, offer_chunks
from heuristics.shared.pieces import in_pieces
from heuristics.shared.space import Space, topological
from problems.answer import Answer
from problems.instance import Instance
from solvers import rng as rng_
from solvers.method import Context

STARTS = 6
"""Walks of the first round."""
MOVES, EACH = 250_000, 800
"""Moves of a first walk: in all, and a unit at most."""
HEATS, COLD, LEVELS = (1e-3, 3e-3), 1e-5, 64
"""First temperatures by turns, and the last one, parts of the period; temperatures in between."""


def race(
    instance: Instance,
    space: Space,
    context: Context,
    best: Best,
    starts: int = STARTS,
    part: float = 1.0,
) -> list[Answer]:
    """One race of so many `starts`; each improvement is offered to `best`, which has an answer.

    The first start is the best answer itself. First walks have a `part` of the usual moves. Returns
    where the walks ended: mostly other basins than that of the best answer.
    """
    ends: list[Answer] = []
    if instance.K == 1 or best.answer is None or not best.value > 0.0:
        return ends
    run = Walks(instance, space, context, best)
    moves = max(1, int(part * run.moves))
    field: list[tuple[float, int, np.ndarray]] = []
    for i in range(starts):
        if best.done():
            return ends
        start = run.chunks() if i else np.asarray(best.answer.device[run.first])
        if start is not None:
            field.append(run.walk(start, moves, HEATS[i % len(HEATS)], i))
            ends.append(Answer.of(field[-1][2][space.unit]))
    while len(field) > 1 and not best.done():
        moves *= 2
        # Of equal periods, one basin most likely, one goes on.
        distinct = {value: (value, i, place) for value, i, place in reversed(field)}
        field = [distinct[value] for value in sorted(distinct)][: len(field) // 2]
        field = [run.walk(place, moves, HEATS[0], i) for _, i, place in field]
        ends += [Answer.of(place[space.unit]) for _, _, place in field]
    return ends


class Walks:
    """Walks on one instance from wherever is wanted.

    Attributes
    ----------
    moves : int
        Of a walk from a new start.
    """

    def __init__(
        self,
        instance: Instance,
        space: Space,
        context: Context,
        best: Best,
        run: Search | None = None,
    ) -> None:
        self.instance, self.space, self.context, self.best = instance, space, context, best
        self.rng = context.rng
        self.run = run or anneal_throughput.search(space, rng_.seeded(context.rng))
        self.first = space.unit_node[space.unit_ptr[:-1]]
        self.moves = min(MOVES, EACH * len(space.unit_bytes))
        self.turn, self.devices = 0, device_orders(instance)
        self.rng.shuffle(self.devices)

    def chunks(self) -> np.ndarray | None:
        """Chunks by number or along a depth-first order, each time on another order of devices.

        Shape (U,); None where they do not fit.
        """
        devices, self.turn = self.devices[self.turn % len(self.devices)], self.turn + 1
        order = np.arange(len(self.first))
        if self.turn % 3 == 0 or self.turn > len(self.devices):
            order = _depth_first(self.space, self.rng)
        own = Best(self.instance, Context(deadline=self.context.deadline))
        offer_chunks(self.instance, self.space, own, order, devices)
        return None if own.answer is None else np.asarray(own.answer.device[self.first])

    def walk(
        self, place: np.ndarray, moves: int, heat: float, number: int = 0
    ) -> tuple[float, int, np.ndarray]:
        """Period in seconds, `number` and placement, shape (U,), that a walk comes to."""
        run, best = self.run, self.best
        run.energy[1] = math.inf
        anneal_throughput.restart(self.space, run, place)
        hot, cooling = heat * run.energy[0], (COLD / heat) ** (1 / LEVELS)
        step = max(1, moves // LEVELS)

        def some(at: int, count: int) -> None:
            anneal_throughput.anneal(self.space, run, at, count, hot, cooling, step)

        def offer() -> None:
            if run.energy[1] < best.value:
                best.offer_device(run.best[self.space.unit])

        in_pieces(moves, some, best.done, offer)
        if run.energy[1] == math.inf:
            return math.inf, number, place
        return float(run.energy[1]), number, run.best.copy()


def _depth_first(space: Space, rng: np.random.Generator) -> np.ndarray:
    """A random depth-first topological order of nodes, as an order of units."""
    n = len(space.unit)
    missing = np.diff(space.pred_ptr)
    key = np.empty(n)
    stack = [int(u) for u in np.flatnonzero(missing == 0)[::-1]]
    missing = missing.tolist()
    for place in range(n):
        u = stack.pop()
        key[u] = place
        after = space.succ[space.succ_ptr[u] : space.succ_ptr[u + 1]]
        for v in rng.permutation(after).tolist():
            missing[v] -= 1
            if missing[v] == 0:
                stack.append(v)
    least = np.full(len(space.unit_bytes), math.inf)
    np.minimum.at(least, space.unit, key)
    return np.asarray(topological(space.after_ptr, space.after, least))
