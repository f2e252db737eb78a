"""Problem `chips` as a task: candidates are repaired by FIX."""

from __future__ import annotations

import numpy as np

from heuristics.chips import entries
from heuristics.chips.base import baseline, even_cuts, place_of
from heuristics.chips.units import Units, build_units
from heuristics.rl.task import Task
from heuristics.shared.best import Best
from problems import chips
from problems.instance import Instance
from solvers.method import Context
from solvers.repair.modes import Repair, Rule
from solvers.repair.orders import orders
from solvers.repair.valid import is_valid
from solvers.rng import seeded

WORST = 4.0
"""A start of training has at most so many times the objective of the greedy one."""


class ChipsTask(Task):
    """Units on a one-way chain of chips.

    FIX goes by the difference system, 0 <= f(v) - f(u) <= 1 along every edge: its exact rules take
    decisions back more often than a search of many small steps can afford.
    """

    chain = True

    def __init__(self, instance: Instance, seed: int = 0, of: Units | None = None) -> None:
        self.of = build_units(instance) if of is None else of
        super().__init__(instance, self.of.unit)
        self._stream = seeded(np.random.default_rng(seed))
        self._rule: Rule = "difference"
        self._place: np.ndarray | None = None
        self._repair = Repair(self.of.problem, self._rule)
        self._rank = np.arange(self.units)

    def measure(self, place: np.ndarray) -> tuple[float, np.ndarray]:
        """Largest load, and all loads."""
        loads = chips.loads(self.instance, place[self.unit])
        return float(loads.max()), loads

    def begin(self, place: np.ndarray) -> None:
        """Where FIX fails, `place` is pulled towards the candidate."""
        self._place = place
        self._repair = Repair(self.of.problem, self._rule, known=place)

    def repair(self, candidate: np.ndarray, moved: np.ndarray) -> np.ndarray | None:
        """FIX, the moved units first, then the others from sources to sinks."""
        rest = np.ones(self.units, bool)
        rest[moved] = False
        order = np.concatenate([moved, self._rank[rest]])
        found = self._repair.fix(candidate, order, self._stream)
        if found is None and self._repair.none and self._place is not None:
            self._rule = "exact"  # there are valid partitions, but none of that kind
            self.begin(self._place)
            found = self._repair.fix(candidate, order, self._stream)
        return None if found is None else found.chip

    def starts(self) -> list[np.ndarray]:
        """Balanced cuts, the best cuts, and even cuts of all numbers of runs that are valid."""
        context = Context()
        best = Best(self.instance, context)
        baseline(self.of, context, best)
        first = place_of(self.of, best)
        if first is None:
            return []
        result, greedy = [first], best.value
        entries.cuts(self.of, best)
        improved = place_of(self.of, best)
        if improved is not None and best.value < greedy:
            result.append(improved)
        for order in orders(self.of.problem):
            for _, chip in even_cuts(self.of, order):
                if is_valid(self.of.problem, chip) and self.measure(chip)[0] <= WORST * greedy:
                    result.append(chip)
        return result
