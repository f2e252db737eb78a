"""A neutral sparse mixed-integer model: what formulations build and backends solve.

Minimise ``cost @ x`` subject to ``row_lower <= matrix @ x <= row_upper``, ``lower <= x <= upper``
and some of x integral. Formulations fill a :class:`Builder` block by block from whole arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from problems.answer import Answer


@dataclass(frozen=True, eq=False)
class Model:
    """A model of N variables and R rows, and how its solutions read as answers.

    Attributes
    ----------
    cost, lower, upper : float64 arrays, shape (N,)
    integer : bool array, shape (N,)
    implied : bool array, shape (N,)
        Not declared integral, and yet integral in some optimal solution: what a backend that
        knows integers only may rely on.
    matrix : scipy.sparse.csr_matrix, shape (R, N)
        Without repeated or zero entries.
    row_lower, row_upper : float64 arrays, shape (R,)
    variables, rows : mapping of str to slice
        The named blocks.
    shapes, row_shapes : mapping of str to tuple of int
        Their shapes.
    scale : float
        Seconds that one unit of the objective stands for.
    read : callable
        Solution, shape (N,), to answer; integral variables may be off by the solver's tolerance.
    encode : callable
        Answer to solution, or None where the model has no place for the answer.
    """

    cost: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    integer: np.ndarray
    implied: np.ndarray
    matrix: sparse.csr_matrix
    row_lower: np.ndarray
    row_upper: np.ndarray
    variables: Mapping[str, slice]
    rows: Mapping[str, slice]
    shapes: Mapping[str, tuple[int, ...]]
    row_shapes: Mapping[str, tuple[int, ...]]
    scale: float
    read: Callable[[np.ndarray], Answer]
    encode: Callable[[Answer], np.ndarray | None]

    def violation(self, x: np.ndarray) -> float:
        """Largest violation of a bound, a row or integrality by x, shape (N,)."""
        activity = self.matrix @ x
        off = [
            self.lower - x,
            x - self.upper,
            self.row_lower - activity,
            activity - self.row_upper,
            np.abs(x - np.round(x))[self.integer],
        ]
        return max((float(each.max()) for each in off if len(each)), default=0.0)

    def column_names(self) -> list[str]:
        """Names of the variables: block and position in it, ``x_3_1``; for files of others.

        Raises
        ------
        ValueError
            If two are the same.
        """
        return _names(self.shapes)

    def row_names(self) -> list[str]:
        """Names of the rows, like :meth:`column_names`."""
        return _names(self.row_shapes)


@dataclass
class Builder:
    """Collects blocks of variables, rows and entries."""

    _columns: list[tuple[np.ndarray, ...]] = field(default_factory=list)
    _sides: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    _entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)
    _variable_blocks: dict[str, slice] = field(default_factory=dict)
    _row_blocks: dict[str, slice] = field(default_factory=dict)
    _shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    _row_shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    width: int = 0
    height: int = 0

    def variables(
        self,
        name: str,
        shape: tuple[int, ...],
        *,
        lower: float | np.ndarray = 0.0,
        upper: float | np.ndarray = 1.0,
        integer: bool = False,
        implied: bool = False,
        cost: float | np.ndarray = 0.0,
    ) -> np.ndarray:
        """Add a block of variables; bounds and cost broadcast to `shape`.

        Parameters
        ----------
        implied : bool
            The variables are continuous and yet integral in some optimal solution, once the
            integral ones are.

        Returns
        -------
        int64 array of shape `shape`
            Their column numbers.
        """
        _is_new(name, self._shapes)
        index = np.arange(self.width, self.width + int(np.prod(shape)), dtype=np.int64)
        self._columns.append(
            (_flat(lower, shape), _flat(upper, shape), _flat(cost, shape),
             np.full(len(index), integer), np.full(len(index), implied))
        )  # fmt: skip
        self._variable_blocks[name] = slice(self.width, self.width + len(index))
        self._shapes[name] = shape
        self.width += len(index)
        return index.reshape(shape)

    def rows(
        self,
        name: str,
        shape: tuple[int, ...],
        *,
        lower: float | np.ndarray = -np.inf,
        upper: float | np.ndarray = np.inf,
    ) -> np.ndarray:
        """Add a block of rows, empty so far; returns their numbers, an array of shape `shape`."""
        _is_new(name, self._row_shapes)
        index = np.arange(self.height, self.height + int(np.prod(shape)), dtype=np.int64)
        self._sides.append((_flat(lower, shape), _flat(upper, shape)))
        self._row_blocks[name] = slice(self.height, self.height + len(index))
        self._row_shapes[name] = shape
        self.height += len(index)
        return index.reshape(shape)

    def add(self, rows: np.ndarray, columns: np.ndarray, values: float | np.ndarray) -> None:
        """Add entries; the three broadcast against each other, repeats are summed."""
        row, column, value = np.broadcast_arrays(rows, columns, values)
        self._entries.append((row.ravel(), column.ravel(), value.ravel().astype(float)))

    def build(
        self,
        scale: float,
        read: Callable[[np.ndarray], Answer],
        encode: Callable[[Answer], np.ndarray | None],
    ) -> Model:
        """The finished model."""
        columns = (_join([c[i] for c in self._columns]) for i in range(5))
        lower, upper, cost, integer, implied = columns
        row, column, value = (_join([e[i] for e in self._entries]) for i in range(3))
        matrix = sparse.coo_matrix(
            (value, (row.astype(np.int64), column.astype(np.int64))), (self.height, self.width)
        ).tocsr()
        matrix.eliminate_zeros()
        return Model(
            cost=cost,
            lower=lower,
            upper=upper,
            integer=integer.astype(bool),
            implied=implied.astype(bool),
            matrix=matrix,
            row_lower=_join([side[0] for side in self._sides]),
            row_upper=_join([side[1] for side in self._sides]),
            variables=self._variable_blocks,
            rows=self._row_blocks,
            shapes=self._shapes,
            row_shapes=self._row_shapes,
            scale=scale,
            read=read,
            encode=encode,
        )


def _flat(value: float | np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(np.asarray(value, float), shape).ravel()


def _join(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0)


def _is_new(name: str, shapes: Mapping[str, tuple[int, ...]]) -> None:
    if name in shapes:
        raise ValueError(f"there is a block {name!r} already")


def _names(shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Block and index; what a block's name has besides letters and digits becomes ``_``.

    In LP files a name must not look like a number or an exponent.
    """
    result: list[str] = []
    for block, shape in shapes.items():
        plain = re.sub(r"[^A-Za-z0-9]+", "_", block).strip("_")
        plain = f"v_{plain}" if re.match(r"[eE0-9]", plain) else plain
        result += ["_".join([plain, *map(str, index)]) for index in np.ndindex(shape)]
    if len(set(result)) < len(result):
        raise ValueError(f"blocks {', '.join(shapes)} give the same name twice")
    return result
