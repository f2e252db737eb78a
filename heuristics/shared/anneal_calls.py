"""Annealing moves for `calls`, compiled; every answer is evaluated as a whole.

One colocation group to another device and call, two nodes exchanged, a node with all that follows
(precedes) it in its call, a run of nodes, a whole call, and an empty call put in or taken out of an
accelerator's sequence. Calls that would wait for each other in a circle cost infinitely much;
memory may be exceeded at a price on the way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from problems import calls
from problems.answer import Answer
from problems.instance import Instance
from solvers import rng as rng_
from solvers.start_calls import SLOTS, makespan, overflow

# Empty calls an accelerator beside those of the answer that the room is made for.
SPARE = 3
# Price of memory exceeded by a whole device, in units of the value at the start.
PRICE = 10.0
# Temperatures against those of the other problems: a node moved changes two calls, and the
# transfers of both.
HEAT = 100.0


class Calls(NamedTuple):
    """Arrays of one instance as the evaluation takes them.

    Attributes
    ----------
    q : int
        Slots of an accelerator in the walk.
    number : int64 array, shape (K,)
        Number of an accelerator among the accelerators.
    group_ptr, group_node : int64 arrays
        Nodes of every colocation group.
    """

    q: int
    number: np.ndarray
    group_ptr: np.ndarray
    group_node: np.ndarray
    group: np.ndarray
    time: np.ndarray
    succ_ptr: np.ndarray
    succ: np.ndarray
    pred_ptr: np.ndarray
    pred: np.ndarray
    host: np.ndarray
    link_time: np.ndarray
    port: np.ndarray
    node_bytes: np.ndarray
    shared_ptr: np.ndarray
    shared_node: np.ndarray
    shared_bytes: np.ndarray
    memory: np.ndarray


class Search(NamedTuple):
    """The state of one annealing run; a kernel call goes on where the last one left.

    Attributes
    ----------
    stream : uint64 array, shape (1,)
    device, slot : int64 arrays, shape (n,)
        The answer at hand; slot -1 on hosts.
    old_device, old_slot, best_device, best_slot : int64 arrays, shape (n,)
        The one before the move at hand, and the best valid one.
    energy : float64 array, shape (3,)
        Energy at hand, value of the best one, and the price of memory, in seconds.
    mark : int64 array, shape (n + 1,)
        Scratch; the last entry counts.
    """

    stream: np.ndarray
    device: np.ndarray
    slot: np.ndarray
    old_device: np.ndarray
    old_slot: np.ndarray
    best_device: np.ndarray
    best_slot: np.ndarray
    energy: np.ndarray
    mark: np.ndarray


def arrays(instance: Instance, answer: Answer | None = None) -> Calls:
    """What the walk reads of an instance, with room for all calls of an answer."""
    slots = SLOTS
    if answer is not None:
        known = calls.compact(instance, answer).slot
        assert known is not None
        slots = max(slots, int(known.max(initial=-1)) + SPARE)
    order = np.argsort(instance.group, kind="stable")
    ptr = np.searchsorted(instance.group[order], np.arange(int(instance.group.max()) + 2))
    return Calls(
        min(calls.most_slots(instance), slots),
        np.cumsum(~instance.host) - 1,
        ptr,
        order,
        **{name: getattr(instance, name) for name in Calls._fields[4:]},
    )


def search(space: Calls, stream: np.ndarray) -> Search:
    """A run without an answer; :func:`restart` gives it one."""
    n = len(space.group)
    a, b, c, d, e, f = (np.zeros(n, np.int64) for _ in range(6))
    return Search(stream, a, b, c, d, e, f, np.full(3, np.inf), np.zeros(n + 1, np.int64))


def restart(instance: Instance, space: Calls, run: Search, answer: Answer) -> bool:
    """Go on from a valid answer; False where it makes more calls than the walk has room for."""
    whole = calls.compact(instance, answer)
    assert whole.slot is not None
    if whole.slot.max(initial=-1) >= space.q:
        return False
    # Copies: arrays that may or may not be written to are two types to the compiler.
    _restart(space, run, np.array(whole.device), np.array(whole.slot))
    return True


@njit(cache=True)
def _restart(space, run, device, slot):  # type: ignore[no-untyped-def]
    run.device[:], run.slot[:] = device, slot
    now = _value(space, run)
    run.energy[2] = PRICE * now
    run.energy[0] = now + run.energy[2] * _overflow(space, run)
    if now < run.energy[1] and run.energy[0] == now:
        run.energy[1] = now
        run.best_device[:], run.best_slot[:] = device, slot


@njit(cache=True)
def _value(space, run):  # type: ignore[no-untyped-def]
    return makespan(
        run.device, run.slot, space.q, space.number, space.time, space.succ_ptr, space.succ,
        space.pred_ptr, space.pred, space.host, space.link_time, space.port,
    )  # fmt: skip


@njit(cache=True)
def _overflow(space, run):  # type: ignore[no-untyped-def]
    return overflow(
        run.device, space.node_bytes, space.shared_ptr, space.shared_node, space.shared_bytes,
        space.memory,
    )  # fmt: skip


@njit(cache=True)
def anneal(space, run, first, moves, hot, cooling, step):  # type: ignore[no-untyped-def]
    """Try moves first..first+moves-1 of a round; the temperature is hot * cooling**(move // step).

    The clock is not looked at: the caller cuts a round into calls, which changes nothing else.
    """
    stream, energy = run.stream, run.energy
    for i in range(first, first + moves):
        heat = max(hot * cooling ** (i // step), 1e-300)
        run.old_device[:], run.old_slot[:] = run.device, run.slot
        if not _propose(space, run):
            run.device[:], run.slot[:] = run.old_device, run.old_slot
            continue
        # What a move may cost at most, drawn before it is known: a dear one is not evaluated.
        limit = energy[0] - heat * np.log(rng_.uniform(stream) + 1e-300)
        over = _overflow(space, run)
        after = energy[2] * over
        now = np.inf
        if after <= limit:
            now = _value(space, run)
            after += now
        if not after <= limit:
            run.device[:], run.slot[:] = run.old_device, run.old_slot
            continue
        energy[0] = after
        if over == 0.0 and now < energy[1] * (1 - 1e-9):
            energy[1] = now
            run.best_device[:], run.best_slot[:] = run.device, run.slot


@njit(cache=True)
def _propose(space, run):  # type: ignore[no-untyped-def]
    """Change device and slot by one random move; False where it is none."""
    stream, device, slot, host = run.stream, run.device, run.slot, space.host
    n = len(slot)
    v = rng_.below(stream, n)
    k, s = device[v], slot[v]
    kind = rng_.uniform(stream)
    if kind < 0.04:
        if host[k]:
            return False
        if rng_.uniform(stream) < 0.5:
            return _renumber(space, run, k, s)
        return _exchange(run, k, s, rng_.below(stream, space.q))
    to, into = _target(space, run, v)
    if kind < 0.12:  # all of a call
        if host[k]:
            return False
        for u in range(n):
            if (
                run.old_device[u] == k
                and run.old_slot[u] == s
                and not _put(space, run, u, to, into)
            ):
                return False
        return to != k or into != s
    if to == k and into == s:
        return False
    if kind < 0.5:
        return _put(space, run, v, to, into)
    if kind < 0.65:  # one of the other call comes back
        w = rng_.below(stream, n)
        to, into = device[w], slot[w]
        if to == k and into == s:
            return False
        return _put(space, run, v, to, into) and _put(space, run, w, k, s)
    if kind < 0.85:
        return _closure(space, run, v, to, into, rng_.uniform(stream) < 0.5)
    length = 2 << rng_.below(stream, 1 + int(np.log2(n)) // 2)
    return _run_of(space, run, v, min(v + length, n), k, s, to, into)


@njit(cache=True)
def _run_of(space, run, first, end, k, s, to, into):  # type: ignore[no-untyped-def]
    """The nodes first..end-1 of one call to another."""
    old_device, old_slot = run.old_device, run.old_slot
    for u in range(first, end):
        if old_device[u] == k and old_slot[u] == s and not _put(space, run, u, to, into):
            return False
    return True


@njit(cache=True)
def _target(space, run, v):  # type: ignore[no-untyped-def]
    """Device and slot for node v: mostly those of a neighbour."""
    stream, first, last = run.stream, space.pred_ptr[v], space.pred_ptr[v + 1]
    outs = space.succ_ptr[v + 1] - space.succ_ptr[v]
    if last - first + outs > 0 and rng_.uniform(stream) < 0.7:
        i = rng_.below(stream, last - first + outs)
        u = space.succ[space.succ_ptr[v] + i - (last - first)]
        if i < last - first:
            u = space.pred[first + i]
        return run.device[u], run.slot[u]
    to = rng_.below(stream, space.time.shape[1])
    into = rng_.below(stream, space.q)
    return to, -1 if space.host[to] else into


@njit(cache=True)
def _put(space, run, v, to, into):  # type: ignore[no-untyped-def]
    """Node v to a call, its group to the device; False where it is not supported there."""
    if run.device[v] != to:
        g = space.group[v]
        for i in range(space.group_ptr[g], space.group_ptr[g + 1]):
            u = space.group_node[i]
            if space.time[u, to] == np.inf:
                return False
            run.device[u], run.slot[u] = to, into
    run.slot[v] = into
    return True


@njit(cache=True)
def _closure(space, run, v, to, into, forward):  # type: ignore[no-untyped-def]
    """Node v and all that follows (precedes) it in its call to another: both stay convex."""
    k, s, n = run.device[v], run.slot[v], len(run.slot)
    mark = run.mark
    mark[n] += 1
    mark[v] = mark[n]
    cap = 1 << rng_.below(run.stream, 2 + int(np.log2(n)))
    ptr, other = (space.succ_ptr, space.succ) if forward else (space.pred_ptr, space.pred)
    for j in range(n):  # nodes are numbered topologically
        u = v + j if forward else v - j
        if u < 0 or u >= n:
            break
        if mark[u] != mark[n]:
            continue
        cap -= 1
        if cap < 0 or not _put(space, run, u, to, into):
            return False
        for i in range(ptr[u], ptr[u + 1]):
            w = other[i]
            if run.old_device[w] == k and run.old_slot[w] == s:
                mark[w] = mark[n]
    return True


@njit(cache=True)
def _renumber(space, run, k, s):  # type: ignore[no-untyped-def]
    """Put an empty call before or after call s of accelerator k, in the place of one without."""
    q, n = space.q, len(run.slot)
    used = np.zeros(q, np.bool_)
    for u in range(n):
        if run.device[u] == k:
            used[run.slot[u]] = True
    free = rng_.below(run.stream, q)
    for _ in range(q):
        if not used[free]:
            break
        free = (free + 1) % q
    at = s + rng_.below(run.stream, 2)
    if used[free] or free == at or free + 1 == at:
        return False
    for u in range(n):
        if run.device[u] != k:
            continue
        if at <= run.slot[u] < free:
            run.slot[u] += 1
        elif free < run.slot[u] < at:
            run.slot[u] -= 1
    return True


@njit(cache=True)
def _exchange(run, k, s, t):  # type: ignore[no-untyped-def]
    """Exchange two calls of accelerator k in its sequence."""
    for u in range(len(run.slot)):
        if run.device[u] == k and run.slot[u] == s:
            run.slot[u] = t
        elif run.device[u] == k and run.slot[u] == t:
            run.slot[u] = s
    return s != t
