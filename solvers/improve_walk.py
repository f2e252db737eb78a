"""A walk over `latency` schedules: a mapping of colocation groups and one topological sequence.

Every device runs its nodes as they follow in the sequence. A move takes groups to other devices or
slides a node along the sequence, or both (:mod:`solvers.improve_moves`); it is timed by what it
changes (:mod:`solvers.improve_times`). Under ``contention: ports`` the sequence decides the order
of transfers as well (:mod:`solvers.improve_ports`), and is timed as a whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from problems import latency, ports
from problems.answer import Answer
from problems.instance import Instance
from solvers import improve_ports as ports_
from solvers import improve_times as times_
from solvers import rng as rng_
from solvers.formulations._contract import memory_by_group
from solvers.improve_moves import propose, put, slide
from solvers.improve_times import INNER


class Ground(NamedTuple):
    """Arrays of one instance (n nodes, K devices, U units); not written to.

    Attributes
    ----------
    way : float64 array, shape (n, L)
        Seconds that each node's payload takes on every link.
    links : int64 array, shape (K, K, 2)
        See :func:`problems.latency.communication`.
    floor : float64 array, shape (n,)
        Least seconds from the finish of a node to the end, wherever nodes are.
    unit, unit_ptr, unit_node : int64 arrays
        Colocation group of every node; nodes of every group.
    possible : bool array, shape (U, K)
        Whether a device supports all of a group.
    size, shared : float64 arrays, shapes (U,), (T,)
        Bytes of every group, and of weights that several read.
    weight_ptr, weight : int64 arrays
        Which of those a group reads.
    """

    time: np.ndarray
    way: np.ndarray
    links: np.ndarray
    pred_ptr: np.ndarray
    pred: np.ndarray
    succ_ptr: np.ndarray
    succ: np.ndarray
    sinks: np.ndarray
    floor: np.ndarray
    unlimited: np.ndarray
    memory: np.ndarray
    unit: np.ndarray
    unit_ptr: np.ndarray
    unit_node: np.ndarray
    possible: np.ndarray
    size: np.ndarray
    shared: np.ndarray
    weight_ptr: np.ndarray
    weight: np.ndarray
    contended: bool
    staged: bool
    port: np.ndarray
    wire: np.ndarray
    host: np.ndarray


class Walk(NamedTuple):
    """Where a walk stands; a call goes on where the last one left.

    Attributes
    ----------
    stream : uint64 array, shape (1,)
    value : float64 array, shape (2,)
        Makespan of the walk and of the best answer, seconds.
    device, sequence, place : int64 arrays, shape (n,)
        Device of every node; all nodes in order; where each stands in it.
    start, tail : float64 arrays, shape (n,)
        Seconds to the start, and from the finish to the end; no tails under ports.
    before, after : int64 arrays, shape (n,)
        Neighbours on the device; -1 without one, and on unlimited devices.
    ends, number : int64 arrays, shapes (K, 2), (K,)
        First and last node of every device, and how many there are.
    use, readers : float64 array, shape (K,); int64 array, shape (T, K)
        Bytes held; groups that read each shared weight.
    best_device, best_sequence : int64 arrays, shape (n,)
    dirty, blocks, changed, old_start
        What is to be timed, and what a refused move brings back.
    touched, old_device : int64 arrays, shape (U,)
        Groups that the move at hand took elsewhere, and from where.
    moved, old_before, old_after : int64 arrays, shape (n + 1,)
        Nodes that it linked anew, and their neighbours before.
    seen, reached : int64 arrays
        Room for clusters.
    fresh, arrive, stamp, counter
        Room for times under ports; `counter` counts moves.
    """

    stream: np.ndarray
    value: np.ndarray
    device: np.ndarray
    sequence: np.ndarray
    place: np.ndarray
    start: np.ndarray
    tail: np.ndarray
    before: np.ndarray
    after: np.ndarray
    ends: np.ndarray
    number: np.ndarray
    use: np.ndarray
    readers: np.ndarray
    best_device: np.ndarray
    best_sequence: np.ndarray
    dirty: np.ndarray
    blocks: np.ndarray
    changed: np.ndarray
    old_start: np.ndarray
    touched: np.ndarray
    old_device: np.ndarray
    moved: np.ndarray
    old_before: np.ndarray
    old_after: np.ndarray
    seen: np.ndarray
    reached: np.ndarray
    fresh: np.ndarray
    arrive: np.ndarray
    stamp: np.ndarray
    counter: np.ndarray


def ground_of(instance: Instance) -> Ground:
    """The arrays that a walk reads."""
    unit = instance.group
    U = int(unit.max()) + 1
    size, shared, weight, reader = memory_by_group(instance)
    order = np.lexsort((weight, reader))
    possible = np.ones((U, instance.K), bool)
    np.logical_and.at(possible, unit, np.isfinite(instance.time))
    # Copies: the instance's arrays are read-only, which is another type to the compiler.
    own = {name: np.array(getattr(instance, name), order="C") for name in TAKEN}
    node = np.argsort(unit, kind="stable").astype(np.int64)
    return Ground(
        **own,
        way=np.array(instance.link_time.T, order="C"),
        links=latency.communication(instance),
        sinks=np.flatnonzero(np.diff(instance.succ_ptr) == 0),
        floor=times_.floors(own["time"], own["succ_ptr"], own["succ"]),
        unit=unit.astype(np.int64),
        unit_ptr=np.searchsorted(unit[node], np.arange(U + 1)).astype(np.int64),
        unit_node=node,
        possible=possible,
        size=size.astype(float),
        shared=shared.astype(float),
        weight_ptr=np.searchsorted(reader[order], np.arange(U + 1)).astype(np.int64),
        weight=weight[order].astype(np.int64),
        contended=ports.has_ports(instance),
        staged=bool(instance.staged),
    )


TAKEN = (
    "time", "pred_ptr", "pred", "succ_ptr", "succ", "unlimited", "memory", "port", "wire", "host",
)  # fmt: skip
"""Fields of :class:`Ground` that are called as in the instance."""


def walk_of(ground: Ground, stream: np.ndarray) -> Walk:
    """A walk that stands nowhere; :func:`restart` gives it an answer.

    Parameters
    ----------
    stream : uint64 array, shape (1,)
        See :func:`solvers.rng.seeded`.
    """
    (n, K), U = ground.time.shape, len(ground.size)
    whole = [np.zeros(n + 1, np.int64) for _ in range(3)]
    number = [np.zeros(n, np.int64) for _ in range(8)]
    real = [np.zeros(n) for _ in range(4)]
    pairs = (n, K) if ground.contended else (0, 0)
    return Walk(
        stream=stream,
        value=np.full(2, np.inf),
        device=number[0], sequence=number[1], place=number[2],
        start=real[0], tail=real[1], before=number[3], after=number[4],
        ends=np.full((K, 2), -1), number=np.zeros(K, np.int64),
        use=np.zeros(K), readers=np.zeros((len(ground.shared), K), np.int64),
        best_device=number[5], best_sequence=number[6],
        dirty=np.zeros(n, np.bool_), blocks=np.zeros((n >> times_.SHIFT) + 2, np.int64),
        changed=number[7], old_start=real[2],
        touched=np.zeros(U, np.int64), old_device=np.zeros(U, np.int64),
        moved=whole[0], old_before=whole[1], old_after=whole[2],
        seen=np.full(U, -1), reached=np.zeros(n, np.int64),
        fresh=real[3], arrive=np.zeros(pairs), stamp=np.zeros(pairs, np.int64),
        counter=np.zeros(2, np.int64),
    )  # fmt: skip


@njit(cache=True)
def restart(ground, walk, device, sequence):  # type: ignore[no-untyped-def]
    """Go on from a valid mapping and topological sequence, both of shape (n,)."""
    walk.use[:] = 0
    walk.readers[:] = 0
    walk.device[:] = device
    walk.sequence[:] = sequence
    walk.ends[:] = -1
    walk.number[:] = 0
    walk.before[:] = -1
    walk.after[:] = -1
    n = len(device)
    for g in range(len(ground.size)):
        put(ground, walk, g, -1, device[ground.unit_node[ground.unit_ptr[g]]])
    for i in range(n):
        v = sequence[i]
        walk.place[v] = i
        k = device[v]
        if not ground.unlimited[k]:
            times_.link(v, k, walk.ends[k, 1], walk.before, walk.after, walk.ends, walk.number)
    if ground.contended:
        walk.value[0] = _served(ground, walk, np.inf)
        walk.start[:] = walk.fresh
    else:
        walk.value[0] = times_.afresh(
            walk.device, walk.sequence, ground.time, ground.way, ground.links, ground.pred_ptr,
            ground.pred, ground.succ_ptr, ground.succ, ground.unlimited, walk.start, walk.tail,
        )  # fmt: skip
        times_.by_start(walk.sequence, walk.place, walk.start)
    _keep(walk)


@njit(**INNER)
def _served(ground, walk, limit):  # type: ignore[no-untyped-def]
    walk.counter[0] += 1
    return ports_.served(
        ground.time, ground.way, ground.pred_ptr, ground.pred, ground.unlimited, ground.floor,
        ground.staged, ground.port, ground.wire, ground.host, walk.device, walk.sequence, limit,
        walk.fresh, walk.arrive, walk.stamp, walk.counter[0], walk.seen[:0],
    )  # fmt: skip


@njit(**INNER)
def _keep(walk):  # type: ignore[no-untyped-def]
    if walk.value[0] < walk.value[1] * (1 - 1e-9) or walk.value[1] == np.inf:
        walk.value[1] = walk.value[0]
        walk.best_device[:] = walk.device
        walk.best_sequence[:] = walk.sequence


@njit(cache=True)
def anneal(ground, walk, first, moves, hot, cooling, step, focus):  # type: ignore[no-untyped-def]
    """Try moves first..first+moves-1 of a round; the temperature is hot * cooling**(move // step).

    The clock is not looked at: the caller cuts a round into calls, which changes nothing else.
    `focus` is the share of moves that start from a critical node.
    """
    stream, value = walk.stream, walk.value
    n = len(walk.device)
    heat = hot * cooling ** (first // step)
    for i in range(first, first + moves):
        if i % step == 0:
            heat = hot * cooling ** (i // step)
        walk.counter[1] += 1
        if (
            walk.counter[1] >= n and not ground.contended
        ):  # where a node stands among those of other devices matters again
            walk.counter[1] = 0
            times_.by_start(walk.sequence, walk.place, walk.start)
        count, v, at, fits = propose(ground, walk, focus)
        if count == 0 and v < 0:
            continue
        limit = value[0] - heat * np.log(1.0 - rng_.uniform(stream))
        # Rounding aside: a move that leaves all times alone is taken.
        if not (fits and _try(ground, walk, count, v, at, limit * (1 + 1e-12))):
            for j in range(count):
                g = walk.touched[j]
                k = walk.device[ground.unit_node[ground.unit_ptr[g]]]
                put(ground, walk, g, walk.old_device[j], k)
        elif value[0] < value[1]:
            _keep(walk)


@njit(**INNER)
def _try(ground, walk, count, v, at, limit):  # type: ignore[no-untyped-def]
    """Carry a move out if the makespan stays within `limit`; memory is the caller's.

    Its first `count` groups in `walk.touched` go to where ``walk.old_device`` says, and that then
    holds where they were; node v, unless -1, slides to place `at`. A refusal leaves all as it was.
    """
    device, sequence, place = walk.device, walk.sequence, walk.place
    before, after, ends, number = walk.before, walk.after, walk.ends, walk.number
    dirty, blocks, unlimited = walk.dirty, walk.blocks, ground.unlimited
    unit_ptr, unit_node, touched, old = (
        ground.unit_ptr,
        ground.unit_node,
        walk.touched,
        walk.old_device,
    )
    moved, old_before, old_after = walk.moved, walk.old_before, walk.old_after
    succ_ptr, succ, pred_ptr, pred = ground.succ_ptr, ground.succ, ground.pred_ptr, ground.pred
    was, links, slid, contended = -1, 0, 0, ground.contended
    first, last, pending = len(sequence), -1, 0
    if v >= 0:
        was = place[v]
        slide(sequence, place, was, at)
        first, last = min(was, at), max(was, at)
        k = device[v]
        if not unlimited[k] and not contended:
            # Between the same neighbours still: nothing changes.
            a, b = before[v], after[v]
            if (a >= 0 and place[a] > at) or (b >= 0 and place[b] < at):
                moved[0], old_before[0], old_after[0] = v, a, b
                links = slid = 1
                times_.unlink(v, k, before, after, ends, number)
                c = times_.last_before(v, k, device, sequence, place, before, ends, number)
                times_.link(v, k, c, before, after, ends, number)
    for j in range(count):
        g = touched[j]
        k, to = device[unit_node[unit_ptr[g]]], old[j]
        old[j] = k
        for i in range(unit_ptr[g], unit_ptr[g + 1]):
            u = unit_node[i]
            first, last = min(first, place[u]), max(last, place[u])
            if contended:
                device[u] = to
                continue
            moved[links], old_before[links], old_after[links] = u, before[u], after[u]
            links += 1
            if not unlimited[k]:
                times_.unlink(u, k, before, after, ends, number)
            device[u] = to
            before[u] = after[u] = -1
            if not unlimited[to]:
                c = times_.last_before(u, to, device, sequence, place, before, ends, number)
                times_.link(u, to, c, before, after, ends, number)
    if contended:
        value = _served(ground, walk, limit)
        if value <= limit:
            walk.value[0] = value
            walk.start[:] = walk.fresh
            return True
        for j in range(count):
            g, k = touched[j], old[j]
            old[j] = device[unit_node[unit_ptr[g]]]
            for i in range(unit_ptr[g], unit_ptr[g + 1]):
                device[unit_node[i]] = k
    else:
        if links == 0:  # the sequence only
            return True
        low = len(sequence)
        for j in range(links):
            u = moved[j]
            low = min(low, place[u])
            pending += times_.mark(place[u], dirty, blocks)
            if after[u] >= 0:
                pending += times_.mark(place[after[u]], dirty, blocks)
            if old_after[j] >= 0:
                low = min(low, place[old_after[j]])
                pending += times_.mark(place[old_after[j]], dirty, blocks)
            if j >= slid:  # on another device: what reads u gets it at another time
                for i in range(succ_ptr[u], succ_ptr[u + 1]):
                    pending += times_.mark(place[succ[i]], dirty, blocks)
        value, logged = times_.forward(ground, walk, pending, low, last, limit)
        if value <= limit:
            walk.value[0] = value
            pending, high = 0, 0
            for j in range(links):
                u = moved[j]
                for w in (u, before[u], old_before[j]):
                    if w >= 0:
                        high = max(high, place[w])
                        pending += times_.mark(place[w], dirty, blocks)
                for i in range(pred_ptr[u], pred_ptr[u + 1]):
                    pending += times_.mark(place[pred[i]], dirty, blocks)
            times_.backward(ground, walk, pending, high)
            return True
        for j in range(logged - 1, -1, -1):
            walk.start[walk.changed[j]] = walk.old_start[j]
        j = links - 1
        for c in range(count - 1, -1, -1):
            g, k = touched[c], old[c]
            old[c] = device[unit_node[unit_ptr[g]]]
            for i in range(unit_ptr[g + 1] - 1, unit_ptr[g] - 1, -1):
                u = unit_node[i]
                if not unlimited[device[u]]:
                    times_.unlink(u, device[u], before, after, ends, number)
                device[u] = k
                before[u] = after[u] = -1
                if not unlimited[k]:
                    times_.link(u, k, old_before[j], before, after, ends, number)
                j -= 1
        if slid:
            times_.unlink(v, device[v], before, after, ends, number)
            times_.link(v, device[v], old_before[0], before, after, ends, number)
    if v >= 0:
        slide(sequence, place, at, was)
    return False


def answer_of(instance: Instance, walk: Walk) -> Answer:
    """The best answer of a walk."""
    if ports.has_ports(instance):
        return ports_.answer_of(instance, walk.best_device, walk.best_sequence)
    return latency.answer_of(instance, walk.best_device, walk.best_sequence)
