"""Greedy construction: by load, earliest finish (`latency`), fill (`calls`) or cuts (`chips`)."""

from __future__ import annotations

import numpy as np

from heuristics.shared import space as space_
from heuristics.shared import state as state_
from heuristics.shared.balance import balance
from heuristics.shared.best import Best
from heuristics.shared.chunks import PERMUTATIONS, device_orders, offer_chunks
from heuristics.shared.feasible import baseline
from heuristics.shared.lists import offer_schedule
from heuristics.shared.space import Space
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, method
from solvers.start_calls import mappings

# Units x devices x devices looked at in all, which takes seconds: huge instances get one order of
# devices.
PAIRS = 200_000_000


@method(
    problems=["throughput", "latency", "calls", "chips"],
    source="this suite",
    warm=True,
    mixtures=True,
)
def greedy(instance: Instance, context: Context) -> Answer | None:
    """Topological first-fit by load, earliest finish (latency), fill (calls) or cuts (chips).

    Throughput: colocation groups in topological order, each to the device that keeps the period
    least, and chunks along that order with the least load target; both over several orders of the
    devices, the better one counts. Latency: nodes in topological order, each to the device on which
    it finishes first, without insertion. Calls: accelerators filled one after another along a
    topological order, up to their memory and up to shares of it, the rest on a host (the greedy
    baseline of Tarnawski et al. 2020). Chips: runs of equal work along topological orders, on all
    chips or fewer, repaired where they break a rule.
    """
    if instance.problem == "chips":
        from heuristics.chips import entries as chips_  # slow to load: for those who need it

        return chips_.begin(instance, context)[1].answer
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    construct(instance, space, best)
    return best.answer


def construct(instance: Instance, space: Space, best: Best) -> None:
    """Offer all greedy answers of an instance."""
    if instance.problem == "calls":
        for device in mappings(instance):
            if best.done():
                return
            best.offer_device(device)
        return
    if instance.problem == "latency":
        # Node numbers are topological: falling priorities keep them in order.
        offer_schedule(instance, space, best, -np.arange(instance.n, dtype=float), insertion=False)
        return
    order = np.arange(len(space.unit_bytes))
    state = state_.empty(space)
    limit = max(1, min(PERMUTATIONS, PAIRS // (len(order) * instance.K**2)))
    for devices in device_orders(instance, limit):
        if best.done():
            return
        # Chunks first: on a huge instance a limit leaves no time for more.
        offer_chunks(instance, space, best, order, devices)
        if balance(space, state, order, devices, best.done):
            best.offer_device(state.place[space.unit])
