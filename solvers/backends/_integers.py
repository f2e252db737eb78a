"""A neutral model in integers only, rounded so that nothing true is lost.

Every solution of the model, rounded to the grid, is a solution of the rounded one: each row is
widened by the most that rounding can move it. What the rounded model cannot do, the model cannot;
a bound on its objective, less the objective's own error, is a bound on the model's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from solvers.model import Model

BITS = 40
"""Size of a row's activity in units of its row, in bits: CP-SAT computes in 64, with sums."""
GRIDS = (30, 26, 22, 20, 18, 12)
"""Bits of a continuous variable's range that are tried, finest first."""
LARGE = 2.0**60
PASSES = 5
NEAR = 1e-9
"""Relative error of a sum of floats, generously: computed bounds are moved out by this."""


class UnboundedError(ValueError):
    """A variable has no finite bound, and none follows from its rows."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """The rounded model: integers X with x = step * X up to the grid.

    Attributes
    ----------
    lower, upper : int64 arrays, shape (N,)
    matrix : scipy.sparse.csr_matrix of int64, shape (R, N)
    row_lower, row_upper : float64 arrays, shape (R,)
        Whole numbers or infinite.
    cost : int64 array, shape (N,)
    step : float64 array, shape (N,)
    factor, error : float
        A bound B on ``cost @ X`` bounds the model's objective by ``B / factor - error``.
    least : float
        What the bounds of the variables alone say of the objective.
    """

    lower: np.ndarray
    upper: np.ndarray
    matrix: sparse.csr_matrix
    row_lower: np.ndarray
    row_upper: np.ndarray
    cost: np.ndarray
    step: np.ndarray
    factor: float
    error: float
    least: float

    def bound(self, value: float) -> float:
        """The bound on the model's objective that follows from one on the rounded one's."""
        return max(value / self.factor - self.error, self.least)

    def units(self, x: np.ndarray) -> np.ndarray:
        """The rounded solution of a solution x, shape (N,), of the model."""
        near: np.ndarray = np.clip(np.round(x / self.step), self.lower, self.upper)
        return near.astype(np.int64)


def rounded(model: Model) -> Rounded:
    """Round a model.

    Raises
    ------
    UnboundedError
        If a variable is unbounded; the message names it.
    """
    integral, lower, upper = _settle(model)
    largest = np.maximum(np.abs(lower), np.abs(upper))
    matrix = model.matrix.tocsr()
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    column, value = matrix.indices, matrix.data
    whole = _whole_rows(model, integral, row, column, value)
    size = np.bincount(row, np.abs(value) * largest[column], minlength=len(model.row_lower))
    factor = np.where(whole, 1.0, _factor(size))
    step = _steps(integral, largest, row, column, value, factor)
    inside = np.where(integral, np.ceil(lower - NEAR), np.floor(lower / step))
    outside = np.where(integral, np.floor(upper + NEAR), np.ceil(upper / step))
    most = np.maximum(np.abs(inside), np.abs(outside))

    # What is fixed at 0 has no say in the size of its row, and no coefficient.
    exact = np.where(most[column] > 0, value * step[column] * factor[row], 0.0)
    coefficient = np.round(exact)
    off = np.abs(exact - coefficient) * most[column]
    off += np.where(integral[column], 0.0, np.abs(exact) / 2)
    error = np.bincount(row, off, minlength=len(factor))
    # The sums above are of floats, and what they are of was: a part in 1e12 of the row's size.
    error = error + np.where(whole, 0.0, 1e-12 * factor * size)
    row_lower = np.ceil(model.row_lower * factor - error - NEAR)
    row_upper = np.floor(model.row_upper * factor + error + NEAR)
    # What is out of reach is so at any size.
    row_lower = np.where(row_lower < -LARGE, -np.inf, np.minimum(row_lower, LARGE))
    row_upper = np.where(row_upper > LARGE, np.inf, np.maximum(row_upper, -LARGE))

    scale = _factor(np.array([np.abs(model.cost) @ largest]))[0]
    exact = model.cost * step * scale
    cost = np.round(exact)
    off = np.abs(exact - cost) * most + np.where(integral, 0.0, np.abs(exact) / 2)
    whole_matrix = sparse.csr_matrix(
        (coefficient.astype(np.int64), column.copy(), matrix.indptr.copy()), matrix.shape
    )
    whole_matrix.eliminate_zeros()
    return Rounded(
        lower=inside.astype(np.int64),
        upper=outside.astype(np.int64),
        matrix=whole_matrix,
        row_lower=row_lower,
        row_upper=row_upper,
        cost=cost.astype(np.int64),
        step=step,
        factor=float(scale),
        error=float(off.sum() / scale) + 1e-12 * float(np.abs(model.cost) @ largest),
        least=float(model.cost @ np.where(model.cost > 0, lower, upper)),
    )


def _factor(size: np.ndarray) -> np.ndarray:
    """A power of two a row that makes its activity about 2 ** BITS."""
    result: np.ndarray = np.exp2(np.floor(BITS - np.log2(np.maximum(size, 2.0**-20))))
    return result


def _whole_rows(
    model: Model, integral: np.ndarray, row: np.ndarray, column: np.ndarray, value: np.ndarray
) -> np.ndarray:
    """Rows of integral variables with whole coefficients that are not too large."""
    broken = (value != np.round(value)) | ~integral[column] | (np.abs(value) > 2.0**BITS)
    whole: np.ndarray = np.bincount(row, broken, minlength=len(model.row_lower)) == 0
    return whole


def _steps(
    integral: np.ndarray,
    largest: np.ndarray,
    row: np.ndarray,
    column: np.ndarray,
    value: np.ndarray,
    factor: np.ndarray,
) -> np.ndarray:
    """Grid of every variable: 1 where integral, else the power of two that loses least."""
    continuous = np.flatnonzero(~integral)
    step = np.ones(len(integral))
    top = np.exp2(np.ceil(np.log2(np.maximum(largest, 2.0**-60))))
    best = np.full(len(integral), np.inf)
    mine = np.isin(column, continuous)
    row, column, value = row[mine], column[mine], np.abs(value[mine])
    for bits in GRIDS:
        tried = top * 2.0**-bits
        exact = value * tried[column] * factor[row]
        off = np.abs(exact - np.round(exact)) * (largest[column] / tried[column] + 1) + exact / 2
        loss = np.zeros(len(integral))
        np.maximum.at(loss, column, off / (value * factor[row]))
        better = ~integral & (loss < best)
        step[better], best[better] = tried[better], loss[better]
    return step


def _settle(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which variables may be taken as integral, and finite bounds of all.

    A variable of no negative cost may be lowered to the largest lower limit that its own bound and
    its rows put on it, the others left as they are: some optimal solution has it there. If all
    these limits are integral, so is it.

    Returns
    -------
    integral : bool array, shape (N,)
    lower, upper : float64 arrays, shape (N,)
    """
    matrix = model.matrix.tocsr()
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    column, value = matrix.indices, matrix.data
    # Entries by which a row stands against lowering the variable.
    side = np.where(value > 0, model.row_lower[row], model.row_upper[row])
    against = np.isfinite(side)
    integral = model.integer | model.implied
    integral = integral | _found_integral(model, integral, row, column, value, side, against)
    lower, upper = model.lower.astype(float), model.upper.astype(float)
    lower[integral], upper[integral] = (
        np.ceil(lower[integral] - NEAR),
        np.floor(upper[integral] + NEAR),
    )
    for _ in range(PASSES):
        least, most = _activity(model, row, column, value, lower, upper)
        before = upper.copy()
        # Rows a @ x <= b, from either side: a_j x_j <= b - the least of the others.
        for sign, limit, others in ((1, model.row_upper, least), (-1, -model.row_lower, -most)):
            up = (value * sign > 0) & np.isfinite(limit[row])
            room = (limit[row][up] - others[up]) / np.abs(value[up])
            room += NEAR * (1 + np.abs(room))
            np.minimum.at(upper, column[up], np.where(np.isnan(room), np.inf, room))
        low = np.full(len(upper), -np.inf)
        with np.errstate(invalid="ignore"):  # infinity less infinity says nothing
            limit = np.where(value > 0, side - least, most - side)[against]
        limit /= np.abs(value[against])
        np.maximum.at(low, column[against], np.where(np.isnan(limit), np.inf, limit))
        open_ = ~np.isfinite(upper) & (model.cost >= 0) & (low < np.inf)
        low = np.maximum(low[open_], lower[open_])
        upper[open_] = low + NEAR * (1 + np.abs(low))
        upper[integral] = np.floor(upper[integral] + 1e-6)
        if (before == upper).all():
            break
    upper = np.maximum(upper, lower)  # an empty domain is for the rows to say
    loose = np.flatnonzero(~np.isfinite(lower) | ~np.isfinite(upper))
    if len(loose):
        raise UnboundedError(
            f"CP-SAT takes bounded variables only, and {model.column_names()[loose[0]]} has no"
            f" bound (one of {len(loose)})"
        )
    return integral, lower, upper


def _activity(
    model: Model,
    row: np.ndarray,
    column: np.ndarray,
    value: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest sum of the *other* terms of the row, an entry each."""
    results = []
    for at_positive, at_negative, worst in ((lower, upper, -np.inf), (upper, lower, np.inf)):
        term = value * np.where(value > 0, at_positive[column], at_negative[column])
        known = np.isfinite(term)
        finite = np.where(known, term, 0.0)
        height = len(model.row_lower)
        total = np.bincount(row, finite, minlength=height)[row] - finite
        gaps = np.bincount(row, ~known, minlength=height)[row] - ~known
        slack = NEAR * np.bincount(row, np.abs(finite), minlength=height)[row]
        results.append(np.where(gaps > 0, worst, total + np.copysign(slack, worst)))
    return results[0], results[1]


def _found_integral(
    model: Model,
    integral: np.ndarray,
    row: np.ndarray,
    column: np.ndarray,
    value: np.ndarray,
    side: np.ndarray,
    against: np.ndarray,
) -> np.ndarray:
    """Continuous variables that an equation makes integral, or that may be lowered until they are.

    See :func:`_settle`. Where a row decides, this is the only continuous variable in it.
    """
    height, width = len(model.row_lower), len(integral)
    found = np.zeros(width, bool)
    lowerable = (model.cost >= 0) & np.isfinite(model.lower)
    lowerable &= model.lower == np.round(model.lower)
    broken = np.bincount(row, value != np.round(value), minlength=height) > 0
    fits = ~broken[row] & (np.abs(value) == 1) & (side == np.round(side))
    equation = fits & (model.row_lower == model.row_upper)[row]
    while True:
        rest = np.bincount(row, ~(integral | found)[column], minlength=height)
        decides = rest[row] == 1
        held_up = np.bincount(column, against & ~(fits & decides), minlength=width) > 0
        determined = np.bincount(column, equation & decides, minlength=width) > 0
        new = ~integral & ~found & (determined | (lowerable & ~held_up))
        if not new.any():
            return found
        found |= new
