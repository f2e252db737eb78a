"""Colour refinement of two copies of a graph at once, so that their colours compare."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from problems.instance import Instance


@dataclass(frozen=True, eq=False)
class Colouring:
    """Stable colours of two copies, int64 arrays of shape (N,): equal ones look alike."""

    left: np.ndarray
    right: np.ndarray

    def matches(self) -> bool:
        """Whether both copies have every colour equally often."""
        return bool(np.array_equal(np.sort(self.left), np.sort(self.right)))


class Structure:
    """An instance's graph as N coloured vertices: nodes, then groups, then shared weights.

    A group of several nodes and a shared weight are vertices with an arc from every member, so
    that colours know them.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance, self.n, self.refinements = instance, instance.n, 0
        n = instance.n
        size = np.bincount(instance.group, minlength=1)
        several = np.flatnonzero(size > 1)
        number = np.full(len(size), -1)
        number[several] = n + np.arange(len(several))
        grouped = np.flatnonzero(number[instance.group] >= 0)
        weights = len(instance.shared_bytes)
        of_weight = np.repeat(np.arange(weights), np.diff(instance.shared_ptr))
        self.size = n + len(several) + weights
        self.source = np.concatenate([instance.edges[:, 0], grouped, instance.shared_node])
        self.target = np.concatenate(
            [
                instance.edges[:, 1],
                number[instance.group[grouped]],
                n + len(several) + of_weight,
            ]
        )
        self.members = [
            instance.shared_node[a:b]
            for a, b in zip(instance.shared_ptr[:-1], instance.shared_ptr[1:], strict=True)
        ]
        self._groups, self._weights = len(several), weights

    @cached_property
    def costs(self) -> np.ndarray:
        """Colour of every vertex by its costs alone; int64 array, shape (N,)."""
        instance = self.instance
        columns = [instance.time, instance.node_bytes[:, None], instance.phase[:, None]]
        rows = np.column_stack([*columns, instance.link_time.T]).astype(float) + 0.0  # no -0.0
        known: dict[object, int] = {}
        colours = [known.setdefault(row.tobytes(), len(known)) for row in rows]
        colours += [known.setdefault("group", len(known))] * self._groups
        for size in instance.shared_bytes.tolist():
            colours.append(known.setdefault(("weight", size), len(known)))
        return np.array(colours, np.int64)

    def plain(self) -> Colouring:
        """The stable colouring that the costs alone lead to."""
        return self._refine(self.costs, self.costs)

    def individualise(self, colouring: Colouring, v: int, u: int) -> Colouring:
        """Give v on the left and u on the right a colour of their own, and refine."""
        left, right = colouring.left.copy(), colouring.right.copy()
        own = 1 + max(int(left.max()), int(right.max()))
        left[v] = right[u] = own
        return self._refine(left, right)

    def _refine(self, left: np.ndarray, right: np.ndarray) -> Colouring:
        self.refinements += 1
        colour = np.concatenate([left, right])
        N = len(left)
        source = np.concatenate([self.source, self.source + N])
        target = np.concatenate([self.target, self.target + N])
        before = 0
        colour, count = _numbered(colour[:, None])
        while count > before:
            before = count
            mixed = _mix(colour)
            # Sums of mixed colours stand for multisets: two that clash leave a colour too
            # coarse, which costs search and no correctness, for every result is verified.
            out, into = np.zeros(2 * N, np.uint64), np.zeros(2 * N, np.uint64)
            np.add.at(out, source, mixed[target])
            np.add.at(into, target, mixed[source])
            rows = np.column_stack([colour.astype(np.uint64), out, into])
            colour, count = _numbered(rows)
        return Colouring(colour[:N], colour[N:])

    def keeps(self, image: np.ndarray) -> bool:
        """Whether a permutation of the nodes, shape (n,), keeps costs and structure, exactly."""
        instance = self.instance
        if not np.array_equal(self.costs[: self.n][image], self.costs[: self.n]):
            return False
        edges = image[instance.edges]
        if not np.array_equal(edges[np.lexsort((edges[:, 1], edges[:, 0]))], instance.edges):
            return False
        # Groups go to groups: pairs (group, group of the image) are one to one.
        pairs = np.unique(np.column_stack([instance.group, instance.group[image]]), axis=0)
        if len(np.unique(pairs[:, 0])) != len(pairs) or len(np.unique(pairs[:, 1])) != len(pairs):
            return False
        sizes = instance.shared_bytes.tolist()
        ours = sorted(
            (b, tuple(sorted(m.tolist()))) for b, m in zip(sizes, self.members, strict=True)
        )
        theirs = sorted(
            (b, tuple(sorted(image[m].tolist()))) for b, m in zip(sizes, self.members, strict=True)
        )
        return ours == theirs


def _numbered(rows: np.ndarray) -> tuple[np.ndarray, int]:
    """Number equal rows; how many there are."""
    order = np.lexsort(rows.T[::-1])
    ranked = rows[order]
    new = np.concatenate([[False], (ranked[1:] != ranked[:-1]).any(axis=1)])
    number = np.empty(len(rows), np.int64)
    number[order] = np.cumsum(new)
    return number, int(new.sum()) + 1


def _mix(colour: np.ndarray) -> np.ndarray:
    """Scatter numbers over 64 bits (SplitMix64, Steele et al. 2014)."""
    z = (colour.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
