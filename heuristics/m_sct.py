"""m-SCT: small communication times under memory limits."""

from __future__ import annotations

import numpy as np

from heuristics.shared import ranks
from heuristics.shared import space as space_
from heuristics.shared.best import MARGIN, Best
from heuristics.shared.earliest import offer_earliest
from heuristics.shared.favourites import favourite_children
from heuristics.shared.feasible import baseline
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method


@method(problems=["latency"], source="Jeon et al. 2020", name="m-sct", warm=True)
def m_sct(instance: Instance, context: Context) -> Answer | None:
    """As `m-etf`, but a device waits for the favourite child of what it has run.

    Favourite children come from the relaxation of Hanen and Munier 1995, by mean times, rounded at
    1/2; with more than 20,000 transfers, or where it takes half of the time left, from a greedy
    matching. While the favourite child of a device's last operator is ready, and may start there no
    later than elsewhere, only that child or what could start at once on any device may run there.
    """
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    if not best.done():
        times = ranks.averages(instance, space)
        rank = ranks.upward(space, *times)
        left = 0.5 * context.time_left() - MARGIN
        child = favourite_children(space, *times, rank, left)
        offer_earliest(instance, space, best, np.zeros(instance.n), favourite=child)
    return best.answer
