"""Races of walks over `latency` schedules: which basin an answer ends in is not left to one start.

Walks from several answers, each with a heat of its own, make as many moves; the better half goes on
with twice as many and half the heat, until one is left (successive halving: Jamieson and Talwalkar
2016). That one walks on, long and with its full heat. Every race has more moves than the
one before, and other pairs of start and heat.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

HEATS = (3e-3, 1e-3, 1e-2, 1e-4)
"""First temperatures of walks, parts of the makespan; :data:`COLD` is the last one."""
COLD = 1e-5
WIDTH, NODES = 8, 10_000
"""Walks of a race, fewer in graphs so large that they would have more nodes in all."""
PACE, NODES_AT_PACE = 1e5, 1_000
"""Moves that a slow machine makes in a second, fewer in larger graphs."""
RACE, LONG, GROWTH = 0.1, 0.4, 1.4
"""Moves of the first race and of the walk behind it, shares of what the limit allows at that pace;
and what they grow by from race to race. A walk that time cuts short is lost."""
SECONDS = 1.0
"""What is taken for the limit where there is none."""
LONG_HEATS = (1.0, 3.0)
"""Factors of the winner's heat, by turns: what is best for short walks is cold for long ones."""
ALIKE = 1e-6
"""Makespans this close, a part of them, are taken for one answer."""

Schedule = tuple[np.ndarray, np.ndarray]
"""Device of every node and all nodes in a sequence, both of shape (n,)."""
Go = Callable[[Schedule, int, float, float], tuple[float, Schedule]]
"""Walks from a schedule: moves, first and last heat; the best makespan and schedule on the way."""


class Entrant(NamedTuple):
    """A walk that takes part: where it stands, what that is worth in seconds, its heat."""

    value: float
    schedule: Schedule
    heat: float


class Races:
    """One race after another.

    Parameters
    ----------
    nodes : int
        Nodes of the graph.
    limit : float
        Seconds of the search; rounded to a power of two, so that the same limit has one course.
    starts : list
        Schedules to start from, best first, at least one.
    """

    def __init__(self, nodes: int, limit: float, starts: list[Schedule]) -> None:
        self.starts = starts
        self.width = min(WIDTH, max(2, NODES // nodes))
        rounded = SECONDS
        if limit < math.inf:
            rounded = 2.0 ** round(math.log2(max(limit, 1e-3)))
        self.moves = rounded * PACE * min(1.0, NODES_AT_PACE / nodes)
        self.count = self.drawn = 0

    def race(self, best: Schedule, go: Go, late: Callable[[], bool]) -> int:
        """Run one race, the best answer among its starts; returns the moves made."""
        entrants = self._entrants(best)
        rounds = 1 + math.ceil(math.log2(self.width))
        moves, made, cooled = 1 + int(RACE * self.moves / rounds / self.width), 0, 1.0
        while True:
            found: list[Entrant] = []
            for each in entrants:
                if late():
                    return made
                value, schedule = go(each.schedule, moves, max(each.heat * cooled, COLD), COLD)
                made += moves
                found.append(Entrant(value, schedule, each.heat))
            if len(found) == 1:
                break
            entrants = self._better(found)
            moves, cooled = 2 * moves, cooled / 2
        moves = 1 + int(LONG * self.moves)
        go(found[0].schedule, moves, found[0].heat * LONG_HEATS[self.count % 2], COLD)
        self.moves *= GROWTH
        self.count += 1
        return made + moves

    def _entrants(self, best: Schedule) -> list[Entrant]:
        """Pairs of start and heat, one after another; the next race goes on behind them."""
        starts = [*self.starts, best]
        entrants = []
        for _ in range(self.width):
            at, heat = self.drawn % len(starts), HEATS[self.drawn // len(starts) % len(HEATS)]
            entrants.append(Entrant(np.inf, starts[at], heat))
            self.drawn += 1
        return entrants

    @staticmethod
    def _better(found: list[Entrant]) -> list[Entrant]:
        """The better half, like ones once."""
        kept: list[Entrant] = []
        for each in sorted(found, key=lambda each: each.value):
            if 2 * len(kept) >= len(found):
                break
            if not kept or each.value > kept[-1].value * (1 + ALIKE):
                kept.append(each)
        return kept
