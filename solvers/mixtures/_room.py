"""Where the nodes of mappings may be: what is decided of the memory that they share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from problems.instance import Instance
from problems.placement import memory_use


@dataclass(frozen=True, eq=False)
class Room:
    """A node of the search over memory.

    Attributes
    ----------
    held : bool array, shape (G, K)
        Pairs of group and device whose memory is spent, whoever uses them.
    barred : bool array, shape (G, K)
        Pairs that no mapping uses.
    """

    held: np.ndarray
    barred: np.ndarray

    def is_open(self) -> bool:
        """Whether nothing is decided."""
        return not (self.held.any() or self.barred.any())


def is_coupled(instance: Instance) -> bool:
    """Whether some device cannot hold everything, so that mappings share its memory."""
    whole = float(memory_use(instance, np.zeros(instance.n, np.int64))[0])
    return bool((instance.memory < whole).any())
