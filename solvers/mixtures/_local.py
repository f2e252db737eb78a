"""Heuristic pricing: mappings that pay, by annealing; what it does not find is no proof."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from problems import throughput
from problems.instance import Instance
from solvers import rng as rng_
from solvers.improve_throughput import ranks
from solvers.mixtures._columns import by_part
from solvers.mixtures._walk import Costs, anneal, begin
from solvers.start import units_of
from solvers.units_throughput import problem_of
from solvers.walk_throughput import walk

MOVES = 200
"""Moves a unit and a walk."""
FEWEST, MOST = 2_000, 60_000
"""Moves a walk."""
HOT, COLD = 2e-2, 1e-4
"""First and last temperature, parts of the weighted load."""
PIECE = 1024
"""Moves between two looks at the clock: some milliseconds."""


class Local:
    """Walks over mappings of one instance.

    Parameters
    ----------
    member : int array, shape (G,)
        A node of every colocation group.
    """

    def __init__(self, instance: Instance, member: np.ndarray, seed: int) -> None:
        self.instance = instance
        self.units = units_of(instance)
        self.first = np.unique(self.units, return_index=True)[1]
        self.problem = problem_of(instance, self.units)
        self.walk = walk(self.problem, rng_.seeded(np.random.default_rng(seed)))
        self.member = member
        self.moves = min(max(MOVES * len(self.first), FEWEST), MOST)

    def least(
        self,
        weights: np.ndarray,
        start: np.ndarray,
        held: np.ndarray | None,
        barred: np.ndarray | None,
        time_left: Callable[[], float],
    ) -> np.ndarray | None:
        """A mapping of small weighted load, shape (n,); None where no valid one was met.

        Parameters
        ----------
        weights : float64 array, shape (E, K)
            Of the engines.
        start : int array, shape (n,)
            A mapping that keeps the rule of the chain, if nothing else.
        held, barred : bool array, shape (G, K), optional
            Pairs of group and device whose memory is spent, and that are not to be used.
        """
        q, costs = self.problem, self._costs(weights, held)
        if barred is not None and barred.any():
            out = q.barred.copy()
            np.logical_or.at(out, self.units[self.member], barred)
            q = q._replace(barred=out)
        w = self.walk
        begin(q, costs, w, start[self.first], ranks(self.instance, start))
        hot = HOT * float(w.real[0])
        cooling = (COLD / HOT) ** (1 / self.moves)
        at = 0
        while at < self.moves and time_left() > 0:
            count = min(PIECE, self.moves - at)
            anneal(q, costs, w, at, count, hot, cooling)
            at += count
        if w.best[0] < 0:
            return None
        device: np.ndarray = w.best[self.units]
        # Sums that are kept along the walk round differently: judge anew.
        return device if throughput.is_valid(self.instance, device) else None

    def _costs(self, weights: np.ndarray, held: np.ndarray | None) -> Costs:
        instance, q = self.instance, self.problem
        K, T = instance.K, len(instance.shared_bytes)
        credit, kept = np.zeros((len(q.bytes), K)), np.zeros((T, K), bool)
        if held is not None:
            node = held[instance.group]
            np.add.at(credit, self.units, np.where(node, instance.node_bytes[:, None], 0.0))
            weight_of = np.repeat(np.arange(T), np.diff(instance.shared_ptr))
            np.logical_or.at(kept, weight_of, node[instance.shared_node])
        spent = credit.sum(axis=0) + np.asarray(instance.shared_bytes, float) @ kept
        return Costs(by_part(weights), credit, spent, kept)
