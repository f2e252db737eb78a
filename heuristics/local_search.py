"""Local search: one colocation group to another device, as long as that helps."""

from __future__ import annotations

import math
import time
from typing import Annotated, Literal

import numpy as np

from heuristics.moves import calls, latency, throughput
from heuristics.random import draw
from heuristics.shared import rng as rng_
from heuristics.shared import space as space_
from heuristics.shared import state as state_
from heuristics.shared.best import Best, objective
from heuristics.shared.feasible import baseline
from heuristics.shared.space import Space
from problems import latency as latency_
from problems import ports
from problems.answer import Answer
from problems.instance import Instance
from problems.placement import is_placeable
from solvers.method import Context, Range, method

# As published; taken without a deadline and without a number of restarts.
RESTARTS = 10
# Draws of a random start that may fail one after the other: memory may leave next to none.
DRAWS = 200
# Relative; a smaller improvement is none.
LEAST = 1e-9
# Seconds between two looks at the clock.
PATIENCE = 0.004


@method(
    problems=["throughput", "latency", "calls"],
    source="Tarnawski et al. 2020 (arXiv 2006.16423)",
    warm=True,
    mixtures=True,
)
def local_search(
    instance: Instance,
    context: Context,
    *,
    restarts: Annotated[int, Range(0, 1_000_000)] = 0,
    improvement: Literal["best", "first"] = "best",
) -> Answer | None:
    """Move one colocation group to another device while that helps, from random starts.

    Published for throughput with `best` improvement and 10 restarts, that is
    ``local-search[restarts=10]``; 0 goes on until time is up, or for 10 without a limit. `first`
    takes the first move that helps and goes round. Beyond the paper: starts and moves keep every
    rule (under contiguous and calls, pieces of an order are drawn), hosts take part, and a start
    given from outside is improved first. Latency and calls: the objective of the mapping as
    dispatch completes it.
    """
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    if restarts == 0 and context.deadline == math.inf:
        restarts = RESTARTS
    climb = _Climb(instance, space, best, improvement == "first")
    if context.start is not None and best.answer is not None:
        climb.run(best.answer.device[space.unit_node[space.unit_ptr[:-1]]])
    state, stream = state_.empty(space), rng_.seeded(context.rng)
    count = failed = 0
    while not best.done() and (restarts == 0 or count < restarts) and failed < DRAWS:
        if instance.problem == "calls":
            place = _cuts(instance, space, context.rng)
        else:
            place = state.place.copy() if draw(space, state, stream) else None
        if place is None:
            failed += 1
        else:
            climb.run(place)
            count, failed = count + 1, 0
    return best.answer


def _cuts(instance: Instance, space: Space, rng: np.random.Generator) -> np.ndarray | None:
    """Random pieces of the order of units on devices in random order; None if they do not fit.

    Any random placement would take more calls than an accelerator may make.
    """
    U, K = space.unit_time.shape
    cuts = np.sort(rng.integers(0, U + 1, K - 1))
    place: np.ndarray = rng.permutation(K)[np.searchsorted(cuts, np.arange(U), side="right")]
    return place if is_placeable(instance, place[space.unit]) else None


class _Climb:
    """Descents in the neighbourhood of one instance."""

    def __init__(self, instance: Instance, space: Space, best: Best, first: bool) -> None:
        self.instance, self.space, self.best, self.first = instance, space, best, first
        self.moves: throughput.Moves | latency.Moves | calls.Moves
        if instance.problem == "throughput":
            self.moves = throughput.Moves(space)
        elif instance.problem == "latency":
            self.moves = latency.Moves(space)
        else:
            self.moves = calls.Moves(space, instance)
        # With ports, what moves give is a lower bound only.
        self.bounds_only = ports.has_ports(instance)
        self._piece = 4

    def run(self, place: np.ndarray) -> None:
        """Descend from a placement of units, shape (U,)."""
        U, place = len(place), place.copy()
        value = self.moves.place(place)
        if self.bounds_only:
            value = self._exact(place)
        at = idle = 0  # the unit to look at, and how many in a row did not help
        found, move = math.inf, (-1, -1)
        while not self.best.done() and idle < U:
            last = min(at + self._piece, U, at + U - idle)
            each = self._timed(at, last)
            ceiling = min(found, value * (1 - LEAST))
            for g, k in self._promising(each, at, ceiling):
                trial = float(each[g - at, k])
                if self.bounds_only:
                    if trial >= ceiling:
                        continue
                    trial = self._exact_after(place, g, k)
                    if self.best.done():
                        break
                if trial < ceiling:
                    ceiling = found = trial
                    move = g, k
                    if self.first:
                        break
            scanned = last - at
            if self.first and move[0] >= 0:
                scanned = move[0] - at + 1
            at, idle = (at + scanned) % U, idle + scanned
            if move[0] >= 0 and (self.first or idle >= U):
                place[move[0]] = move[1]
                self.moves.move(*move)
                value = found
                # `best` looks at all units again, `first` goes on from here.
                at, idle = (at if self.first else 0), 0
                found, move = math.inf, (-1, -1)
        if value < self.best.value * (1 - LEAST):
            self.best.offer_device(place[self.space.unit])

    def _promising(self, each: np.ndarray, at: int, ceiling: float) -> list[tuple[int, int]]:
        """Moves below `ceiling` in order; for `best`, the best one of them, if that is known."""
        rows, columns = np.nonzero(each < ceiling)
        if len(rows) and not (self.first or self.bounds_only):
            least = each[rows, columns].argmin()
            rows, columns = rows[[least]], columns[[least]]
        return [(at + g, k) for g, k in zip(rows.tolist(), columns.tolist(), strict=True)]

    def _timed(self, at: int, last: int) -> np.ndarray:
        """Values of some moves; how many the next call looks at follows the time that it took."""
        begin = time.monotonic()
        each = self.moves.values(at, last)
        taken = time.monotonic() - begin
        self._piece = max(1, min(4 * self._piece, int((last - at) * PATIENCE / max(taken, 1e-7))))
        return each

    def _exact_after(self, place: np.ndarray, g: int, k: int) -> float:
        back, place[g] = place[g], k
        value = self._exact(place)
        place[g] = back
        return value

    def _exact(self, place: np.ndarray) -> float:
        return objective(self.instance, latency_.dispatch(self.instance, place[self.space.unit]))
