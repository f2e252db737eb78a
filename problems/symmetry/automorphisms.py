"""Graph symmetry: nodes that may change places, such as repeated parallel branches.

A permutation s of the nodes is an automorphism where every node v and its image s(v) have equal
times on every device, bytes, phase and payload times, u -> v is an edge exactly where
s(u) -> s(v) is one, colocation groups go to colocation groups, and the readers of a shared weight
to the readers of one of the same size. Then s turns every valid answer into a valid one of the
same objective: what was true of v is true of s(v). (What is completed by rule breaks ties by
number, and may come out otherwise.)

Candidates come from colour refinement (1-WL; Weisfeiler and Leman 1968): nodes of one orbit share
a colour, not the other way round. Automorphisms are found by individualisation and refinement
along a stabiliser chain (Sims; McKay and Piperno 2014), and every one is verified.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from problems.instance import Instance
from problems.symmetry._refine import Colouring, Structure

MOST_REFINEMENTS = 2_000
"""Refinements before a search gives up, by default."""

DEEPEST = 200
"""Nodes that one search individualises at most: far above what verified guesses leave open."""


@dataclass(frozen=True, eq=False)
class Automorphisms:
    """Generators of automorphisms of a graph with its costs.

    Attributes
    ----------
    generators : tuple of int64 arrays, shape (n,)
        Where every node goes; none is the identity.
    base : tuple of (node, orbit)
        The stabiliser chain: every node with all that it is carried to, itself first, while the
        nodes before it in `base` stay in place.
    orbit : int64 array, shape (n,)
        First node of the orbit of every node under `generators`.
    complete : bool
        Whether they generate all automorphisms. Otherwise the budget was spent.
    """

    generators: tuple[np.ndarray, ...]
    base: tuple[tuple[int, tuple[int, ...]], ...]
    orbit: np.ndarray
    complete: bool

    @property
    def order(self) -> int:
        """Size of the group that the generators generate, at least."""
        return math.prod(len(orbit) for _, orbit in self.base)


def colours(instance: Instance) -> np.ndarray:
    """The coarsest stable colouring of the nodes, by colour refinement.

    Nodes of one colour have equal costs, and as many producers, consumers, partners in groups and
    in shared weights of every colour. No automorphism carries a node to one of another colour.

    Returns
    -------
    int64 array, shape (n,)
        Numbered by first node.
    """
    stable = Structure(instance).plain().left[: instance.n]
    first, index = np.unique(stable, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first))[index].astype(np.int64)


def is_automorphism(instance: Instance, image: np.ndarray) -> bool:
    """Whether a permutation of the nodes changes nothing.

    Parameters
    ----------
    image : int array, shape (n,)
        Where every node goes.
    """
    image = np.asarray(image)
    if not np.array_equal(np.sort(image), np.arange(instance.n)):
        raise ValueError(f"not a permutation of {instance.n} nodes")
    return Structure(instance).keeps(image)


def automorphisms(
    instance: Instance, most: int = MOST_REFINEMENTS, along: Sequence[int] = ()
) -> Automorphisms:
    """Automorphisms of the graph with its costs.

    Complete unless the budget is spent (``complete`` says so); what is found is verified either
    way.

    Parameters
    ----------
    most : int
        Refinements at most, for the chain and again for the searches along it. Each takes a few
        passes over nodes and edges.
    along : sequence of int
        Nodes that come first in the stabiliser chain, in this order, where they can move at all.
    """
    structure = Structure(instance)
    search = _Search(structure, most)
    generators: list[np.ndarray] = []
    base: list[tuple[int, tuple[int, ...]]] = []
    colouring = structure.plain()
    before: list[Colouring] = []
    first = list(along)
    while (cell := _next_cell(colouring.left[: instance.n], first)) is not None:
        if structure.refinements >= most:
            search.cut = True
            break
        v = first.pop(0) if first else int(cell[0])
        base.append((v, tuple(cell.tolist())))
        before.append(colouring)
        colouring = structure.individualise(colouring, v, v)
    structure.refinements = 0
    # From the last level up: what the deeper levels found spares searches here.
    for i in reversed(range(len(base))):
        v, cell_ = base[i]
        reached = _reach(v, generators)
        for u in cell_:
            if u in reached:
                continue
            image = search.carry(before[i], v, u)
            if image is not None:
                generators.append(image)
                reached = _reach(v, generators)
        base[i] = v, (v, *sorted(reached - {v}))
    orbit = np.arange(instance.n)
    for v in range(instance.n):
        if orbit[v] == v:
            orbit[list(_reach(v, generators))] = v
    chain = tuple(each for each in base if len(each[1]) > 1)
    return Automorphisms(tuple(generators), chain, orbit, not search.cut)


class _Search:
    """Depth first over individualised colourings, within a budget."""

    def __init__(self, structure: Structure, most: int) -> None:
        self.structure, self.most, self.cut = structure, most, False

    def carry(self, colouring: Colouring, v: int, u: int, depth: int = 0) -> np.ndarray | None:
        """An automorphism of what `colouring` allows that carries v to u; None without one."""
        if self.cut or self.structure.refinements >= self.most or depth >= DEEPEST:
            self.cut = True
            return None
        n = self.structure.n
        refined = self.structure.individualise(colouring, v, u)
        if not refined.matches():
            return None
        # A guess: where several nodes of a colour are left they pair by number, so that those
        # of other branches stay where they are.
        image = np.empty(n, np.int64)
        left, right = refined.left[:n], refined.right[:n]
        image[np.argsort(left, kind="stable")] = np.argsort(right, kind="stable")
        if self.structure.keeps(image):
            return image
        cell = _smallest_cell(left)
        if cell is None:
            return None
        for other in np.flatnonzero(right == left[cell[0]]).tolist():
            found = self.carry(refined, int(cell[0]), other, depth + 1)
            if found is not None or self.cut:
                return found
        return None


def _next_cell(colour: np.ndarray, first: list[int]) -> np.ndarray | None:
    """The cell of the first of `first` that can move, dropping those before it, or any."""
    while first:
        cell = np.flatnonzero(colour == colour[first[0]])
        if len(cell) > 1:
            return cell
        first.pop(0)
    return _smallest_cell(colour)


def _smallest_cell(colour: np.ndarray) -> np.ndarray | None:
    """Nodes of the rarest colour that several have, ascending; None where all differ."""
    index, count = np.unique(colour, return_inverse=True, return_counts=True)[1:]
    several = np.where(count > 1, count, np.iinfo(np.int64).max)
    if not len(several) or several.min() == np.iinfo(np.int64).max:
        return None
    return np.flatnonzero(index == several.argmin())


def _reach(v: int, generators: list[np.ndarray]) -> set[int]:
    """All that v is carried to."""
    reached, new = {v}, [v]
    while new:
        u = new.pop()
        for image in generators:
            w = int(image[u])
            if w not in reached:
                reached.add(w)
                new.append(w)
    return reached
