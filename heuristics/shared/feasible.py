"""What no heuristic may be worse than: the best single device, or some valid placement.

Where no single device holds the graph, any placement that keeps support, memory, colocation and
the chain will do. Finding one is bin packing, so first-fit is followed by backtracking over several
orders of units and devices.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from heuristics.shared import rng as rng_
from heuristics.shared import state as state_
from heuristics.shared.best import MARGIN, Best
from heuristics.shared.space import Space, topological
from problems.compiled import REHEARSAL
from problems.instance import Instance
from problems.single import best_single
from solvers.method import Context
from solvers.start_calls import calls_start

# Placements tried: in the first attempt, in one attempt at most (more for more units), and in all.
FIRST, STEP, ALL = 20_000, 200_000, 10_000_000
# Placements between looks at the clock: a millisecond, or some on large graphs.
SLICE = 500
_FOUND, _NONE, _OUT = 1, 0, -1


def baseline(instance: Instance, space: Space, context: Context, best: Best) -> bool:
    """Offer the best single device or, without one, a first fit; False where neither is found.

    A start given with the context is offered as well. Under `calls` a first fit may need more slots
    than there are; a short walk then looks for an answer, and may miss one.
    """
    best.offer(context.start)
    single = best_single(instance)
    best.offer(None if single is None else single[0])
    if best.answer is not None and instance.problem == "calls" and instance.n <= REHEARSAL:
        # Not offered, and cut at once: to have compiled what is needed where nothing fits at all.
        calls_start(instance, deadline=-math.inf)
    if best.answer is None:
        place, complete = _fit(space, context)
        if place is not None:
            best.offer_device(place[space.unit])
        if best.answer is None and instance.problem == "calls" and not complete:
            # A placement may cut into more calls than there are slots: walk to one that does not.
            best.offer(calls_start(instance, deadline=context.deadline - MARGIN))
    return best.answer is not None


def first_fit(space: Space, context: Context) -> np.ndarray | None:
    """A valid placement of units, int64 array of shape (U,); None where none is found in time."""
    return _fit(space, context)[0]


def _fit(space: Space, context: Context) -> tuple[np.ndarray | None, bool]:
    """What :func:`first_fit` finds, and whether it is known that there is none."""
    U, K = space.unit_time.shape
    supported = np.isfinite(space.unit_time)
    if not supported.any(axis=1).all():
        return None, True
    total = np.where(supported, space.unit_time, 0.0).sum(axis=0) / supported.sum(axis=0).clip(1)
    devices = np.argsort(total, kind="stable")
    natural = np.arange(U)
    # Hardest first: few devices, then many bytes.
    hardest = np.lexsort((-space.unit_bytes, supported.sum(axis=1)))
    stream = rng_.seeded(np.random.default_rng(0))
    rng = np.random.default_rng(0)
    state, left, budget, attempt = state_.empty(space), ALL, max(FIRST, 2 * U), 0
    choice = np.empty(U, np.int64)
    # Every unit is placed once in any case: late is better than never.
    owed = 2 * U
    while left > 0 and (owed > 0 or context.time_left() > MARGIN):
        order = natural
        if attempt % 4 == 1 and not space.contiguous:
            order = hardest
        elif attempt % 4 > 1:
            order = random_order(space, stream)
        state_.clear(state)
        choice.fill(-1)
        found, at, trials = _OUT, 0, min(budget, left)
        while found == _OUT and trials > 0 and (owed > 0 or context.time_left() > MARGIN):
            piece = min(SLICE, trials)
            found, at = _search(space, state, order, devices, choice, at, piece)
            trials -= piece
            owed -= piece
        if found == _FOUND:
            return state.place.copy(), False
        if found == _NONE:
            return None, True
        left -= budget
        attempt += 1
        if attempt % 4 == 0:
            budget = min(2 * budget, max(STEP, budget))
        devices = rng.permutation(K)
    return None, False


@njit(cache=True)
def random_order(space, stream):  # type: ignore[no-untyped-def]
    """Random order of units; topological under `contiguous`."""
    U = len(space.unit_bytes)
    key = np.empty(U)
    for g in range(U):
        key[g] = rng_.uniform(stream)
    return topological(space.after_ptr, space.after, key)


@njit(cache=True)
def _search(space, state, order, devices, choice, i, budget):  # type: ignore[no-untyped-def]
    """First-fit in the given orders with backtracking; `budget` placements at most.

    Goes on from unit `i` of the order, for which and before which `choice` has the devices tried
    last, in place. Returns how it ended and the unit to go on from.
    """
    U, K = space.unit_time.shape
    position = np.empty(K, np.int64)
    while i >= 0:
        if i == U:
            return _FOUND, i
        g = order[i]
        placed = False
        for c in range(choice[i] + 1, K):
            k = devices[c]
            if space.unit_time[g, k] == np.inf:
                continue
            if budget == 0:
                return _OUT, i
            budget -= 1
            choice[i] = c
            state_.shift(space, state, g, k)
            if state.use[k] > space.memory[k]:
                continue
            if space.contiguous and not state_.chain(state, position):
                continue
            placed = True
            break
        if placed:
            i += 1
            if i < U:
                choice[i] = -1
        else:
            state_.shift(space, state, g, state_.NOWHERE)
            i -= 1
    return _NONE, i
