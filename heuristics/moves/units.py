"""Units with their memory and devices only, compiled: for problems that evaluate afresh."""

from __future__ import annotations

from numba import njit

from heuristics.shared import state as state_


@njit(cache=True)
def place_all(space, state, device, units):  # type: ignore[no-untyped-def]
    """Start from a placement of units, shape (U,); `device`, shape (n,), gets that of nodes."""
    state_.clear(state)
    for g in range(len(units)):
        put(space, state, device, g, units[g])


@njit(cache=True)
def put(space, state, device, g, k):  # type: ignore[no-untyped-def]
    """Move a unit with its nodes and memory; loads are not kept."""
    state_.shift(space, state, g, k)
    for a in range(space.unit_ptr[g], space.unit_ptr[g + 1]):
        device[space.unit_node[a]] = k
