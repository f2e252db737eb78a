"""Modularity splitting: an exact model for one module of the graph after another."""

from __future__ import annotations

import math
import time
from typing import Annotated, Literal

import numpy as np

from heuristics.greedy import construct
from heuristics.modules import atoms as atoms_
from heuristics.modules import placing, scheduling
from heuristics.modules.atoms import Atoms
from heuristics.modules.communities import communities
from heuristics.modules.cutting import modules as cut
from heuristics.modules.exact import Backend
from heuristics.modules.polish import polish as polish_
from heuristics.modules.regions import regions
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.shared.space import Space
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, Range, method

How = Literal["louvain", "greedy", "sese"]
SIZE = {"throughput": 40, "latency": 30}
"""Atoms of a module where nothing else is asked for."""
MANY = 4.0
"""Modules for a second of the clock at most: building a model takes time too."""
SECONDS = 8.0
"""What is taken for the limit where there is none."""
SHARE = 0.6
"""Of the clock that the modules may take; what is left is for the polish."""
RESERVE = 0.04
"""Of the clock that is kept to finish with where nothing is polished."""
LARGE = 10_000
"""Places (nodes times devices) above which greedy goes first: modules may come to no end."""
FIRST = 0.4
"""Of the clock that greedy may take then."""
DETERMINISTIC = 0.25
"""Deterministic time of all solves for a second of the limit."""


@method(
    problems=["throughput", "latency"],
    source="Ghannane and Abdelfattah 2023 (arXiv 2308.00127), after the abstract",
    warm=True,
    needs=("ortools",),
)
def splitting(
    instance: Instance,
    context: Context,
    *,
    modules: How = "louvain",
    count: Annotated[int, Range(0, 100_000)] = 0,
    backend: Backend = "cp-sat",
    effort: Annotated[float, Range(0.0, 1e6)] = 0.0,
    polish: bool = True,
) -> Answer | None:
    """Modularity splitting (DiviML), re-implemented: modules solved exactly, one after another.

    The graph of colocation groups is cut into `modules` by Louvain's or greedy modularity with
    traffic as weights, or into single-entry-single-exit regions; modules are made convex and
    put in topological order (:mod:`heuristics.modules.cutting`). Each is solved by an exact model
    with what came before it fixed: `throughput` with the rest in blocks
    (:mod:`heuristics.modules.placing`), `latency` with least times to the end
    (:mod:`heuristics.modules.scheduling`). At last annealing polishes the whole (`polish`).

    `count` modules are wanted (0: by size and time limit); `effort` is the deterministic time of
    all solves (0: by the time limit). The limit enters rounded to a power of two, so that the same
    limit gives the same course. On large instances the greedy answer is there first, and what was
    not solved in time does not count.
    """
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    if best.done() or best.value <= 0:
        return best.answer
    if instance.n * instance.K > LARGE:
        _greedy(instance, space, best)
        if best.done():
            return best.answer
    left, rounded = context.time_left(), SECONDS
    if left < math.inf:
        rounded = 2.0 ** round(math.log2(max(left, 1e-3)))
    share = SHARE if polish else 1 - RESERVE
    inner = Context(seed=context.seed, deadline=time.monotonic() + share * left)
    atoms = atoms_.build(instance)
    size = SIZE[instance.problem]
    if instance.problem == "throughput":  # in larger modules runs of atoms move as one
        size = max(size, math.ceil(atoms.number / max(1.0, MANY * rounded)))
    found = split(atoms, modules, size, count, context.seed, rounded)
    work = effort or DETERMINISTIC * rounded
    if instance.problem == "throughput":
        fine = max(SIZE["throughput"], math.ceil(atoms.number / (count or atoms.number)))
        placing.run(instance, space, best, atoms, found, fine, backend, work, inner)
    else:
        scheduling.run(instance, space, best, atoms, found, backend, work, inner)
    if polish:
        polish_(instance, space, best)
    return best.answer


def _greedy(instance: Instance, space: Space, best: Best) -> None:
    """Offer the greedy answers, within their share of the clock."""
    context = best.context
    until = time.monotonic() + FIRST * context.time_left()

    def take(answer: Answer) -> None:
        best.offer(answer)

    quiet = Context(seed=context.seed, deadline=until, bound=context.bound, on_answer=take)
    own = Best(instance, quiet)
    own.answer, own.value = best.answer, best.value
    construct(instance, space, own)


def split(
    atoms: Atoms, how: How, size: int, count: int, seed: int, limit: float = SECONDS
) -> list[np.ndarray]:
    """Modules in topological order, each an array of atoms.

    Parameters
    ----------
    limit : float
        Seconds of the whole run: of little time not much goes into communities.
    """
    wanted = -(-atoms.number // count) if count else size
    if how == "sese":
        label = regions(atoms.number, atoms.pairs, wanted)
    else:
        label = communities(atoms, how, seed, limit)
    return cut(atoms, label, size, count)
