"""What a policy sees of an instance: units, places, a first answer, and a repair.

State and action do not depend on the chain: a state is a valid place for every unit, an action is a
wished place for every unit, whatever the places are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from problems.instance import Instance


class Task(ABC):
    """U units, each to go to one of C places (chips, devices).

    Attributes
    ----------
    instance : Instance
    unit : int64 array, shape (n,)
        Unit of every node.
    time : float64 array, shape (U, C)
        Seconds of a unit on a place; inf where it is not supported.
    bytes : float64 array, shape (U,)
        Memory of a unit, shared weights apart.
    edges : int64 array, shape (E, 2)
        Pairs of different units, the first feeds the second; sorted, once each.
    chain : bool
        Whether places stand in a row.
    """

    chain: bool

    def __init__(self, instance: Instance, unit: np.ndarray) -> None:
        self.instance, self.unit = instance, unit
        U = int(unit.max()) + 1
        self.time = np.zeros((U, instance.K))
        np.add.at(self.time, unit, instance.time)
        self.bytes = np.bincount(unit, instance.node_bytes, U).astype(float)
        pairs = unit[instance.edges]
        self.edges: np.ndarray = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)

    @property
    def units(self) -> int:
        """Number of units, U."""
        return len(self.time)

    @property
    def places(self) -> int:
        """Number of places, C."""
        return self.instance.K

    @abstractmethod
    def measure(self, place: np.ndarray) -> tuple[float, np.ndarray]:
        """Objective in seconds and load of each place, shape (C,), of a valid placement (U,)."""

    @abstractmethod
    def begin(self, place: np.ndarray) -> None:
        """Say which valid placement, shape (U,), the next candidates were made from."""

    @abstractmethod
    def repair(self, candidate: np.ndarray, moved: np.ndarray) -> np.ndarray | None:
        """A valid placement near a candidate.

        Parameters
        ----------
        candidate : int64 array, shape (U,)
            Wished places.
        moved : int64 array
            Units that the candidate has elsewhere than :meth:`begin` was told; they come first.

        Returns
        -------
        int64 array of shape (U,) or None
            None where none is found.
        """

    @abstractmethod
    def starts(self) -> list[np.ndarray]:
        """Valid placements to train from, of shape (U,); the greedy one first, none if none is."""
