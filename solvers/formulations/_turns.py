"""Taking turns: binaries that say which of two tasks goes first, for the disjunctive MILP.

``first[p, 0] = 1`` lets the first task of pair p end before the second one starts, ``first[p, 1]``
the other way round; where a row finds both at one place, one of the two has to be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.model import Builder


@dataclass(frozen=True, eq=False)
class Tasks:
    """N tasks that may have to take turns; lengths in model units.

    Attributes
    ----------
    start : int64 array, shape (N,)
        Columns of the starts.
    where, length : int64 and float64 arrays, shape (N, C)
        A task takes ``sum_c length[c] * where[c]``: columns of 0 or 1, and their lengths.
    early, late : float64 arrays, shape (N,)
        Bounds on every start, and on every end.
    """

    start: np.ndarray
    where: np.ndarray
    length: np.ndarray
    early: np.ndarray
    late: np.ndarray

    def overlap(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Whether the windows of tasks `one` and `other` have time in common."""
        result: np.ndarray = self.late[one] > self.early[other]
        result &= self.late[other] > self.early[one]
        return result


def add(
    builder: Builder, name: str, tasks: Tasks, pairs: np.ndarray, never: np.ndarray | None = None
) -> np.ndarray:
    """Add the binaries of `pairs`, shape (P, 2), and what they say of the starts.

    Parameters
    ----------
    never : bool array, shape (P, 2), optional
        Orders that cannot be.

    Returns
    -------
    int64 array, shape (P, 2)
        Columns of ``first``.
    """
    upper = np.ones(pairs.shape) if never is None else (~never).astype(float)
    first = builder.variables(f"{name} first", pairs.shape, upper=upper, integer=True)
    for side in (0, 1):
        one, other = pairs[:, side], pairs[:, 1 - side]
        big = np.maximum(tasks.late[one] - tasks.early[other], 0.0)
        rows = builder.rows(f"{name} turn {side}", (len(pairs),), lower=-big)
        builder.add(rows, tasks.start[other], 1.0)
        builder.add(rows, tasks.start[one], -1.0)
        builder.add(rows[:, None], tasks.where[one], -tasks.length[one])
        builder.add(rows, first[:, side], -big)
    return first


def meet(
    builder: Builder, name: str, first: np.ndarray, here: list[tuple[np.ndarray, np.ndarray]]
) -> np.ndarray:
    """Rows that ask for an order where both tasks of a pair are at one place.

    Parameters
    ----------
    first : int64 array, shape (R, 2)
        Columns of the pair of each row.
    here : list of two (columns, values)
        Shape (R, C) each: the sum says whether that task is there.

    Returns
    -------
    int64 array, shape (R,)
        The rows.
    """
    rows = builder.rows(name, (len(first),), upper=1.0)
    for columns, values in here:
        builder.add(rows[:, None], columns, values)
    builder.add(rows[:, None], first, -1.0)
    return rows
