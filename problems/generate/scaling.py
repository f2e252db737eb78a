"""Generated graphs for scaling studies: a random shape, real operators.

A rule draws the shape (:mod:`~problems.generate.scaling_shapes`,
:mod:`~problems.generate.scaling_networks`); every node then gets an operator of a *palette*, the
operators of captured graphs, with its signature, payload and weights. So every device file that
knows the palette's graphs has the times of the generated graph. Such graphs are not stored:
``library/generated.json`` lists rule, parameters, seed and the digest of what must come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from problems.files import FileError, encode
from problems.generate.scaling_draws import Draws, Shape
from problems.generate.scaling_networks import Cells, RandWire, Transformer
from problems.generate.scaling_shapes import Layered, SeriesParallel
from problems.graph import GraphFile, Node, OpGraph

Rule = Layered | SeriesParallel | Cells | RandWire | Transformer


class Generated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one graph is generated.

    Attributes
    ----------
    shape : Rule
        The rule, named by ``rule``, with its parameters.
    n : int
        Number of nodes.
    seed : int
    palette : list of str
        Names of the captured graphs that the operators are from.
    digest : str
        SHA-256 of what must come out; empty: not checked.
    """

    shape: Rule
    n: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**53)]
    palette: Annotated[list[str], msgspec.Meta(min_length=1)]
    digest: str = ""


class GeneratedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``generated.json``: name of each generated graph -> how it is generated."""

    format: Literal["placebench-generated/1"]
    graphs: dict[str, Generated]


@dataclass(frozen=True, eq=False)
class Palette:
    """Operators to draw from, A of them: one a node of the captured graphs, repeats included.

    Attributes
    ----------
    ops : list of str
    members : list of tuple of str
        Signatures, see :class:`~problems.graph.OpGraph`.
    arity, output_bytes, weight_bytes : int64 arrays, shape (A,)
        Producers in the captured graph; payload; bytes of weights.
    digest : str
        SHA-256 of all of this.
    """

    ops: list[str]
    members: list[tuple[str, ...]]
    arity: np.ndarray
    output_bytes: np.ndarray
    weight_bytes: np.ndarray
    digest: str


def palette_of(graphs: Sequence[OpGraph]) -> Palette:
    """Gather the operators of captured graphs, those that cost nothing left out."""
    rows: list[tuple[str, tuple[str, ...], int, int, int]] = []
    for graph in graphs:
        arity = np.bincount(graph.edges[:, 1], minlength=graph.n).tolist()
        rows += [
            (graph.ops[v], graph.members[v], arity[v], size, sum(graph.weights[v].values()))
            for v, size in enumerate(graph.output_bytes.tolist())
            if graph.members[v]
        ]
    if not rows:
        names = ", ".join(graph.name for graph in graphs)
        raise FileError(f"palette {names}: no operator in it - at `$.palette`")
    ops, members, arity, size, weight = (list(column) for column in zip(*rows, strict=True))
    return Palette(
        ops,
        members,
        np.array(arity, np.int64),
        np.array(size, np.int64),
        np.array(weight, np.int64),
        sha256(encode(rows)).hexdigest(),
    )


def generate(name: str, how: Generated, graphs: Sequence[OpGraph]) -> OpGraph:
    """Generate a graph.

    A node gets a random operator among those of the palette that have as many producers as it has
    (or else the most below, or the fewest); nodes of one slot get the same one.

    Parameters
    ----------
    graphs : sequence of OpGraph
        The palette's graphs, in the order of ``how.palette``.

    Raises
    ------
    FileError
        If the palette is empty or what comes out does not have the stored digest.
    """
    palette = palette_of(graphs)
    draws = Draws(how.seed)
    shape = how.shape.draw(how.n, draws)
    edges = _normal(how.n, shape.edges)
    choice = _operators(how.n, edges, shape, palette, draws)
    found = _digest(palette, edges, choice)
    if how.digest and found != how.digest:
        raise FileError(
            f"generated graph {name!r}: digest {found[:16]}..., expected {how.digest[:16]}...: its"
            f" palette ({', '.join(how.palette)}) or its rule has changed"
        )
    chosen = choice.tolist()
    weight = palette.weight_bytes.tolist()
    none: dict[str, int] = {}
    known = {s: each for graph in graphs for s, each in graph.signatures.items()}
    used = {s for a in set(chosen) for s in palette.members[a]}
    return OpGraph(
        name=name,
        family=f"scaling-{how.shape.__struct_config__.tag}",
        names=tuple(f"v{v}" for v in range(how.n)),
        ops=tuple(palette.ops[a] for a in chosen),
        paths=tuple(f"part{i}" for i in shape.part.tolist()),
        members=tuple(palette.members[a] for a in chosen),
        output_bytes=palette.output_bytes[choice],
        weights=tuple({f"v{v}": weight[a]} if weight[a] else none for v, a in enumerate(chosen)),
        phase=np.zeros(how.n, np.int8),
        colocate=(None,) * how.n,
        edges=edges,
        signatures={s: known[s] for s in sorted(used & set(known))},
        provenance=_provenance(how, palette),
    )


def _provenance(how: Generated, palette: Palette) -> dict[str, Any]:
    parameters = msgspec.to_builtins(how.shape)
    return {
        "kind": "modelled",
        "rule": parameters.pop("rule"),
        "parameters": parameters,
        "n": how.n,
        "seed": how.seed,
        "palette": how.palette,
        "palette_digest": palette.digest,
    }


def _normal(n: int, edges: np.ndarray) -> np.ndarray:
    """Sorted edges without repeats."""
    key = np.sort(edges[:, 0] * n + edges[:, 1])
    key = key[np.diff(key, prepend=-1) > 0]
    return np.stack([key // n, key % n], axis=1)


def _operators(
    n: int, edges: np.ndarray, shape: Shape, palette: Palette, draws: Draws
) -> np.ndarray:
    """Which operator of the palette each node gets, int64 array, shape (n,)."""
    arity = np.zeros(int(shape.slot.max()) + 1, np.int64)
    np.maximum.at(arity, shape.slot, np.bincount(edges[:, 1], minlength=n))
    order = np.argsort(palette.arity, kind="stable")
    there = np.flatnonzero(np.bincount(palette.arity))
    nearest = there[np.maximum(np.searchsorted(there, arity, side="right") - 1, 0)]
    first = np.searchsorted(palette.arity[order], nearest, side="left")
    last = np.searchsorted(palette.arity[order], nearest, side="right")
    of_slot = order[first + draws.below(last - first, len(arity))]
    result: np.ndarray = of_slot[shape.slot]
    return result


def _digest(palette: Palette, edges: np.ndarray, choice: np.ndarray) -> str:
    state = sha256(f"placebench-generated/1\n{palette.digest}\n{len(choice)}\n".encode())
    for array in (edges, choice):
        state.update(np.ascontiguousarray(array, "<i8").tobytes())
    return state.hexdigest()


def digest_of(how: Generated, graphs: Sequence[OpGraph]) -> str:
    """What ``how.digest`` has to be; `graphs` as for :func:`generate`."""
    palette, draws = palette_of(graphs), Draws(how.seed)
    shape = how.shape.draw(how.n, draws)
    edges = _normal(how.n, shape.edges)
    return _digest(palette, edges, _operators(how.n, edges, shape, palette, draws))


def to_file(graph: OpGraph) -> GraphFile:
    """The file form of a generated graph, for bundles."""
    return GraphFile(
        format="placebench-graph/1",
        name=graph.name,
        family=graph.family,
        nodes=[
            Node(
                name=graph.names[v],
                op=graph.ops[v],
                signature=graph.members[v][0],
                output_bytes=size,
                weights=dict(graph.weights[v]),
                path=graph.paths[v],
            )
            for v, size in enumerate(graph.output_bytes.tolist())
        ],
        edges=[(u, v) for u, v in graph.edges.tolist()],
        provenance=dict(graph.provenance),
        signatures=dict(graph.signatures),
    )
