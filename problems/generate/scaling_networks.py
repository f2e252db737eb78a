"""Shapes of networks that stack what they repeat: cells, randomly wired stages, transformer blocks.

Each is a stem (a chain that takes up what does not make a whole piece) and then piece after piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
import numpy as np

from problems.generate.scaling_draws import Draws, Shape, chain, joined, pairs
from problems.generate.scaling_shapes import Branches, Count, Share


@dataclass(frozen=True)
class _Piece:
    """A piece that is repeated: `size` nodes, the last one its output.

    `reads` lists, port by port, the nodes that read what comes in there.
    """

    size: int
    edges: list[tuple[int, int]]
    reads: list[list[int]]


def _stack(n: int, pieces: list[_Piece], kinds: np.ndarray, back: list[int]) -> Shape:
    """Stack as many pieces as n nodes hold behind a stem.

    Parameters
    ----------
    kinds : int64 array
        Which piece comes first, second, ...; at least as many as are needed.
    back : list of int
        Port p of a piece reads the output of the back[p]-th piece before it, or of the stem.
    """
    size = np.array([piece.size for piece in pieces])[kinds]
    count = int(np.searchsorted(np.cumsum(size), n - 1, side="right"))
    kinds, size = kinds[:count], size[:count]
    stem = n - int(size.sum())
    first = stem + np.cumsum(size) - size
    output = np.append(np.full(max(back), stem - 1), first + size - 1)
    slots = np.cumsum([stem, *(piece.size for piece in pieces)])
    slot, part = np.arange(n), np.zeros(n, np.int64)
    edges = [chain(0, stem - 1)]
    for kind, piece in enumerate(pieces):
        here = np.flatnonzero(kinds == kind)
        at = first[here][:, None]
        inside = np.array(piece.edges, np.int64).reshape(-1, 2)
        edges.append(pairs(at + inside[:, 0], at + inside[:, 1]))
        for distance, readers in zip(back, piece.reads, strict=True):
            source = output[here + max(back) - distance][:, None]
            edges.append(pairs(source, at + np.array(readers, np.int64)))
        nodes = at + np.arange(piece.size)
        slot[nodes] = slots[kind] + np.arange(piece.size)
        part[nodes] = here[:, None] + 1
    return Shape(joined(edges), slot, part)


class Cells(
    msgspec.Struct,
    tag="cells",
    tag_field="rule",
    frozen=True,
    forbid_unknown_fields=True,
):
    """Stacked cells in the manner of NASNet (Zoph et al. 2018, arXiv 1707.07012).

    A cell reads the outputs of the two cells before it. It is a list of blocks: a block takes two
    of the cell's inputs and earlier blocks (the first block: both inputs), runs each through 0..run
    operators and adds them. What no block reads is concatenated: the cell's output. Two cells are
    drawn; the second stands in after every `every` of the first.

    Attributes
    ----------
    blocks : int
        Blocks of a cell.
    run : int
        Operators on each side of a block, uniform in 0..run (NASNet: 0, an identity, to 6, two
        separable convolutions).
    every : int
        Normal cells between two reduction cells.
    """

    blocks: Count = 5
    run: Annotated[int, msgspec.Meta(ge=0, le=100)] = 6
    every: Count = 6

    def draw(self, n: int, draws: Draws) -> Shape:
        """Draw a shape of n nodes; a node of a cell has one slot in all cells of its kind."""
        cells = [self._cell(draws) for _ in range(2)]
        kinds = (np.arange(n) % (self.every + 1) == self.every).astype(np.int64)
        return _stack(n, cells, kinds, [1, 2])

    def _cell(self, draws: Draws) -> _Piece:
        edges: list[tuple[int, int]] = []
        reads: list[list[int]] = [[], []]
        outputs: list[int] = []
        unread: set[int] = set()
        at = 0
        for block in range(self.blocks):
            sides = draws.below(block + 2, 2).tolist() if block else [0, 1]
            ends: list[int | None] = []
            for source, run in zip(sides, draws.below(self.run + 1, 2).tolist(), strict=True):
                # The add reads the source itself where no operator is between.
                ends.append(at + run - 1 if run else None)
                if run:
                    _feed(source, at, edges, reads, outputs)
                    edges += [(v, v + 1) for v in range(at, at + run - 1)]
                at += run
            for source, end in zip(sides, ends, strict=True):
                if end is None:
                    _feed(source, at, edges, reads, outputs)
                else:
                    edges.append((end, at))
            unread -= {outputs[source - 2] for source in sides if source >= 2}
            outputs.append(at)
            unread.add(at)
            at += 1
        return _Piece(at + 1, [*edges, *((u, at) for u in sorted(unread))], reads)


def _feed(
    source: int,
    v: int,
    edges: list[tuple[int, int]],
    reads: list[list[int]],
    outputs: list[int],
) -> None:
    """Let node v of a cell read one of its two inputs (0, 1) or block source - 2."""
    if source < 2:
        reads[source].append(v)
    else:
        edges.append((outputs[source - 2], v))


class RandWire(
    msgspec.Struct,
    tag="randwire",
    tag_field="rule",
    frozen=True,
    forbid_unknown_fields=True,
):
    """Randomly wired stages in a row (Xie et al. 2019, arXiv 1904.01569).

    A stage is a random undirected graph, its edges directed from the smaller number to the larger
    one. Each of its nodes is a run of operators; nodes without a producer read the stage's input,
    one operator gathers those without a consumer. The last stage may be smaller.

    Attributes
    ----------
    wiring : {'ws', 'ba'}
        ``ws``: Watts and Strogatz, a ring of k neighbours, each edge rewired with probability p.
        ``ba``: Barabasi and Albert, each new node reads m others, often read ones more often.
        Edges that come out twice are one.
    nodes, k, p, m
        As published: 32; 4, 0.75; 5.
    run : int
        Operators of a node (activation, two convolutions, normalisation).
    """

    wiring: Literal["ws", "ba"] = "ws"
    nodes: Branches = 32
    k: Branches = 4
    p: Share = 0.75
    m: Count = 5
    run: Count = 4

    def draw(self, n: int, draws: Draws) -> Shape:
        """Draw a shape of n nodes; operators of one stage and place in the run share a slot."""
        size = self.nodes * self.run + 1
        whole = (n - 1) // size
        # What is left makes a last, smaller stage as far as it goes.
        smaller = max(0, (n - 1 - whole * size - 1) // self.run)
        stem = n - whole * size - (smaller * self.run + 1 if smaller else 0)
        slot, part = np.arange(n), np.zeros(n, np.int64)
        edges = [chain(0, stem - 1)]
        for first, stages, nodes in ((stem, whole, self.nodes), (n, 1, smaller)):
            if not stages or not nodes:
                continue
            each = nodes * self.run + 1
            start = first if nodes == self.nodes else n - each
            at = start + each * np.arange(stages)[:, None]
            edges += self._stages(at, nodes, draws)
            place = np.append(np.tile(np.arange(self.run), nodes), self.run)
            number = 1 + (0 if nodes == self.nodes else whole) + np.arange(stages)[:, None]
            slot[at + np.arange(each)] = n + number * (self.run + 1) + place
            part[at + np.arange(each)] = number
        return Shape(joined(edges), slot, part)

    def _stages(self, at: np.ndarray, nodes: int, draws: Draws) -> list[np.ndarray]:
        """Edges of stages whose first operators are `at`, shape (stages, 1)."""
        stages, run = len(at), self.run
        wire = self._ws if self.wiring == "ws" else self._ba
        a, b = wire(stages, nodes, draws)
        low, high = np.minimum(a, b), np.maximum(a, b)
        stage = np.broadcast_to(np.arange(stages)[:, None], low.shape)
        has_producer, has_consumer = (np.zeros((stages, nodes), bool) for _ in range(2))
        has_producer[stage, high] = True
        has_consumer[stage, low] = True
        head = at + run * np.arange(nodes)
        tail = head + run - 1
        gather = np.broadcast_to(at + run * nodes, head.shape)
        enter = np.broadcast_to(at - 1, head.shape)  # the stage before, or the stem, ends there
        within = (head[:, :, None] + np.arange(run - 1)).ravel()
        return [
            pairs(within, within + 1),
            pairs(at + run * low + run - 1, at + run * high),
            pairs(enter[~has_producer], head[~has_producer]),
            pairs(tail[~has_consumer], gather[~has_consumer]),
        ]

    def _ws(self, stages: int, nodes: int, draws: Draws) -> tuple[np.ndarray, np.ndarray]:
        near = np.arange(1, min(self.k // 2, nodes - 1) + 1)
        a = np.repeat(np.arange(nodes), len(near))
        b = (a + np.tile(near, nodes)) % nodes
        rewired = draws.uniform(stages, len(a)) < self.p
        # Any node but a itself.
        other = (a + 1 + draws.below(max(1, nodes - 1), stages, len(a))) % nodes
        return np.broadcast_to(a, other.shape), np.where(rewired, other, b)

    def _ba(self, stages: int, nodes: int, draws: Draws) -> tuple[np.ndarray, np.ndarray]:
        m = min(self.m, nodes - 1)
        if m == 0:
            return np.zeros((stages, 0), np.int64), np.zeros((stages, 0), np.int64)
        # The first newcomer reads all who are there; then whoever stands in a random edge.
        old = np.broadcast_to(np.arange(m), (stages, m))
        new = np.full((stages, m), m)
        for v in range(m + 1, nodes):
            ends = np.concatenate([old, new], axis=1)
            picks = np.take_along_axis(ends, draws.below(ends.shape[1], stages, m), axis=1)
            old = np.concatenate([old, picks], axis=1)
            new = np.concatenate([new, np.full((stages, m), v)], axis=1)
        return old, new


class Transformer(
    msgspec.Struct,
    tag="transformer",
    tag_field="rule",
    frozen=True,
    forbid_unknown_fields=True,
):
    """Long chains of transformer blocks: attention and one or several feed-forward branches.

    A block normalises, makes query, key and value, mixes, projects and adds what came in; then it
    normalises again and runs 1..experts feed-forward branches side by side (gated where there are
    several), and adds again (Vaswani et al. 2017; experts after Shazeer et al. 2017). Blocks go to
    the towers in turn; a block may take key and value from the tower before it, as a decoder does.

    Attributes
    ----------
    towers : int
        Chains of blocks side by side.
    experts : int
        Feed-forward branches of a block, uniform in 1..experts.
    cross : float
        Probability that a block reads another tower's last block (none with one tower).
    """

    towers: Count = 2
    experts: Annotated[int, msgspec.Meta(ge=1, le=64)] = 4
    cross: Share = 0.1

    def draw(self, n: int, draws: Draws) -> Shape:
        """Draw a shape of n nodes; a node of a block has one slot in all blocks of its kind."""
        blocks = [_block(1 + i // 2, bool(i % 2)) for i in range(2 * self.experts)]
        most = n // blocks[0].size + 1
        crossed = draws.uniform(most) < (self.cross if self.towers > 1 else 0.0)
        # The first block of all has no other tower to read.
        crossed[0] = False
        return _stack(n, blocks, 2 * draws.below(self.experts, most) + crossed, [self.towers, 1])


def _block(experts: int, crossed: bool) -> _Piece:
    norm, query, key, value, scores, soft, mix, project, add, again = range(10)
    edges = [
        (norm, query), (query, scores), (key, scores), (scores, soft), (soft, mix), (value, mix),
        (mix, project), (project, add), (add, again),
    ]  # fmt: skip
    if not crossed:
        edges += [(norm, key), (norm, value)]
    gate = again + 1
    first = gate + (experts > 1)
    last = first + 3 * experts
    for at in range(first, last, 3):
        edges += [(again, at), (at, at + 1), (at + 1, at + 2), (at + 2, last)]
    if experts > 1:  # `last` combines; the sum with the residual follows
        edges += [(again, gate), (gate, last), (last, last + 1), (add, last + 1)]
        return _Piece(last + 2, edges, [[norm, add], [key, value] if crossed else []])
    return _Piece(last + 1, [*edges, (add, last)], [[norm, add], [key, value] if crossed else []])
