"""Random restarts."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from numba import njit

from heuristics.shared import rng as rng_
from heuristics.shared import space as space_
from heuristics.shared import state as state_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline, random_order
from heuristics.shared.space import Space, topological
from heuristics.shared.state import State
from problems import latency
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Context, Range, method

# Without a deadline and without a number of restarts.
RESTARTS = 1_000


@method(problems=["throughput", "latency", "calls", "chips"], source="this suite", warm=True,
        mixtures=True)  # fmt: skip
def random(
    instance: Instance, context: Context, *, restarts: Annotated[int, Range(0, 10**9)] = 0
) -> Answer | None:
    """Random feasible placements, the best of `restarts` (0: until time is up).

    Free: colocation groups in random order on random devices that still hold them. Contiguous:
    random cuts of a random topological order on devices in random order. Latency: a random
    topological sequence besides. Calls: cut by dispatch. Chips: SAMPLE of
    :mod:`solvers.repair` with equal probabilities, after the cuts of `greedy`.
    """
    if instance.problem == "chips":
        from heuristics.chips import entries as chips_  # slow to load: for those who need it

        units, best = chips_.begin(instance, context)
        chips_.sampled(units, context, best, restarts)
        return best.answer
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    if restarts == 0 and context.deadline == math.inf:
        restarts = RESTARTS
    state, stream = state_.empty(space), rng_.seeded(context.rng)
    count = 0
    while not best.done() and (restarts == 0 or count < restarts):
        count += 1
        if instance.problem == "throughput":
            if draw(space, state, stream) and state_.period(space, state) < best.value:
                best.offer_device(state.place[space.unit])
        elif not draw(space, state, stream):
            continue
        elif instance.problem == "calls":
            best.offer_device(state.place[space.unit])
        else:
            _offer_sequence(instance, space, state, stream, best)
    return best.answer


def _offer_sequence(
    instance: Instance, space: Space, state: State, stream: np.ndarray, best: Best
) -> None:
    device = state.place[space.unit]
    sequence = topological(space.succ_ptr, space.succ, _keys(stream, instance.n))
    start = latency.sequence_starts(instance, device, sequence)
    if (start + instance.time[np.arange(instance.n), device]).max() < best.value:
        best.offer(latency.answer_of(instance, device, sequence))


@njit(cache=True)
def _keys(stream, n):  # type: ignore[no-untyped-def]
    keys = np.empty(n)
    for v in range(n):
        keys[v] = rng_.uniform(stream)
    return keys


@njit(cache=True)
def draw(space, state, stream):  # type: ignore[no-untyped-def]
    """Draw a placement into `state`; False where it does not come out feasible."""
    U, K = space.unit_time.shape
    state_.clear(state)
    order = random_order(space, stream)
    devices = np.arange(K)
    rng_.shuffle(stream, devices)
    if space.contiguous:
        cuts = np.empty(K, np.int64)
        for c in range(K - 1):
            cuts[c] = rng_.below(stream, U + 1)
        cuts[K - 1] = U
        cuts.sort()
        c = 0
        for i in range(U):
            g = order[i]
            while True:
                # Past its cut, or full: on to the next device.
                while c < K and i >= cuts[c]:
                    c += 1
                if c == K:
                    return False
                if _try(space, state, g, devices[c]):
                    break
                cuts[c] = i
                if c == K - 1:
                    return False
        return True
    for g in order:
        rng_.shuffle(stream, devices)
        done = False
        for k in devices:
            if _try(space, state, g, k):
                done = True
                break
        if not done:
            return False
    return True


@njit(cache=True)
def _try(space, state, g, k):  # type: ignore[no-untyped-def]
    if space.unit_time[g, k] == np.inf:
        return False
    state_.move(space, state, g, k)
    if state.use[k] <= space.memory[k]:
        return True
    state_.move(space, state, g, -1)
    return False
