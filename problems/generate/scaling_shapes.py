"""Shapes of random directed acyclic graphs as the scheduling literature draws them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

import msgspec
import numpy as np

from problems.generate.scaling_draws import Draws, Shape, joined, pairs

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1, le=1000)]
Branches = Annotated[int, msgspec.Meta(ge=2, le=1000)]


class Layered(
    msgspec.Struct,
    tag="layered",
    tag_field="rule",
    frozen=True,
    forbid_unknown_fields=True,
):
    """Layer after layer, each node fed by random nodes above.

    The parameters are those of Topcuoglu, Hariri and Wu 2002 (shape, out-degree) and of the
    program DAGGEN (regularity, jump). One departure: DAGGEN's density is a share of the layer
    above, whose width grows with n, while the arity of an operator does not; here the number of
    producers is bounded instead. Nodes that nobody reads get a consumer in the next layer.

    Attributes
    ----------
    shape : float
        Mean width is shape * sqrt(n), mean depth sqrt(n) / shape.
    regularity : float
        1: all layers as wide as the mean; 0: widths uniform between 0 and twice the mean.
    parents : int
        Producers of a node, uniform in 1..parents (repeats are one); the first is in the layer
        right above, so the depth is the number of layers.
    jump : int
        The other producers are 1..jump layers above, uniformly.
    """

    shape: Annotated[float, msgspec.Meta(gt=0, le=1000)] = 0.5
    regularity: Share = 0.5
    parents: Count = 3
    jump: Count = 2

    def draw(self, n: int, draws: Draws) -> Shape:
        """Draw a shape of n nodes; every node has a slot of its own, a layer is a part."""
        mean = max(1.0, self.shape * math.sqrt(n))
        spread = self.regularity + 2 * (1 - self.regularity) * draws.uniform(n)
        width = np.maximum(1, np.floor(mean * spread).astype(np.int64))
        layers = int(np.searchsorted(np.cumsum(width), n)) + 1
        width = width[:layers]
        width[-1] -= width.sum() - n
        first = np.cumsum(width) - width
        layer = np.repeat(np.arange(layers), width)
        below = np.arange(int(width[0]), n)
        count = 1 + draws.below(self.parents, n)[below]
        edges = []
        for i in range(self.parents):
            back = np.zeros(n, np.int64) if i == 0 else draws.below(self.jump, n)
            source = np.maximum(layer[below] - 1 - back[below], 0)
            u = first[source] + draws.below(width[source], len(below))
            edges.append(pairs(u, below)[count > i])
        read = np.zeros(n, bool)
        read[joined(edges)[:, 0]] = True
        unread = np.flatnonzero(~read[: first[-1]])
        onward = layer[unread] + 1
        consumer = first[onward] + draws.below(width[onward], len(unread))
        edges.append(pairs(unread, consumer))
        return Shape(joined(edges), np.arange(n), layer)


class SeriesParallel(
    msgspec.Struct,
    tag="series-parallel",
    tag_field="rule",
    frozen=True,
    forbid_unknown_fields=True,
):
    """Fork-join graphs nested in one another: two-terminal series-parallel graphs.

    A piece of more than `run` nodes is, with probability `parallel`, a fork, 2..branches pieces
    side by side and a join; otherwise two pieces one after the other. Sizes of the pieces are
    random and of one order. Grown top-down after the definition of Valdes, Tarjan and Lawler 1982.

    Attributes
    ----------
    parallel : float
        Probability of a fork.
    branches : int
        Pieces of a fork, uniform in 2..branches.
    run : int
        Pieces of at most so many nodes are chains.
    """

    parallel: Share = 0.5
    branches: Branches = 4
    run: Count = 4

    def draw(self, n: int, draws: Draws) -> Shape:
        """Draw a shape of n nodes; every node has a slot of its own, a chain is a part."""
        edges: list[tuple[int, int]] = []
        part = list(range(n))
        self._grow(0, n, draws.one_by_one(), edges, part)
        return Shape(np.array(edges, np.int64).reshape(-1, 2), np.arange(n), np.array(part))

    def _grow(
        self,
        first: int,
        size: int,
        draw: Iterator[float],
        edges: list[tuple[int, int]],
        part: list[int],
    ) -> None:
        """Make a piece of the nodes first..first+size-1, entered at the first, left at the last."""
        last = first + size - 1
        if size <= self.run or size < 2:
            edges += zip(range(first, last), range(first + 1, last + 1), strict=True)
            part[first : last + 1] = [first] * size
        elif size < 4 or next(draw) >= self.parallel:
            half = max(1, min(size - 1, int(size * (0.25 + 0.5 * next(draw)))))
            edges.append((first + half - 1, first + half))
            self._grow(first, half, draw, edges, part)
            self._grow(first + half, size - half, draw, edges, part)
        else:
            left, at = size - 2, first + 1
            pieces = min(left, 2 + int(next(draw) * (self.branches - 1)))
            for more in range(pieces - 1, -1, -1):
                share = left * (0.5 + next(draw)) / (more + 1) if more else left
                piece = max(1, min(left - more, int(share)))
                edges += [(first, at), (at + piece - 1, last)]
                self._grow(at, piece, draw, edges, part)
                at, left = at + piece, left - piece
