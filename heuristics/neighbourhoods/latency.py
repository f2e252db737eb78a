"""Large neighbourhoods for `latency`: stretches of the schedule solved by CP-SAT, walks in between.

Races of walks from several starts (:mod:`heuristics.neighbourhoods.latency_race`) come first, and
again whenever they have had less than their share of the effort: windows do not leave a basin.

Kinds of windows, all around a critical node: a short stretch with everything free; a longer one in
which a cluster of nodes may change device; one in which two devices exchange nodes. Kinds are drawn
by success for their effort, and windows grow while CP-SAT is through with them, in deterministic
time. Under ``contention: ports`` there are walks only.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from heuristics.neighbourhoods import latency_window
from heuristics.neighbourhoods.latency_race import Races, Schedule
from heuristics.shared import anneal_latency
from heuristics.shared.best import MARGIN, Best
from heuristics.shared.pieces import in_pieces
from heuristics.shared.space import Space
from problems import latency
from problems.answer import Answer
from problems.instance import Instance
from solvers import rng as rng_
from solvers.method import Context

KINDS = ("span", "cluster", "pair", "walk")
# Rounds without improvement after which a search without a deadline ends.
ROUNDS = 40
# Deterministic seconds of a window, and the share under which windows of its kind count as easy.
EFFORT, EASY = 0.015, 0.3
# Nodes of the first windows, of the least and of the largest ones.
FIRST, LEAST, MOST = (24.0, 60.0, 60.0), 8, 250
# Seconds by the clock of a node of a window, and of a deterministic second, roughly.
BUILD, SECOND = 5e-4, 30.0
# Devices of a window at most.
DEVICES = 6
# Moves of a walk a node; its temperatures, parts of the makespan; steps and cooling.
MOVES, HEATS, LEVELS, COOLING = 60, (1e-4, 1e-3, 3e-4, 3e-3), 64, 0.95
# Nodes from which walks are colder (by the square: so many more moves would have to cool down), and
# for which a round has its moves.
COLDER, LARGE = 2_000, 5_000
# Share of moves from critical nodes, by turns; always in large graphs.
FOCUS = (0.1, 0.5, 0.9)
# Share of the effort that races have.
RACES = 0.6
# Moves that count as a second.
PACE = 1e5
# What a kind's score keeps from round to round, and the least share of draws.
MEMORY, SHARE = 0.85, 0.06
RARE = 10  # times that an offer took before the next one: to judge a huge answer takes a while


def improve(
    instance: Instance,
    space: Space,
    context: Context,
    best: Best,
    rounds: int = 0,
    found: Sequence[Answer] = (),
) -> None:
    """Improve `best` until it is done or, if `rounds` are given, for so many rounds in vain.

    Without a deadline there are :data:`ROUNDS`. Races start from the answers in `found` as well.
    """
    if best.answer is None or not best.value > 0.0 or instance.K == 1 or instance.n == 1:
        return
    if best.done():
        return
    search = _Search(instance, space, context, best, found)
    vain = 0
    if rounds == 0 and context.deadline == math.inf:
        rounds = ROUNDS
    while not search.late() and (rounds == 0 or vain < rounds):
        vain = 0 if search.round() else vain + 1
    search.end()


class _Search:
    """The walk holds the best schedule between rounds."""

    def __init__(
        self,
        instance: Instance,
        space: Space,
        context: Context,
        best: Best,
        found: Sequence[Answer],
    ) -> None:
        self.instance, self.space, self.context, self.best = instance, space, context, best
        self.rng = context.rng
        self.run = anneal_latency.search(space, rng_.seeded(context.rng))
        self.size = list(FIRST)
        self.score = np.ones(len(KINDS))
        if space.contended:
            self.score[:-1] = 0.0
        self.open = self.score > 0
        self.moves = self.first = MOVES * min(instance.n, LARGE)
        self.heat = min(1.0, (COLDER / instance.n) ** 2)
        self.walks = 0
        self.offered, self.due, self.cost = math.inf, 0.0, 0.0
        self.spent, self.raced = 0.0, 0.0  # effort, in all and of races
        self._begin()
        starts = [] if space.contended else [self._schedule(each) for each in found]
        self.races = Races(instance.n, context.time_left(), starts or [self._schedule(best.answer)])

    def _schedule(self, answer: Answer | None) -> Schedule:
        assert answer is not None
        if answer.order is None:
            answer = latency.dispatch(self.instance, answer.device)
        sequence = latency.sequence_of(self.instance, answer)
        assert sequence is not None
        return answer.device, sequence

    def _begin(self) -> None:
        """Stand where the best answer does."""
        anneal_latency.restart(self.space, self.run, *self._schedule(self.best.answer))
        self.offered = min(self.offered, float(self.run.value[1]))

    def _settle(self) -> None:
        """Go back to the best answer."""
        if self.space.contended:  # with transfers first come first served it may be another one
            self._offer(last=True)
            self._begin()
        else:
            run = self.run
            anneal_latency.restart(self.space, run, run.best_device, run.best_sequence)

    def _offer(self, last: bool = False) -> None:
        """Offer what the walk has found; where that takes long, not each time."""
        begin = time.monotonic()
        if self.run.value[1] < self.offered and (last or begin >= self.due):
            self.best.offer(anneal_latency.answer(self.instance, self.run))
            self.offered = float(self.run.value[1])
            self.cost = time.monotonic() - begin
            self.due = begin + (1 + RARE) * self.cost

    def end(self) -> None:
        """Offer what has not been yet."""
        self._offer(last=True)

    def late(self) -> bool:
        """Whether it is time to end, with what is still to be offered."""
        if self.run.value[1] < self.offered and self.context.time_left() < MARGIN + self.cost:
            self._offer(last=True)
        return self.best.done()

    def round(self) -> bool:
        """Try once; whether that brought a better schedule."""
        if not self.space.contended and self.raced <= RACES * self.spent:
            return self._race()
        share = self.score / self.score.sum()
        share = np.where(self.open, np.maximum(share, SHARE), 0.0)
        kind = int(self.rng.choice(len(KINDS), p=share / share.sum()))
        known = float(self.run.value[1])
        effort = self._walk() if KINDS[kind] == "walk" else self._window(kind)
        self.spent += effort
        gain = (known - float(self.run.value[1])) / known
        reward = math.sqrt(max(gain, 0.0)) / max(effort, 0.02)
        self.score[kind] = MEMORY * self.score[kind] + (1 - MEMORY) * reward
        self.score[self.open] = np.maximum(self.score[self.open], 1e-4)
        return gain > 0.0

    def _walk(self) -> float:
        run = self.run
        known = run.value[1]
        hot = self.heat * HEATS[self.walks % len(HEATS)] * known
        focus = FOCUS[self.walks % 2] if self.instance.n <= LARGE else FOCUS[2]
        self.walks += 1
        made = self.moves
        self._anneal(made, hot, COOLING, LEVELS, focus)
        if run.value[1] == known:
            self.moves = min(self.moves * 3 // 2, 30 * self.first)
        self._settle()
        return made / PACE

    def _anneal(self, moves: int, hot: float, cooling: float, levels: int, focus: float) -> None:
        """Make the moves of a walk in pieces between looks at the clock."""
        step = max(1, moves // levels)

        def some(at: int, count: int) -> None:
            anneal_latency.anneal(self.space, self.run, at, count, hot, cooling, step, focus)
            self._offer()

        in_pieces(moves, some, self.late)

    def _race(self) -> bool:
        """Run a race and stand where the best answer is."""
        known = self.best.value
        best = self._schedule(self.best.answer)
        effort = self.races.race(best, self._go, self.late) / PACE
        self.spent += effort
        self.raced += effort
        self._begin()
        return self.best.value < known

    def _go(self, start: Schedule, moves: int, hot: float, cold: float) -> tuple[float, Schedule]:
        """Walk in a race; what this walk has found, however good others have been."""
        run = self.run
        run.value[1] = math.inf
        anneal_latency.restart(self.space, run, *start)
        focus = FOCUS[0] if self.instance.n <= LARGE else FOCUS[2]
        cooling = (cold / hot) ** (1 / LEVELS)
        self._anneal(moves, self.heat * hot * run.value[1], cooling, LEVELS, focus)
        self._offer(last=True)
        return float(run.value[1]), (run.best_device.copy(), run.best_sequence.copy())

    def _window(self, kind: int) -> float:
        n, walk = self.instance.n, self.run.walk
        size = min(int(self.size[kind]), n)
        center = self._critical()
        first = int(np.clip(walk.place[center] - self.rng.integers(size), 0, n - size))
        allowed = self._allowed(kind, center, first, first + size)
        left = self.context.time_left() - MARGIN
        if left <= 0.0:
            return BUILD
        found, complete, used = latency_window.solve(
            self.run.ground, walk, first, first + size, allowed,
            effort=EFFORT, seconds=left, seed=int(self.rng.integers(2**31)),
        )  # fmt: skip
        if not complete:
            self.size[kind] = max(self.size[kind] * 0.85, LEAST)
        elif used < EASY * EFFORT:
            self.size[kind] = min(self.size[kind] * 1.1 + 1, MOST)
        if found is not None:
            anneal_latency.restart(self.space, self.run, *found)
            self._settle()  # where it was if that is no better after all
            self._offer()
        return BUILD * size + SECOND * used

    def _critical(self) -> int:
        """A node on a longest path."""
        walk, ground = self.run.walk, self.run.ground
        n = self.instance.n
        length = walk.start + ground.time[np.arange(n), walk.device] + walk.tail
        return int(self.rng.choice(np.flatnonzero(length >= walk.value[0] * (1 - 1e-9))))

    def _allowed(self, kind: int, center: int, first: int, last: int) -> np.ndarray:
        """Which devices the nodes of a window may change to."""
        walk, K = self.run.walk, self.instance.K
        nodes = walk.sequence[first:last]
        present = list(dict.fromkeys([int(walk.device[center]), *walk.device[nodes].tolist()]))
        others = [k for k in self.rng.permutation(K).tolist() if k not in present]
        allowed = np.zeros((self.instance.n, K), bool)
        if KINDS[kind] == "pair":
            to = [k for k in [*present[1:], *others] if k != present[0]]
            two = [present[0], to[int(self.rng.integers(min(len(to), DEVICES)))]]
            inside = nodes[np.isin(walk.device[nodes], two)]
            allowed[np.ix_(inside, two)] = True
            return allowed
        devices = [*present, *others][:DEVICES]
        if KINDS[kind] == "span":
            allowed[np.ix_(nodes, devices)] = True
            return allowed
        cluster = self._cluster(center, nodes, max(8, len(nodes) // 3))
        allowed[np.ix_(cluster, devices)] = True
        return allowed

    def _cluster(self, center: int, nodes: np.ndarray, size: int) -> np.ndarray:
        """Up to `size` nodes of a window near `center` in the graph."""
        ground, inside = self.run.ground, set(nodes.tolist())
        found, at = [center], 0
        known = {center}
        while at < len(found) and len(found) < size:
            v = found[at]
            near = np.concatenate([
                ground.pred[ground.pred_ptr[v] : ground.pred_ptr[v + 1]],
                ground.succ[ground.succ_ptr[v] : ground.succ_ptr[v + 1]],
            ])  # fmt: skip
            for w in self.rng.permutation(near).tolist():
                if w in inside and w not in known:
                    known.add(w)
                    found.append(w)
            at += 1
        return np.array(found[:size])
