"""The levels of an instance: part of every node, finest first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heuristics.levels.matching import coarser, level_of, quotient
from heuristics.modules import atoms as atoms_
from problems.instance import Instance
from problems.rules import ThroughputRules

FACTOR = 3.0
"""Between two levels that are kept, about."""
STUCK = 0.98
"""Part of the elements that a round must come below to go on."""
EVEN = 3.0
"""Work of a part over an even share of the coarsest level, at most; the same of bytes."""


def hierarchy(
    instance: Instance, coarsest: int, rng: np.random.Generator, time_left: Callable[[], float]
) -> list[np.ndarray]:
    """Part of every node, int64 arrays of shape (n,), of `coarsest` parts or some more at last.

    Parts are whole colocation groups, and all nodes of one run on the same devices. Under `latency`
    and along a chain they are numbered topologically. Empty where the instance is no larger than
    that, or where nothing can be contracted in time.
    """
    if instance.n <= coarsest:
        return []
    atoms = atoms_.build(instance)
    rules = instance.rules
    ordered = not isinstance(rules, ThroughputRules) or rules.contiguous
    level = level_of(instance, atoms, ordered)
    part = atoms.atom
    work = EVEN * level.work.sum() / coarsest
    size = _most_bytes(instance, EVEN * level.size.sum() / coarsest)
    layer = 0 if isinstance(rules, ThroughputRules) else 2 * instance.K
    kept: list[np.ndarray] = []
    last = len(level.work)
    while len(level.work) > coarsest and time_left() > 0:
        number = coarser(level, ordered, work, size, rng, layer)
        count = int(number.max()) + 1
        if count > STUCK * len(level.work):
            break
        level, part = quotient(level, number), number[part]
        if count * FACTOR <= last:
            kept.append(part)
            last = count
    if last > len(level.work):
        kept.append(part)
    return kept


def _most_bytes(instance: Instance, even: float) -> float:
    """Bytes of a part at most: an even share of them where memory is limited."""
    return even if np.isfinite(instance.memory).any() else np.inf
