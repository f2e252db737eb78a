"""SliceGraph-style: the best slices of one order, and a genetic algorithm over orders."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np

from heuristics.greedy import construct
from heuristics.orders.genetic import Population
from heuristics.orders.linear import depth_first
from heuristics.orders.slicer import Slicer
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.shared.space import Space, topological
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, Range, method

# Generations without a deadline and without a number of them.
GENERATIONS = 30
# Orders whose slices are worse than the best answer by more than this factor count as bad alike.
SLACK = 1.5
Decoder = Literal["both", "heap", "depth-first"]


@method(
    problems=["throughput"],
    source="after Archer et al. 2024 (arXiv 2311.03703) and Goncalves and Resende 2011",
    warm=True,
)
def slicegraph(
    instance: Instance,
    context: Context,
    *,
    population: Annotated[int, Range(4, 10_000)] = 40,
    elite: Annotated[float, Range(0.05, 0.5)] = 0.2,
    mutants: Annotated[float, Range(0.0, 0.4)] = 0.15,
    inherit: Annotated[float, Range(0.5, 1.0)] = 0.7,
    decoder: Decoder = "both",
    generations: Annotated[int, Range(0, 1_000_000)] = 0,
) -> Answer | None:
    """Best slices of an order (dynamic program), and a genetic algorithm over orders.

    A re-implementation after the published abstract. The genetic algorithm is the biased random-key
    one: a key for every unit; the order is topological, small keys first (`heap`), or depth first
    and small keys first (`depth-first`); with `both`, one more key tells which. The natural orders
    are among the first. Of a `population` the share `elite` stays, `mutants` are drawn afresh, and
    the rest takes each key from an elite parent with probability `inherit`. It goes on for
    `generations` (0: until time is up). Free placement takes the slices, too.
    """
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    if best.answer is not None:
        construct(instance, space, best)
    if best.done() or instance.K == 1:
        return best.answer
    slicer = Slicer(instance, best)
    if generations == 0 and context.deadline == math.inf:
        generations = GENERATIONS
    units = len(slicer.space.unit_bytes)
    people = Population(context.rng, population, units + 1, elite, mutants, inherit)
    for i, keys in enumerate(_natural(slicer.space)):
        people.keys[i] = keys
    count = 0
    while not best.done() and (generations == 0 or count < generations):
        for i in people.unknown():
            order = _order(slicer.space, people.keys[i], decoder)
            known = best.value
            people.value[i] = slicer.run(order, slicer.everywhere, SLACK * known)
            if slicer.split and best.value < known:
                slicer.solve(order, slicer.everywhere)
            if best.done():
                return best.answer
        people.evolve()
        count += 1
    return best.answer


def _natural(space: Space) -> list[np.ndarray]:
    """Keys of four plain orders: by number, by number depth first, and both backwards."""
    number = (np.arange(len(space.unit_bytes)) + 0.5) / len(space.unit_bytes)
    found = []
    for keys in (number, 1 - number):
        for rule in (0.25, 0.75):
            found.append(np.append(keys, rule))
    return found


def _order(space: Space, keys: np.ndarray, decoder: Decoder) -> np.ndarray:
    deep = keys[-1] >= 0.5 if decoder == "both" else decoder == "depth-first"
    rule = depth_first if deep else topological
    order: np.ndarray = rule(space.after_ptr, space.after, keys[:-1])
    return order
