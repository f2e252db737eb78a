"""A walk over `latency` schedules: a mapping of colocation groups and one topological sequence.

Every device runs its nodes as they follow in the sequence. A move takes groups to other devices or
slides a node along the sequence, or both (:mod:`solvers.improve_moves`); it is timed by what it
changes (:mod:`solvers.improve_times`). Under ``contention: ports`` the sequence decides the order
of transfers as well (:mod:`solvers.improve_ports`), and is timed as a whole.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from problems import latency, ports
from problems.answer import Answer
from problems.instance import Instance
from solvers import improve_ports as ports_
from solvers import improve_times as times_
from solvers import rng as rng_
from solvers.improve_moves import propose, shift, slide
from solvers.improve_state import Walk
from solvers.improve_times import INNER


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
                shift(
                    walk.use, walk.readers, ground.memory, ground.size, ground.shared,
                    ground.weight_ptr, ground.weight, g, walk.old_device[j], k,
                )  # fmt: skip
        elif value[0] < value[1] * (1 - 1e-9):
            value[1] = value[0]
            for u in range(n):
                walk.best_device[u] = walk.device[u]
                walk.best_sequence[u] = walk.sequence[u]


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
        ground.unit_ptr, ground.unit_node, walk.touched, walk.old_device
    )  # fmt: skip
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
        walk.counter[0] += 1
        value = ports_.served(
            ground.time, ground.way, pred_ptr, pred, unlimited, ground.floor, ground.staged,
            ground.port, ground.wire, ground.host, device, sequence, limit, walk.fresh,
            walk.arrive, walk.stamp, walk.counter[0], walk.seen[:0],
        )  # fmt: skip
        if value <= limit:
            walk.value[0] = value
            for u in sequence:
                walk.start[u] = walk.fresh[u]
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
        value, logged = times_.forward(
            ground.time, ground.way, ground.links, pred_ptr, pred, succ_ptr, succ, unlimited,
            ground.floor, ground.sinks, device, sequence, place, walk.start, walk.tail, before,
            after, ends, dirty, blocks, walk.changed, walk.old_start, pending, low, last, limit,
        )  # fmt: skip
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
            times_.backward(
                ground.time, ground.way, ground.links, pred_ptr, pred, succ_ptr, succ, device,
                sequence, place, walk.tail, before, after, dirty, blocks, pending, high,
            )  # fmt: skip
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
