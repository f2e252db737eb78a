"""Memory that mappings share: which pairs of group and device a mixture may use.

Without limits that bind, column generation alone is exact. Otherwise a mapping that fits by itself
may not fit beside the others, and pairs are decided one by one (branch and bound, the node of the
least bound first): a pair is *held*, its memory spent for good, or *barred*. In a node every
mapping fits beside all held pairs, so that a mixture of held pairs fits as a whole; a node whose
best mixture fits is solved. Its bound is column generation's over the mappings that it allows.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import numpy as np

from problems import mixture
from solvers.keeper import TOLERANCE, Keeper
from solvers.mixtures._columns import Columns
from solvers.mixtures._generate import Priced, generate
from solvers.mixtures._local import Local
from solvers.mixtures._master import rates
from solvers.mixtures._pricing import Pricing
from solvers.mixtures._room import Room


class Search:
    """Solves one instance; what it finds goes to the keeper at once."""

    def __init__(
        self,
        pricing: Pricing,
        local: Local | None,
        columns: Columns,
        keeper: Keeper,
        time_left: Callable[[], float],
        coupled: bool,
    ) -> None:
        self.pricing, self.local = pricing, local
        self.columns, self.keeper = columns, keeper
        self.time_left, self.coupled = time_left, coupled
        self.instance = pricing.instance
        self.nodes = 0

    def root(self) -> Priced:
        """Price the first node, where nothing is decided."""
        none = np.zeros(self.pricing.contracted.supported.shape, bool)
        return self._price(Room(none, none) if self.coupled else None, root=True)

    def run(self) -> bool:
        """Whether the search came to its end."""
        if self.nodes and self.keeper.proved():
            return True
        if not self.coupled:
            return self.root().complete or self.keeper.proved()
        G, K = self.pricing.contracted.supported.shape
        none = np.zeros((G, K), bool)
        count = 0
        heap: list[tuple[float, int, Room]] = [(0.0, 0, Room(none, none))]
        while heap:
            below, _, room = heapq.heappop(heap)
            # Those that are left have no smaller bound.
            self.keeper.bound_by(min(below, self.keeper.value))
            if below >= self.keeper.value * (1 - TOLERANCE):
                return True
            result = self._price(room, root=False) if count else self.root()
            self.columns.turn(False)  # below the root, like devices are so no longer
            if not result.complete and result.bound < self.keeper.value * (1 - TOLERANCE):
                return False
            bound = max(below, result.bound)
            if bound >= self.keeper.value * (1 - TOLERANCE):
                continue
            pair = self._pair(room, result)
            if pair is None:
                continue  # it fits as it is, and was taken
            for held in (True, False):
                mark = (room.held if held else room.barred).copy()
                mark[pair] = True
                child = Room(mark, room.barred) if held else Room(room.held, mark)
                count += 1
                heapq.heappush(heap, (bound, -count, child))
        self.keeper.bound_by(self.keeper.value)
        return True

    def _price(self, room: Room | None, root: bool) -> Priced:
        self.nodes += 1

        def step(now: Priced) -> None:
            if root:
                self.keeper.bound_by(now.bound)
            self._round(now)

        cutoff = self.keeper.value * (1 - TOLERANCE)
        result = generate(
            self.pricing, self.local, self.columns, room, cutoff, self.time_left, step
        )
        if root:
            self.keeper.bound_by(result.bound)
        return result

    def _round(self, now: Priced) -> None:
        """Offer what fits of a mixture: mappings by their share, as long as memory holds them."""
        if not len(now.columns) or now.value >= self.keeper.value:
            return
        chosen, held = [], np.zeros((self.instance.n, self.instance.K), bool)
        for i in np.argsort(-now.shares, kind="stable").tolist():
            device = self.columns.devices[now.columns[i]]
            both = held.copy()
            both[np.arange(self.instance.n), device] = True
            if (mixture.memory_use(self.instance, both) <= self.instance.memory).all():
                chosen.append(int(now.columns[i]))
                held = both
        if len(chosen) < len(now.columns):
            # Others that add nothing to what is held come for free.
            nodes = np.arange(self.instance.n)
            chosen = [i for i, each in enumerate(self.columns.devices) if held[nodes, each].all()]
        solved = rates(np.array([self.columns.loads[i] for i in chosen]))
        if solved is not None:
            every = [self.columns.devices[i] for i in chosen]
            self.keeper.take(mixture.answer_of(self.instance, every, solved[0]))

    def _pair(self, room: Room, result: Priced) -> tuple[int, int] | None:
        """The pair to decide: on devices that are too full, the one most in doubt."""
        G, K = room.held.shape
        share = np.zeros((G, K))
        groups = np.arange(G)
        for i, part in zip(result.columns.tolist(), result.shares.tolist(), strict=True):
            share[groups, self.columns.devices[i][self.pricing.member]] += part
        share /= result.shares.sum()
        held = room.held | (share > 0)
        use = mixture.memory_use(self.instance, held[self.instance.group])
        over = use > self.instance.memory
        if not over.any():
            return None
        size = self.pricing.contracted.bytes + 1.0
        doubt = np.minimum(share, 1 - share) + 1e-3 * (share > 0)
        doubt = np.where(over & ~room.held & (share > 0), doubt * size[:, None], -math.inf)
        g, k = divmod(int(doubt.argmax()), K)
        return g, k
