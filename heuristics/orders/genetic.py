"""Biased random-key genetic algorithm (Goncalves and Resende 2011)."""

from __future__ import annotations

import numpy as np


class Population:
    """Vectors of keys in [0, 1) and what they are worth.

    Parameters
    ----------
    size, keys : int
        Vectors, and keys of each.
    elite, mutants : float
        Shares of the population that stay, and that are drawn afresh in every generation.
    inherit : float
        Probability that a child takes a key from its elite parent.

    Attributes
    ----------
    keys : float64 array, shape (size, keys)
    value : float64 array, shape (size,)
        What is minimised; nan where it is not known yet.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        size: int,
        keys: int,
        elite: float,
        mutants: float,
        inherit: float,
    ) -> None:
        self.rng, self.inherit = rng, inherit
        self.elite = min(max(1, round(elite * size)), size - 1)
        self.mutants = min(round(mutants * size), size - self.elite)
        self.keys = rng.random((size, keys))
        self.value = np.full(size, np.nan)

    def unknown(self) -> list[int]:
        """Vectors whose value is not known yet."""
        return np.flatnonzero(np.isnan(self.value)).tolist()

    def evolve(self) -> None:
        """Replace all but the elite; every value has to be known."""
        rank = np.argsort(self.value, kind="stable")
        self.keys, self.value = self.keys[rank], self.value[rank]
        size, width = self.keys.shape
        children = size - self.elite - self.mutants
        better = self.keys[self.rng.integers(self.elite, size=children)]
        other = self.keys[self.rng.integers(self.elite, size, size=children)]
        takes = self.rng.random((children, width)) < self.inherit
        self.keys[self.elite : self.elite + children] = np.where(takes, better, other)
        self.keys[size - self.mutants :] = self.rng.random((self.mutants, width))
        self.value[self.elite :] = np.nan
