"""A first valid partition where memory is short: cuts of an order, or FIX of even shares of memory.

Runs of an order that fit do not always exist where networks part and join: what a run has to take
in, up to the last reader of what lies before it, may be more than a chip holds. FIX then moves the
few nodes that stand in the way.
"""

from __future__ import annotations

import math
import time

import numpy as np

from problems.compiled import REHEARSAL
from solvers.repair.cuts import any_valid
from solvers.repair.modes import Repair
from solvers.repair.orders import orders
from solvers.repair.problem import Problem
from solvers.rng import seeded


def first_valid(problem: Problem, deadline: float = math.inf) -> np.ndarray | None:
    """A valid partition, int64 array of shape (n,).

    None where none is found, which does not mean that there is none.

    Parameters
    ----------
    deadline : float
        On :func:`time.monotonic`'s scale, seconds.
    """
    chip = any_valid(problem)
    if chip is not None and len(chip) > REHEARSAL:
        return chip
    repair = Repair(problem, "difference")  # on a tiny problem in any case: it rehearses
    if chip is not None:
        return chip
    stream = seeded(np.random.default_rng(0))
    lines = list(orders(problem))
    for runs in _counts(problem):
        for order in lines:
            if time.monotonic() > deadline or repair.none:
                return None
            found = repair.fix(even_memory(problem, order, runs), order, stream, deadline)
            if found is not None:
                return found.chip
    return None


def even_memory(problem: Problem, order: np.ndarray, runs: int) -> np.ndarray:
    """Runs of an order that hold about as many bytes each, shape (n,); not always valid."""
    held = _bytes(problem)[order]
    middle, chip = np.cumsum(held) - held / 2, np.empty(len(order), np.int64)
    chip[order] = np.minimum(middle * (runs / max(float(held.sum()), 1.0)), runs - 1)
    return chip


def _counts(problem: Problem) -> list[int]:
    """Numbers of runs to try: all chips, as few as hold everything, and one between these."""
    most = float(problem.capacity.max())
    least = math.ceil(_bytes(problem).sum() / most) if most > 0 else problem.chips
    least = max(1, min(problem.chips, least))
    return sorted({problem.chips, (least + problem.chips) // 2, least}, reverse=True)


def _bytes(problem: Problem) -> np.ndarray:
    """Memory of every node with its part of the shared weights that it reads, shape (n,)."""
    readers = np.maximum(np.bincount(problem.weight, minlength=len(problem.shared_bytes)), 1)
    node = np.repeat(np.arange(len(problem.bytes)), np.diff(problem.weight_ptr))
    parts = (problem.shared_bytes / readers)[problem.weight]
    result: np.ndarray = problem.bytes + np.bincount(node, parts, len(problem.bytes))
    return result
