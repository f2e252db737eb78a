"""Lookup in a table of latencies over several integer sizes."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence


class Grid:
    """Latencies at points of a grid that may have holes.

    Parameters
    ----------
    times : mapping
        Tuple of sizes -> seconds, all tuples of one length.
    """

    def __init__(self, times: Mapping[tuple[int, ...], float]) -> None:
        self.times = times
        self.axes: list[list[int]] = [sorted(set(axis)) for axis in zip(*times, strict=True)]

    @property
    def least(self) -> float:
        """Seconds of the fastest point: what starting the kernel takes at least."""
        return min(self.times.values(), default=0.0)

    def at(self, point: Sequence[float]) -> tuple[float, bool] | None:
        """Seconds at a point, and whether the table has that very point.

        Between points the logarithm of the time is multilinear in the logarithms of the sizes,
        over the 2^d corners around; that is also multilinear in the logarithm of the rate, since
        the work is a product of the sizes. None outside the grid, or where a corner is missing.
        """
        if not self.times:
            return None
        exact = self.times.get(tuple(map(int, point))) if _whole(point) else None
        if exact is not None:
            return exact, True
        brackets: list[list[tuple[int, float]]] = []
        for axis, x in zip(self.axes, point, strict=True):
            i = bisect_left(axis, x)
            if i < len(axis) and axis[i] == x:
                brackets.append([(axis[i], 1.0)])
            elif 0 < i < len(axis):
                w = math.log(x / axis[i - 1]) / math.log(axis[i] / axis[i - 1])
                brackets.append([(axis[i - 1], 1 - w), (axis[i], w)])
            else:
                return None
        total = 0.0
        for corner in itertools.product(*brackets):
            time = self.times.get(tuple(size for size, _ in corner))
            if time is None:
                return None
            total += math.prod(weight for _, weight in corner) * math.log(time)
        return math.exp(total), False


def _whole(point: Sequence[float]) -> bool:
    return all(float(x).is_integer() for x in point)
