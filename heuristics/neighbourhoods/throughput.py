"""Large neighbourhoods for `throughput`: windows placed anew by CP-SAT, and cool walks in between.

A window always holds units of the device with the largest load. Kinds: two devices, or three (along
a chain, neighbours), near where they exchange payloads; what is near a unit, on the devices there;
few units on all devices; where it and another good mapping differ (`mate`, not along a chain), each
unit on one of the two devices. All else keeps its place. Walks set out from the best mapping or,
fresh, from chunks on other orders of devices, which no small step changes. Kinds are drawn by
success for their effort, and windows grow while CP-SAT is through with them, in deterministic time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from heuristics.neighbourhoods import throughput_window
from heuristics.neighbourhoods.mates import Mates
from heuristics.neighbourhoods.throughput_units import at_cut, grow
from heuristics.shared import anneal_throughput
from heuristics.shared.best import MARGIN, Best, objective
from heuristics.shared.pieces import in_pieces
from heuristics.shared.space import Space
from heuristics.starts.race_throughput import HEATS as FRESH
from heuristics.starts.race_throughput import Walks
from problems.answer import Answer
from problems.instance import Instance
from solvers import rng as rng_
from solvers.method import Context
from solvers.moves_throughput import State, measure
from solvers.units_throughput import Problem
from solvers.walk_throughput import Walk, anneal

KINDS = ("pair", "triple", "near", "all", "mate", "walk", "fresh")
# Rounds without improvement after which a search without a deadline ends.
ROUNDS = 60
# Deterministic seconds of a window, and the share under which windows of its kind grow.
EFFORT, EASY = 0.6, 0.3
# Units of the first windows of each kind but the walks, of the least and of the largest.
FIRST, LEAST, MOST = (60.0, 45.0, 40.0, 16.0, 120.0), 8, 400
# Seconds that a unit of a window takes on the clock to build, roughly.
BUILD = 3e-4
# Moves of a walk a unit; first temperatures of walks in turn, the last one, parts of the period;
# temperatures in between.
MOVES, HEATS, COLD, LEVELS = 120, (1e-3, 3e-3, 3e-4, 1e-2), 3e-5, 64
# Rounds in vain after which windows may take twice the effort, and how often that happens.
PATIENT, DOUBLINGS = 24, 4
# Steps of a walk that count as a second.
PACE = 1.2e7
# What a kind's score keeps from round to round, and the least share of draws.
MEMORY, LEAST_SHARE = 0.85, 0.05
# Mappings up to this factor of the best period are worth crossing with it.
GOOD = 1.05


def improve(
    instance: Instance,
    space: Space,
    context: Context,
    best: Best,
    rounds: int = 0,
    found: Sequence[Answer] = (),
) -> None:
    """Improve `best` until it is done or, if `rounds` are given, for so many rounds in vain.

    Without a deadline there are :data:`ROUNDS`. What is good of `found` is crossed with the best.
    """
    if best.answer is None or not best.value > 0.0 or instance.K == 1:
        return
    run = anneal_throughput.search(space, rng_.seeded(context.rng))
    search = _Search(space, run, context, best)
    for answer in found:
        value = objective(instance, answer)
        if value <= GOOD * best.value:
            search.mates.add(value, answer.device[search.walks.first])
    if rounds == 0 and context.deadline == math.inf:
        rounds = ROUNDS
    while not best.done() and (rounds == 0 or search.vain < rounds):
        search.round()


class _Search:
    """A current mapping, which may be as good as the best one in another way."""

    def __init__(
        self, space: Space, run: anneal_throughput.Search, context: Context, best: Best
    ) -> None:
        assert best.answer is not None
        self.space, self.run, self.context, self.best = space, run, context, best
        self.rng = context.rng
        self.q: Problem = run.problem
        self.s: State = run.walk.state
        first = space.unit_node[space.unit_ptr[:-1]]
        self.place = best.answer.device[first]
        self.size = list(FIRST)
        self.score = np.ones(len(KINDS))
        self.moves = MOVES * len(self.place)
        self.heat = self.vain = 0
        self.walks = Walks(best.instance, space, context, best, run)
        self.mates = Mates(best.instance.device_class)
        self.energy = self._settle(self.place)
        # Windows of a warm-up are too small to ask for cuts, and few: loaded here, not later on.
        at_cut(self.q, self.s, np.ones(len(self.s.rank), bool))
        grow(self.q, np.ones(len(self.place), bool), np.zeros(1, np.int64), 1)

    def _settle(self, place: np.ndarray) -> float:
        """Take a mapping as the current one; its energy in parts of the best period."""
        self.place = place.copy()
        anneal_throughput.restart(self.space, self.run, self.place)
        return float(measure(self.q, self.s, self.best.value)[0])

    def round(self) -> None:
        """Try once."""
        share = self.score / self.score.sum()
        share = np.maximum(share, LEAST_SHARE)
        kind = int(self.rng.choice(len(KINDS), p=share / share.sum()))
        if KINDS[kind] == "walk":
            better, effort = self._walk()
        elif KINDS[kind] == "fresh":
            better, effort = self._fresh()
        else:
            better, effort = self._window(kind)
        reward = (1.0 if better else 0.0) / max(effort, 0.02)
        self.score[kind] = MEMORY * self.score[kind] + (1 - MEMORY) * reward
        self.score = np.maximum(self.score, 1e-3)
        self.vain = 0 if better else self.vain + 1

    def _offer(self, place: np.ndarray) -> bool:
        """Go on from a mapping if it is better, by period or by what else is full."""
        before, known = self.place, self.best.value
        energy = self._settle(place)
        if measure(self.q, self.s, 1.0)[1] > 0.0 or not energy < self.energy * (1 - 1e-7):
            self._settle(before)
            return False
        self.mates.add(known, before)
        self.best.offer_device(place[self.space.unit])
        self.energy = self._settle(place) if self.best.value < known else energy
        return True

    def _fresh(self) -> tuple[bool, float]:
        """A walk from chunks."""
        begin_at = self.walks.chunks()
        if begin_at is None:
            return False, 0.05
        before = self.run.walk.counter[0]
        heat = FRESH[self.walks.turn % len(FRESH)]
        value, _, place = self.walks.walk(begin_at, self.walks.moves, heat)
        self.mates.add(value, place)
        steps = (self.run.walk.counter[0] - before) * 6 * self.s.parts.shape[1]
        return self._offer(place), steps / PACE

    def _walk(self) -> tuple[bool, float]:
        """A round of annealing."""
        walk: Walk = self.run.walk
        step = max(1, self.moves // LEVELS)
        heat = HEATS[self.heat % len(HEATS)]
        hot, cooling = heat * self.best.value, (COLD / heat) ** (1 / LEVELS)
        self.heat += 1
        walk.energy[1] = math.inf
        anneal_throughput.restart(self.space, self.run, self.place)
        steps = 0

        def some(at: int, count: int) -> None:
            nonlocal steps
            steps += anneal(self.q, walk, at, count, hot, cooling, step)

        in_pieces(self.moves, some, self.best.done)
        better = self._offer(walk.best.copy())
        if not better:
            self.moves = min(self.moves * 5 // 4, 100 * MOVES * len(self.place))
        return better, steps / PACE

    def _window(self, kind: int) -> tuple[bool, float]:
        size = int(self.size[kind])
        effort = EFFORT * 2.0 ** min(self.vain // PATIENT, DOUBLINGS)
        other = None
        if KINDS[kind] == "mate":
            free, devices, other = self._differing(size)
        else:
            free, devices = self._choose(kind, size)
        left = self.context.time_left() - MARGIN - BUILD * len(free)
        if len(free) < 2 or len(devices) < 2 or left <= 0.0:
            return False, 0.05
        place, complete, used = throughput_window.solve(
            self.q, self.s, free, devices, other, effort=effort, seconds=left,
            seed=int(self.rng.integers(2**31)),
        )  # fmt: skip
        if complete and used < EASY * effort:
            self.size[kind] = min(self.size[kind] * 1.1 + 1, MOST)
        elif not complete:
            self.size[kind] = max(self.size[kind] * 0.9, LEAST)
        better = place is not None and self._offer(place)
        return better, used + 20 * BUILD * len(free) ** 0.5

    def _differing(self, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Units that another good mapping has elsewhere, their devices, and that mapping."""
        q, s, rng = self.q, self.s, self.rng
        nothing = np.empty(0, np.int64)
        if q.chain or not self.mates.places:
            return nothing, nothing, None
        other = self.mates.aligned(int(rng.integers(len(self.mates.places))), s.device)
        units = np.arange(len(other))
        apart = (other != s.device) & ~q.barred[units, other]
        free = np.flatnonzero(apart)
        if len(free) > size:
            measure(q, s, self.best.value)
            worst = int(s.worst[rng.integers(len(s.worst))])
            full = free[(s.device[free] == worst) | (other[free] == worst)]
            seeds = full if len(full) else free
            count = min(len(seeds), 1 + int(rng.integers(max(1, size // 8))))
            seeds = rng.choice(seeds, count, replace=False)
            free = grow(q, apart, seeds.astype(np.int64), size)
        return free, np.unique(np.concatenate([s.device[free], other[free]])), other

    def _choose(self, kind: int, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Units that are set free, and the devices they may go to."""
        q, s, rng = self.q, self.s, self.rng
        K = len(s.rank)
        measure(q, s, self.best.value)
        worst = int(s.worst[rng.integers(len(s.worst))])
        inside = np.ones(K, bool)
        if KINDS[kind] in ("pair", "triple"):
            inside = self._together(worst, 2 if KINDS[kind] == "pair" else 3)
        elif q.chain:
            inside = np.abs(s.rank - s.rank[worst]) <= 2
        on = np.flatnonzero(inside[s.device])
        seeds = on
        if KINDS[kind] in ("pair", "triple") and len(on) > size:
            cut = np.flatnonzero(at_cut(q, s, inside))
            seeds = cut if len(cut) else on
            count = min(len(seeds), 1 + int(rng.integers(max(1, size // 4))))
            seeds = rng.choice(seeds, count, replace=False)
        elif KINDS[kind] in ("near", "all"):
            mine = np.flatnonzero(s.device == worst)
            seeds = rng.choice(mine, min(len(mine), 1 + int(rng.integers(2))), replace=False)
        free = grow(q, inside[s.device], seeds.astype(np.int64), size)
        if KINDS[kind] == "near":
            there = np.unique(s.device[free])
            if len(there) < 2:
                there = np.union1d(there, rng.choice(np.flatnonzero(inside), 1))
            if len(there) > 4:
                others = there[there != worst]
                there = np.append(rng.choice(others, 3, replace=False), worst)
                free = free[np.isin(s.device[free], there)]
            if q.chain:
                low, high = s.rank[there].min(), s.rank[there].max()
                there = np.flatnonzero((s.rank >= low) & (s.rank <= high))
            return free, np.sort(there)
        return free, np.flatnonzero(inside)

    def _together(self, worst: int, count: int) -> np.ndarray:
        """The fullest device and one or two others, shape (K,); in a chain its neighbours."""
        q, s, rng = self.q, self.s, self.rng
        K = len(s.rank)
        inside = np.zeros(K, bool)
        inside[worst] = True
        count = min(count, K)
        if q.chain:
            low = int(s.rank[worst]) - int(rng.integers(count))
            low = min(max(low, 0), K - count)
            return (s.rank >= low) & (s.rank < low + count)
        exchanged = (s.pins[s.home == worst] > 0).sum(axis=0).astype(float)
        exchanged += np.bincount(s.home[s.pins[:, worst] > 0], minlength=K)
        while inside.sum() < count:
            weight = np.where(inside, 0.0, exchanged + 0.1 * exchanged.max() + 1.0)
            inside[rng.choice(K, p=weight / weight.sum())] = True
        return inside
