"""Which device gets which part, and the placements that come of it."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.optimize import linear_sum_assignment

from heuristics.partition.network import Network
from heuristics.partition.repair import project, repair
from heuristics.shared.best import Best
from heuristics.shared.chunks import offer_chunks
from heuristics.shared.space import Space, topological
from heuristics.shared.state import State
from problems import throughput
from problems.instance import Instance

# An assignment of least sum of eighth powers is close to one of least maximum.
POWER = 8
# Pairs of devices that are exchanged on trial in one descent, at most, and nodes and edges that are
# evaluated for it.
EXCHANGES, EVALUATED = 120, 1_000_000


def offer_parts(
    instance: Instance,
    space: Space,
    state: State,
    best: Best,
    network: Network,
    seconds: np.ndarray,
    part: np.ndarray,
    devices: np.ndarray,
) -> None:
    """Offer what follows from a partition.

    Parameters
    ----------
    seconds : float64 array, shape (2E,)
        What cut edges cost.
    part : int64 array, shape (U,)
        Part of every unit; part i was cut to the size of ``devices[i]``.
    devices : int64 array, shape (P,)
    """
    for to in _assignments(instance, space, network, part, devices):
        if best.done():
            return
        if space.contiguous:
            _offer_chain(instance, space, state, best, network, seconds, part, to)
        elif repair(space, state, to[part], network.ptr, network.neighbour, seconds):
            place = state.place
            if instance.problem == "throughput":
                place = _exchange(instance, space, best, place)
            best.offer_device(place[space.unit])


def _assignments(
    instance: Instance, space: Space, network: Network, part: np.ndarray, devices: np.ndarray
) -> list[np.ndarray]:
    """Devices by part: as cut, and matched by what each device would take for each part."""
    if len(np.unique(instance.device_class[devices])) == 1:
        return [devices]
    cost = _costs(space.unit_time, instance.memory, network.bytes, part, devices)
    if instance.problem == "throughput" and cost.max() > 0:
        cost = (cost / cost.max()) ** POWER
    matched = devices[linear_sum_assignment(cost)[1]]
    return [devices] if np.array_equal(matched, devices) else [devices, matched]


@njit(cache=True)
def _costs(time, memory, held, part, devices):  # type: ignore[no-untyped-def]
    """Seconds of every part on every device, shape (P, P), with fines for what it cannot take.

    The fine is the longest time of the whole graph on any device: one for each unit that is not
    supported, and in proportion for what is over the memory.
    """
    U, P = len(part), len(devices)
    cost, missing = np.zeros((P, P)), np.zeros((P, P))
    size = np.zeros(P)
    for g in range(U):
        size[part[g]] += held[g]
        for i in range(P):
            if time[g, devices[i]] < np.inf:
                cost[part[g], i] += time[g, devices[i]]
            else:
                missing[part[g], i] += 1
    fine = cost.sum(axis=0).max()
    for p in range(P):
        for i in range(P):
            over = max(size[p] / max(memory[devices[i]], 1.0) - 1, 0.0)
            cost[p, i] += fine * (missing[p, i] + over)
    return cost


def _exchange(instance: Instance, space: Space, best: Best, place: np.ndarray) -> np.ndarray:
    """Exchange unlike devices as long as the period falls, one descent through all pairs."""
    classes = instance.device_class
    value = throughput.period(instance, place[space.unit])
    left = min(EXCHANGES, EVALUATED // (instance.n + instance.m))
    for a in range(instance.K):
        for b in range(a):
            if classes[a] == classes[b]:
                continue
            left -= 1
            if left < 0 or best.done():
                return place
            swap = np.arange(instance.K)
            swap[[a, b]] = b, a
            other = swap[place]
            # Memory is for the last judge; an exchange that breaks it is no gain.
            now = throughput.period(instance, other[space.unit])
            if now < value and throughput.is_valid(instance, other[space.unit]):
                place, value = other, now
    return place


def _offer_chain(
    instance: Instance,
    space: Space,
    state: State,
    best: Best,
    network: Network,
    seconds: np.ndarray,
    part: np.ndarray,
    to: np.ndarray,
) -> None:
    """Order the parts by their mean place in the topological order, then make them a chain.

    Three ways: units pushed forward to the part of what they read, units pulled back to the part
    of what reads them, and a new cut of the order of units in which earlier parts come first.
    """
    P, U = len(to), len(part)
    members = np.bincount(part, minlength=P)
    mean = np.bincount(part, np.arange(U), P) / np.maximum(members, 1)
    order = np.argsort(np.where(members > 0, mean, np.inf), kind="stable")
    rank = np.empty(P, np.int64)
    rank[order] = np.arange(P)
    chain = to[order]
    for ptr, others, forward in (
        (space.before_ptr, space.before, True),
        (space.after_ptr, space.after, False),
    ):
        place = chain[project(ptr, others, rank[part], forward)]
        if repair(space, state, place, network.ptr, network.neighbour, seconds):
            best.offer_device(state.place[space.unit])
    units = topological(space.after_ptr, space.after, rank[part].astype(float))
    idle = np.setdiff1d(np.arange(instance.K), chain)
    offer_chunks(instance, space, best, units, np.concatenate([chain, idle]))
