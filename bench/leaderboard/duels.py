"""One entry against the others, instance by instance: wins and losses, families, places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bench import metrics, stats
from bench.leaderboard.board import Section

TIED = 1e-6  # relative: as in `placebench compare`


@dataclass(frozen=True)
class Duel:
    """Instances on which an entry is better, tied or worse than `other`."""

    other: str
    better: int
    tied: int
    worse: int


@dataclass(frozen=True)
class Family:
    """One entry on the instances of a family; gaps are shifted geometric means.

    `first` counts the instances on which no other entry has a smaller gap.
    """

    family: str
    instances: int
    answered: int
    gap_best: float
    gap_bound: float
    first: int


class Matrices:
    """The cells of a section as arrays, instances x entries in the order of the standings."""

    def __init__(self, section: Section) -> None:
        self.section = section
        self.entries = [s.entry for s in section.standings]

    def _matrix(self, name: str, missing: float) -> np.ndarray:
        cells = [[row.cells[e] for e in self.entries] for row in self.section.rows]
        return np.array(
            [[missing if c is None else getattr(c, name) for c in row] for row in cells], float
        )

    @cached_property
    def primal(self) -> np.ndarray:
        """Primal gap; 1 without an answer."""
        return self._matrix("primal_gap", 1.0)

    @cached_property
    def bound(self) -> np.ndarray:
        """Gap to the bound; 1 without an answer."""
        return self._matrix("gap_bound", 1.0)

    @cached_property
    def cost(self) -> np.ndarray:
        """Objective as a mean over seeds; inf unless every run answered, NaN where not run."""
        cells = [[row.cells[e] for e in self.entries] for row in self.section.rows]
        return np.array(
            [
                [
                    np.nan
                    if c is None
                    else c.objective
                    if c.objective is not None and c.answered == c.runs
                    else np.inf
                    for c in row
                ]
                for row in cells
            ],
            float,
        )

    @cached_property
    def places(self) -> np.ndarray:
        """Rank of each entry on each instance; ties share the mean of their places."""
        return stats.ranks(self.primal)

    def duels(self, entry: str) -> list[Duel]:
        """Against every other entry, on the instances that both were run on."""
        j = self.entries.index(entry)
        mine = self.cost[:, [j]]
        both = ~np.isnan(mine) & ~np.isnan(self.cost)
        with np.errstate(invalid="ignore"):
            near = np.abs(mine - self.cost) <= TIED * np.minimum(mine, self.cost)
            tied = near | (np.isinf(mine) & np.isinf(self.cost))
            better = ~tied & (mine < self.cost)
        count = both.sum(axis=0)
        wins, ties = (better & both).sum(axis=0), (tied & both).sum(axis=0)
        return [
            Duel(other, int(wins[i]), int(ties[i]), int(count[i] - wins[i] - ties[i]))
            for i, other in enumerate(self.entries)
            if i != j
        ]

    def families(self, entry: str) -> list[Family]:
        """By family, in the order of their names."""
        j = self.entries.index(entry)
        names = np.array([row.family for row in self.section.rows])
        least = self.primal.min(axis=1)
        first = (self.primal[:, j] <= least + TIED) & np.isfinite(self.cost[:, j])
        answered = np.isfinite(self.cost[:, j])
        return [
            Family(
                str(family),
                int((mine := names == family).sum()),
                int(answered[mine].sum()),
                metrics.shifted_geometric_mean(self.primal[mine, j], metrics.GAP_SHIFT),
                metrics.shifted_geometric_mean(self.bound[mine, j], metrics.GAP_SHIFT),
                int(first[mine].sum()),
            )
            for family in np.unique(names)
        ]
