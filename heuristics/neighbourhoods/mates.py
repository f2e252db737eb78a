"""Good mappings that a search has left, to be crossed with its current one."""

from __future__ import annotations

import numpy as np

MOST = 6
"""Mappings that are kept: the best ones."""
APART = 0.02
"""Share of units in which two of them differ at least."""


class Mates:
    """The mappings, each with its period.

    Parameters
    ----------
    device_class : int array, shape (K,)
        Devices of a class may change places.

    Attributes
    ----------
    places : list of (float, int array of shape (G,))
        Period in seconds and device by unit, best first.
    """

    def __init__(self, device_class: np.ndarray) -> None:
        self.device_class = device_class
        self.places: list[tuple[float, np.ndarray]] = []

    def add(self, value: float, place: np.ndarray) -> None:
        """Keep a mapping if it is good and unlike the others; of two alike the better one stays."""
        if not np.isfinite(value):
            return
        for i, (known, kept) in enumerate(self.places):
            if np.mean(_renamed(place, kept, self.device_class) != kept) < APART:
                if value < known:
                    del self.places[i]
                    break
                return
        self.places.append((value, place.copy()))
        self.places.sort(key=lambda each: each[0])
        del self.places[MOST:]

    def aligned(self, i: int, place: np.ndarray) -> np.ndarray:
        """Mapping `i` with like devices renamed so that it agrees with `place`; shape (G,)."""
        return _renamed(self.places[i][1], place, self.device_class)


def _renamed(place: np.ndarray, like: np.ndarray, device_class: np.ndarray) -> np.ndarray:
    """Exchange devices within their classes, greedily, for most units as in `like`."""
    K = len(device_class)
    common = np.zeros((K, K), np.int64)
    np.add.at(common, (place, like), 1)
    common[device_class[:, None] != device_class] = -1
    name = np.arange(K)
    for _ in range(K):
        k, to = np.unravel_index(np.argmax(common), common.shape)
        name[k] = to
        common[k], common[:, to] = -2, -2
    return np.asarray(name[place])
