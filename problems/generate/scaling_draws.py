"""What the shapes of generated graphs are drawn with, and what comes out of a draw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


class Draws:
    """Uniform numbers that are the same on every machine and with every numpy.

    They are made from the raw stream of PCG64, which numpy promises to keep (NEP 19), and not by
    the methods of a Generator, which it may change. Arithmetic on them is exact or rounds alike
    everywhere: no logarithms, no powers.
    """

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def uniform(self, *shape: int) -> np.ndarray:
        """Uniform in [0, 1), float64 array of the given shape."""
        size = int(np.prod(shape))
        raw = np.asarray(self._bits.random_raw(size), np.uint64) if size else np.zeros(0, np.uint64)
        result: np.ndarray = ((raw >> np.uint64(11)) * 2.0**-53).reshape(shape)
        return result

    def below(self, bound: int | np.ndarray, *shape: int) -> np.ndarray:
        """Uniform in 0..bound - 1, int64 array of the given shape; `bound` may be an array."""
        result: np.ndarray = np.floor(self.uniform(*shape) * bound).astype(np.int64)
        return result

    def one_by_one(self) -> Iterator[float]:
        """Uniform numbers for rules that need them one at a time."""
        while True:
            yield from self.uniform(4096).tolist()


@dataclass(frozen=True, eq=False)
class Shape:
    """A graph without operators, nodes 0..n-1 in a topological order.

    Attributes
    ----------
    edges : int64 array, shape (m, 2)
        Pairs u < v, in any order, repeats allowed: they are one edge.
    slot : int64 array, shape (n,)
        Nodes of one slot get the same operator: what a network repeats is repeated.
    part : int64 array, shape (n,)
        Which cell, stage, block, layer or chain a node belongs to; becomes its module path.
    """

    edges: np.ndarray
    slot: np.ndarray
    part: np.ndarray


def pairs(*columns: np.ndarray) -> np.ndarray:
    """Edges from arrays of sources and targets that broadcast, int64 array, shape (., 2)."""
    u, v = np.broadcast_arrays(*columns)
    return np.stack([u.ravel(), v.ravel()], axis=1).astype(np.int64)


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """All edges of several arrays of shape (., 2)."""
    return np.concatenate([np.zeros((0, 2), np.int64), *parts])


def chain(first: int, last: int) -> np.ndarray:
    """Edges of the chain first..last, shape (., 2)."""
    return pairs(np.arange(first, last), np.arange(first + 1, last + 1))
