"""What the multipliers of a linear program prove, whatever solver they come from.

For   minimise c x,  A x >= b,  lower <= x <= upper   with all bounds finite, any y >= 0 proves

    c x  >=  b y + sum over j of min(d_j lower_j, d_j upper_j),   d = c - A' y

(Neumaier and Shcherbina, 2004, Math. Programming 99: "Safe bounds in linear and mixed-integer
linear programming"). Here rounding errors are bounded from the sizes of the terms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from problems.bounds.registry import slack


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """minimise c x with A x >= b (row by row `>=`, or `=` where `equal`) within finite bounds.

    Attributes
    ----------
    cost, lower, upper : float64 arrays, shape (columns,)
    matrix : scipy.sparse.csr_array, shape (rows, columns)
    right : float64 array, shape (rows,)
    equal : bool array, shape (rows,)
    """

    cost: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    matrix: Any
    right: np.ndarray
    equal: np.ndarray


def proved(program: LinearProgram, multipliers: np.ndarray) -> float:
    """The bound on c x that the multipliers prove, rounded down; those of `>=` rows are clipped.

    Coefficients may themselves be rounded once or twice: the allowance covers that.
    """
    y = np.where(program.equal, multipliers, np.maximum(multipliers, 0.0))
    if not np.isfinite(y).all():
        return -math.inf
    sizes = abs(program.matrix)
    reduced = program.cost - program.matrix.T @ y
    reach = np.maximum(np.abs(program.lower), np.abs(program.upper))
    magnitude = float((np.abs(program.right * y)).sum())
    magnitude += float((reach * (np.abs(program.cost) + sizes.T @ np.abs(y))).sum())
    least = np.minimum(reduced * program.lower, reduced * program.upper)
    value = math.fsum(program.right * y) + math.fsum(least)
    longest = int(np.diff(program.matrix.tocsc().indptr).max(initial=0))
    return value - slack(magnitude, longest + 8)


def multipliers(program: LinearProgram, seconds: float) -> tuple[np.ndarray | None, np.ndarray]:
    """Primal values and multipliers from HiGHS; None and zeros where it did not finish.

    Neither is to be believed: hand the multipliers to :func:`proved`. (Through scipy: the package
    `highspy` 1.16 prints a banner on every start.)
    """
    dual = np.zeros(len(program.right))
    above = ~program.equal
    limits: Any = np.column_stack([program.lower, program.upper])
    result = linprog(
        program.cost,
        A_ub=-program.matrix[above],
        b_ub=-program.right[above],
        A_eq=program.matrix[program.equal],
        b_eq=program.right[program.equal],
        bounds=limits,
        method="highs-ipm",
        options={"time_limit": max(seconds, 0.0)},
    )
    if result.status != 0:
        return None, dual
    dual[above] = -np.asarray(result.ineqlin.marginals, float)
    dual[program.equal] = result.eqlin.marginals
    return np.asarray(result.x, float), dual
