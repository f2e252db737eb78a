"""PEFT: predict earliest finish time."""

from __future__ import annotations

import numpy as np

from heuristics.shared import ranks
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.shared.lists import offer_sequence
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method


@method(problems=["latency"], source="Arabnejad and Barbosa 2014", warm=True)
def peft(
    instance: Instance,
    context: Context,
    *,
    rank: ranks.How = "mean",
    insertion: bool = True,
) -> Answer | None:
    """List scheduling by an optimistic cost table, which looks ahead to the end of the graph.

    The table holds what is left after an operator on a device if every later one could run where it
    is best. Ready operators are taken by its mean over the devices, each goes where its finish plus
    its entry is least. `rank`: how the table takes transfers. Extended as
    :mod:`heuristics.shared.lists` says.
    """
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    if not best.done():
        _, between = ranks.averages(instance, space, rank)
        table = ranks.optimistic_costs(space, between)
        able = np.isfinite(table)
        mean = np.where(able, table, 0.0).sum(axis=1) / np.maximum(able.sum(axis=1), 1)
        # Where no consumer can follow, what is left is unknown, not endless.
        table[~able] = np.repeat(table.max(axis=1, where=able, initial=0.0), (~able).sum(axis=1))
        sequence = ranks.ready_first(space, mean)
        offer_sequence(instance, space, best, sequence, insertion, table)
    return best.answer
