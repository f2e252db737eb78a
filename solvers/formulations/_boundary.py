"""What surrounds a part of a schedule that is solved alone, for the exact models of `latency`.

The instance of such a part has the nodes to be scheduled and, beside them, nodes that are fixed:
what is scheduled already, as far as the part can notice it. Each of those runs on one device only,
and this module says when.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Boundary:
    """Fixed times, and what is still to come.

    Attributes
    ----------
    start : float64 array, shape (n,)
        Start of every fixed node in seconds; NaN where a node is free.
    tail : float64 array, shape (n, K)
        Least seconds from the finish of a node on a device to the end of the whole schedule; inf
        where the device is no place for it. The objective becomes the largest finish + tail.
    sent : mapping of (int, int) to (float, float)
        Under ports: transfers (producer, destination) that are made already, and the start of both
        legs in seconds (`direct`: of the transfer, twice). Producer and a consumer at the
        destination are fixed or can be nowhere else.
    """

    start: np.ndarray
    tail: np.ndarray
    sent: Mapping[tuple[int, int], tuple[float, float]] = field(default_factory=dict)

    @property
    def fixed(self) -> np.ndarray:
        """Which nodes are fixed, bool array, shape (n,)."""
        result: np.ndarray = ~np.isnan(self.start)
        return result
