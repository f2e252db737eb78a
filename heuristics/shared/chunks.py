"""Chunks: consecutive pieces of one order of units, one piece a device.

For a target load every device takes the longest piece that stays within it, as if all that follows
lay elsewhere; the least target that places everything is found by bisection. On a topological order
the result is a chain.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numba import njit

from heuristics.shared import state as state_
from heuristics.shared.best import Best
from heuristics.shared.space import Space
from problems.instance import Instance

STEPS = 24  # of the bisection: 2**-24 of the first interval
PERMUTATIONS = 24
PERMUTED = 8
"""Devices that are permuted at most."""


def device_orders(instance: Instance, limit: int = PERMUTATIONS) -> list[np.ndarray]:
    """Orders of the devices, at most `limit`, that differ by more than interchangeable devices.

    Of more than :data:`PERMUTED` devices only the last ones change places.
    """
    kept = max(0, instance.K - PERMUTED)
    first, rest = list(range(kept)), list(range(kept, instance.K))
    orders = islice(_unlike(instance.device_class.tolist(), rest), limit)
    return [np.array(first + order, np.int64) for order in orders]


def _unlike(classes: list[int], devices: list[int]) -> Iterator[list[int]]:
    """Unlike orders of `devices` as their numbers go; interchangeable ones stay in order."""
    if not devices:
        yield []
        return
    tried: set[int] = set()
    for i, k in enumerate(devices):
        if classes[k] not in tried:
            tried.add(classes[k])
            for order in _unlike(classes, devices[:i] + devices[i + 1 :]):
                yield [k, *order]


def offer_chunks(
    instance: Instance, space: Space, best: Best, order: np.ndarray, devices: np.ndarray
) -> None:
    """Offer the chunks of one order of units, shape (U,), on devices in the order given."""
    state = state_.empty(space)
    finite = np.where(np.isfinite(space.unit_time), space.unit_time, 0.0)
    low, high = 0.0, float(finite.max(axis=1).sum() + 2 * instance.link_time.max(axis=0).sum())
    for _ in range(STEPS):
        if best.done():
            return
        target = high if low == 0.0 and state.place[0] < 0 else (low + high) / 2
        if fill(space, state, order, devices, target):
            best.offer_device(state.place[space.unit])
            high = target
        elif target == high:
            return
        else:
            low = target


@njit(cache=True)
def fill(space, state, order, devices, target):  # type: ignore[no-untyped-def]
    """Fill device after device up to a load of `target` seconds; False where units are left.

    Afterwards ``state.place`` holds the pieces; its loads are not kept.
    """
    state_.clear(state)
    n, U, K = len(space.unit), len(order), len(devices)
    inside = np.zeros(n, np.int64)  # consumers of each node in the piece at hand
    piece = np.full(n, -1, np.int64)  # which piece `inside` counts
    at = np.full(n, -1, np.int64)  # piece of each node
    i = 0
    for c in range(K):
        k = devices[c]
        # Where payloads come from and go to is a guess on direct links: the neighbours.
        source, to = devices[max(c - 1, 0)], devices[min(c + 1, K - 1)]
        comp, into, out = 0.0, 0.0, 0.0
        end, j = i, i
        while j < U:
            g = order[j]
            if space.unit_time[g, k] == np.inf:
                break
            state_.shift(space, state, g, k)
            if state.use[k] > space.memory[k]:
                state_.shift(space, state, g, state_.NOWHERE)
                break
            for a in range(space.unit_ptr[g], space.unit_ptr[g + 1]):
                v = space.unit_node[a]
                comp += space.time[v, k]
                at[v] = c
                if piece[v] != c:
                    piece[v] = c
                    inside[v] = 0
                elif inside[v] > 0:
                    into -= _seconds(space, v, source, k, k)
                if inside[v] < space.succ_ptr[v + 1] - space.succ_ptr[v]:
                    out += _seconds(space, v, k, to, k)
                for b in range(space.pred_ptr[v], space.pred_ptr[v + 1]):
                    u = space.pred[b]
                    if piece[u] != c:
                        piece[u] = c
                        inside[u] = 0
                    inside[u] += 1
                    if at[u] == c:
                        if inside[u] == space.succ_ptr[u + 1] - space.succ_ptr[u]:
                            out -= _seconds(space, u, k, to, k)
                    elif inside[u] == 1:
                        into += _seconds(space, u, source, k, k)
            j += 1
            load = comp + into + out
            if space.overlap == 1:
                load = max(comp, into + out)
            elif space.overlap == 2:
                load = max(comp, max(into, out))
            if load <= target:
                end = j
            if comp > target:
                break
        while j > end:
            j -= 1
            g = order[j]
            state_.shift(space, state, g, state_.NOWHERE)
            for a in range(space.unit_ptr[g], space.unit_ptr[g + 1]):
                at[space.unit_node[a]] = -1
        i = end
    return i == U


@njit(cache=True)
def _seconds(space, u, k, to, payer):  # type: ignore[no-untyped-def]
    if space.host[payer]:
        return 0.0
    if space.staged:
        return space.link_time[space.port[payer], u]
    return space.link_time[space.wire[k, to], u]
