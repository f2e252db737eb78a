"""CPOP: critical path on a processor."""

from __future__ import annotations

import numpy as np

from heuristics.shared import ranks
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.shared.lists import offer_sequence
from heuristics.shared.space import Space
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method


@method(problems=["latency"], source="Topcuoglu, Hariri and Wu 2002", warm=True)
def cpop(
    instance: Instance,
    context: Context,
    *,
    rank: ranks.How = "mean",
    insertion: bool = True,
) -> Answer | None:
    """The critical path on the one device that is fastest for it, the rest where it finishes first.

    Ready operators are taken by the sum of upward and downward rank. Operators of the critical path
    that their device has no room for go where they finish first. Extended as
    :mod:`heuristics.shared.lists` says.
    """
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    if not best.done():
        times = ranks.averages(instance, space, rank)
        priority = ranks.upward(space, *times) + ranks.downward(space, *times)
        path = ranks.critical_path(space, priority)
        sequence = ranks.ready_first(space, priority)
        offer_sequence(instance, space, best, sequence, insertion, pull(space, path))
    return best.answer


def pull(space: Space, path: np.ndarray) -> np.ndarray:
    """-inf for every node of the path's groups on the path's device, else 0; shape (n, K).

    That device supports most of these groups, and among such is fastest for the path.
    """
    units = np.unique(space.unit[path])
    supported = np.isfinite(space.unit_time[units])
    seconds = np.where(supported[np.searchsorted(units, space.unit[path])], space.time[path], 0.0)
    device = np.lexsort((seconds.sum(axis=0), -supported.sum(axis=0)))[0]
    bias = np.zeros(space.time.shape)
    bias[np.isin(space.unit, units), device] = -np.inf
    return bias
