"""A small linear model for the bounds that solve a mixed-integer program."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from scipy import sparse

# What a solver's dual bound may owe to its own tolerances (HiGHS: 1e-7 on reduced costs, 1e-6 on
# feasibility and the gap). Models are scaled so that what they minimise is about 1.
TOLERANCE = 1e-6
# No presolve where something is to be proved: that of HiGHS 1.16 fixes variables that an optimum
# needs, and 0 was "proved" where -0.34 is the minimum (the program is in tests, `test_linear.py`).
STRICT: dict[str, Any] = {
    "presolve": "off",
    "mip_rel_gap": 1e-7,
    "mip_abs_gap": 1e-9,
    "mip_feasibility_tolerance": 1e-7,
}
LARGEST = 5_000
"""Groups x classes beyond which no mixed-integer program is set up."""

_most: ContextVar[float] = ContextVar("most", default=math.inf)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Give what is relaxed or searched inside so many seconds each; bounds stay valid."""
    token = _most.set(seconds)
    try:
        yield
    finally:
        _most.reset(token)


def budget() -> float:
    """Seconds by :func:`at_most`; inf outside."""
    return _most.get()


class Linear:
    """Variables and rows; added to by blocks, minimised as often as wanted."""

    def __init__(self) -> None:
        self._lower: list[np.ndarray] = []
        self._upper: list[np.ndarray] = []
        self._integer: list[np.ndarray] = []
        self._row_lower: list[np.ndarray] = []
        self._row_upper: list[np.ndarray] = []
        self._entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.width = self.height = 0

    def variables(
        self, count: int, *, lower: Any = 0.0, upper: Any = 1.0, integer: bool = False
    ) -> np.ndarray:
        """Numbers of `count` new variables."""
        self._lower.append(np.broadcast_to(np.asarray(lower, float), count))
        self._upper.append(np.broadcast_to(np.asarray(upper, float), count))
        self._integer.append(np.full(count, int(integer)))
        self.width += count
        return np.arange(self.width - count, self.width)

    def rows(self, count: int, *, lower: Any = -np.inf, upper: Any = np.inf) -> np.ndarray:
        """Numbers of `count` new rows."""
        self._row_lower.append(np.broadcast_to(np.asarray(lower, float), count))
        self._row_upper.append(np.broadcast_to(np.asarray(upper, float), count))
        self.height += count
        return np.arange(self.height - count, self.height)

    def add(self, rows: Any, variables: Any, values: Any) -> None:
        """Add values to the matrix; the three are broadcast, repeated places add up."""
        row, column, value = np.broadcast_arrays(rows, variables, np.asarray(values, float))
        self._entries.append((row.ravel(), column.ravel(), value.ravel()))

    def matrix(self) -> Any:
        """The rows so far, a sparse array of shape (height, width)."""
        row, column, value = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        return sparse.csr_array((value, (row, column)), shape=(self.height, self.width))

    def minimise(
        self,
        cost: np.ndarray,
        seconds: float,
        upper: dict[int, float] | None = None,
        near: float = STRICT["mip_abs_gap"],
    ) -> tuple[float, np.ndarray | None]:
        """Bound the minimum from below.

        Parameters
        ----------
        cost : float64 array, shape (width,)
        seconds : float
            After which the bound that is proved by then is returned.
        upper : dict of int to float, optional
            Variable -> upper end for this once.
        near : float
            How far the bound may be under the solution when the search ends.

        Returns
        -------
        bound : float
            Lowered by :data:`TOLERANCE`; inf where no solution exists, -inf where nothing is known.
        solution : float64 array, shape (width,), or None
            The best that was found.
        """
        import highspy

        options = {**STRICT, "time_limit": max(seconds, 0.01), "mip_abs_gap": near}
        solver = self._solver(cost, True, upper or {}, options)
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return math.inf, None
        bound = float(solver.getInfo().mip_dual_bound)
        known = (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit)
        if status not in known or math.isnan(bound):
            bound = -math.inf
        values = np.array(solver.getSolution().col_value, float)
        found = (
            solver.getInfo().primal_solution_status
            == highspy.SolutionStatus.kSolutionStatusFeasible
        )
        return bound - TOLERANCE * max(1.0, abs(bound)), values if found else None

    def relaxed(self, cost: np.ndarray, seconds: float = math.inf) -> float:
        """Bound the minimum without integrality from below; -inf where nothing is known.

        What is claimed is computed anew from the solver's multipliers y >= 0: for any such y,
        min c x over A x <= b and the bounds is at least -b y + min (c + y A) x over the bounds. So
        the multipliers of a solver that was stopped, after `seconds` or :func:`at_most`, do, too.
        Variables without an upper end have a lower end of 0 and a positive cost.
        """
        seconds = min(seconds, budget())
        # Multipliers near an optimum do as well as those of a vertex, and come sooner.
        options: dict[str, Any] = {"solver": "ipm", "run_crossover": "off"}
        if math.isfinite(seconds):
            options["time_limit"] = max(seconds, 0.01)
        dual = np.array(self._solver(cost, False, {}, options).getSolution().row_dual, float)
        if len(dual) != self.height or not np.isfinite(dual).all():
            return -math.inf
        return _dual_value(
            cost,
            self.matrix(),
            (np.concatenate(self._row_lower), np.concatenate(self._row_upper)),
            (np.concatenate(self._lower), np.concatenate(self._upper)),
            dual,
        )

    def solved(self, cost: np.ndarray) -> tuple[float, np.ndarray] | None:
        """The linear program as HiGHS solves it: nothing here is proved.

        Returns
        -------
        minimum : float
        dual : float64 array, shape (height,)
            A multiplier a row, positive for its lower side.

        None if it does not come to an end.
        """
        import highspy

        solver = self._solver(cost, False, {}, {})
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        dual = np.array(solver.getSolution().row_dual, float)
        return float(solver.getInfo().objective_function_value), dual

    def _solver(
        self, cost: np.ndarray, integer: bool, upper: dict[int, float], options: dict[str, Any]
    ) -> Any:
        """HiGHS after its run."""
        import highspy  # heavy: only where a program is solved

        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = self.width, self.height
        top = np.concatenate(self._upper)
        for variable, value in upper.items():
            top[variable] = value
        program.col_cost_, program.col_upper_ = cost, top
        program.col_lower_ = np.concatenate(self._lower)
        program.row_lower_ = np.concatenate(self._row_lower)
        program.row_upper_ = np.concatenate(self._row_upper)
        columns = self.matrix().tocsc()
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_ = columns.indptr
        program.a_matrix_.index_ = columns.indices
        program.a_matrix_.value_ = columns.data
        if integer:
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            program.integrality_ = [kinds[i] for i in np.concatenate(self._integer).tolist()]
        every = highspy.HighsOptions()
        for name, option in (
            # Small entries that are dropped would make a row "at least" stricter.
            {"output_flag": False, "threads": 1, "random_seed": 0, "small_matrix_value": 1e-12}
            | options
        ).items():
            setattr(every, name, option)
        # `highspy.Highs` itself prints a banner before it can be told not to.
        solver = highspy._core._Highs()
        solver.passOptions(every)
        solver.passModel(program)
        solver.run()
        return solver


def _dual_value(
    cost: np.ndarray,
    matrix: Any,
    sides: tuple[np.ndarray, np.ndarray],
    ends: tuple[np.ndarray, np.ndarray],
    dual: np.ndarray,
) -> float:
    """What `dual`, one multiplier a row (positive: its lower side), proves."""
    (low, high), (lower, upper) = sides, ends
    below = np.where(np.isfinite(low), np.maximum(dual, 0.0), 0.0)
    above = np.where(np.isfinite(high), np.maximum(-dual, 0.0), 0.0)
    # A variable without an upper end may not gain: the multipliers shrink until it does not.
    endless = np.isinf(upper)
    gain = (matrix.T @ (below - above))[endless] / cost[endless]
    shrink = 1.0 / max(1.0, float(gain.max(initial=0.0)) * (1 + 1e-12))
    below, above = below * shrink, above * shrink
    reduced = cost - matrix.T @ (below - above)
    box = np.minimum(reduced * lower, reduced * np.where(endless, 0.0, upper))
    sides_ = np.where(below > 0, low, 0.0) * below - np.where(above > 0, high, 0.0) * above
    terms = [*sides_.tolist(), *box[~endless].tolist(), *(reduced * lower)[endless].tolist()]
    # Sums of this many numbers, far more than double rounding can change, and what `reduced` lost.
    lost = float(((abs(matrix).T @ (below + above)) * np.where(endless, 0.0, upper)).sum())
    return math.fsum(terms) - 1e-9 * math.fsum(map(abs, terms)) - 1e-15 * lost
