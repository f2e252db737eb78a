"""Local search on `latency` answers, so that exact methods start with narrow windows.

Simulated annealing over a mapping of colocation groups and one topological sequence, in whose
order every device runs its nodes. A move takes a group, a connected cluster of groups or two groups
elsewhere, or slides a node in the sequence; half the rounds start half of them from a critical
path. Under ``contention: ports`` transfers are served as they come.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numba import njit

from problems import latency, ports
from problems.answer import Answer
from problems.instance import Instance
from solvers.formulations._contract import memory_by_group
from solvers.improve_moves import back, by_start, critical, fits, gather, served, slide, timed

HOT, COLD = 3e-3, 1e-5
"""First and last temperature of a round, parts of the best makespan."""
MOVES = 100
"""Moves a node of the first round; each round has twice as many as the one before."""
ROUNDS = 7
IDLE = 2
"""Rounds, and rounds in a row that bring nothing, after which it ends."""
STEPS = 2_000_000_000
"""Steps (a node or an edge looked at) in all, without a clock: some seconds."""
SLOWER = 20
"""How much longer a step takes under ports, roughly."""
FOCUS = (0.5, 0.0)
"""Share of moves that start from a critical path, round by round in turns."""
FRESH = 16
"""Moves between two looks for a critical path."""
PIECE = 2_000_000
"""Steps between two looks at the clock: a few hundredths of a second."""


def improve(
    instance: Instance,
    answer: Answer,
    *,
    seconds: float = math.inf,
    steps: int | None = None,
    seed: int = 0,
) -> Answer:
    """A better answer, or the same one with all its orders.

    The clock only cuts the search: its course depends on the seed alone.

    Parameters
    ----------
    answer : Answer
        A valid answer.
    seconds, steps : float, int
        When to stop at the latest; without either, after :data:`STEPS`.
    """
    deadline = time.monotonic() + seconds
    if steps is None:
        steps = STEPS if math.isinf(seconds) else 2**62
    answer = latency.complete(instance, answer)
    sequence = latency.sequence_of(instance, answer)
    assert sequence is not None
    device = answer.device.copy()
    parts = _parts(instance)
    rng = np.random.default_rng(seed)
    tail = _tails(parts[0], instance.succ_ptr, instance.succ)
    links = latency.communication(instance)
    ports_ = (
        ports.has_ports(instance), instance.staged, instance.port, instance.wire, instance.host
    )  # fmt: skip
    first = value = latency.makespan(instance, latency.answer_of(instance, device, sequence))
    size = (instance.n + instance.m) * (SLOWER if ports_[0] else 1)
    piece, left = max(1, PIECE // size), steps // size
    idle = 0
    for turn in range(ROUNDS):
        before = value
        walk = device.copy(), sequence.copy()
        moves, at = min(MOVES * instance.n * 2**turn, left), 0
        left -= moves
        while value > 0 and at < moves and time.monotonic() < deadline:
            count = min(piece, moves - at)
            heat = [HOT * (COLD / HOT) ** (i / moves) * value for i in (at, at + count)]
            value = _anneal(
                *walk, device, sequence, value, *heat, count, rng.integers(2**31),
                FOCUS[turn % len(FOCUS)], *parts,
                instance.pred_ptr, instance.pred, instance.succ_ptr, instance.succ,
                instance.unlimited, instance.memory, instance.link_time, links, instance.group,
                tail, ports_,
            )  # fmt: skip
            at += count
        idle = 0 if value < before else idle + 1
        if idle == IDLE:
            break
    if value >= min(first, latency.makespan(instance, answer)):
        return answer
    return latency.answer_of(instance, device, sequence)


def _parts(instance: Instance) -> tuple[np.ndarray, ...]:
    """Times, members of groups, where groups can be, their bytes, and who reads which weight."""
    group = instance.group
    G = int(group.max()) + 1
    members = np.argsort(group, kind="stable")
    ptr = np.searchsorted(group[members], np.arange(G + 1))
    possible = np.ones((G, instance.K), bool)
    np.logical_and.at(possible, group, np.isfinite(instance.time))
    size, shared, weight, reader = memory_by_group(instance)
    order = np.argsort(reader, kind="stable")
    weight_ptr = np.searchsorted(reader[order], np.arange(G + 1))
    return (
        np.array(instance.time), ptr.astype(np.int64), members.astype(np.int64), possible, size,
        shared, weight_ptr.astype(np.int64), weight[order].astype(np.int64),
    )  # fmt: skip


@njit(cache=True)
def _tails(times, succ_ptr, succ):  # type: ignore[no-untyped-def]
    """Least seconds from the finish of every node to the end."""
    n = times.shape[0]
    tail = np.zeros(n)
    for u in range(n - 1, -1, -1):
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            tail[u] = max(tail[u], times[succ[i]].min() + tail[succ[i]])
    return tail


@njit(cache=True)
def _anneal(  # type: ignore[no-untyped-def]
    device, sequence, best_device, best_sequence, best, hot, cold, moves, seed, focus,
    times, member_ptr, member, possible, size, shared, weight_ptr, weight,
    pred_ptr, pred, succ_ptr, succ, unlimited, memory, link_time, links, group, tail, ports_,
):  # fmt: skip
    """Try moves on `device` and `sequence`; what is better is copied. Returns the best makespan."""
    np.random.seed(seed)
    n, K = times.shape
    place = np.empty(n, np.int64)
    for i in range(n):
        place[sequence[i]] = i
    use, readers = np.zeros(K), np.zeros((len(shared), K), np.int64)
    for g in range(len(size)):
        k = device[member[member_ptr[g]]]
        use[k] += size[g]
        for i in range(weight_ptr[g], weight_ptr[g + 1]):
            if readers[weight[i], k] == 0:
                use[k] += shared[weight[i]]
            readers[weight[i], k] += 1
    start, old = np.zeros(n), np.zeros(n)
    seen = np.full(len(size), -1)
    taken, left = np.empty(len(size), np.int64), np.empty(len(size), np.int64)
    path, on_path, stale = np.empty(n, np.int64), 0, True
    now, end = timed(
        device, sequence, 0, np.inf, start, old, times, pred_ptr, pred, unlimited, link_time,
        links, tail,
    )  # fmt: skip
    by_start(sequence, place, start)
    if ports_[0]:
        now = served(
            device, sequence, times, pred_ptr, succ_ptr, succ, unlimited, link_time, ports_
        )
    levels = 1 + int(np.log2(n))
    for move in range(moves):
        heat = hot + (cold - hot) * move / moves
        if stale and move % FRESH == 0:
            on_path = critical(
                device, sequence, place, start, path, times, pred_ptr, pred, unlimited, link_time,
                links,
            )  # fmt: skip
            stale = False
        if on_path > 0 and np.random.random() < focus:
            v = path[np.random.randint(on_path)]
        else:
            v = np.random.randint(n)
        k = device[v]
        kind = np.random.random()
        count, first = 0, n
        fit = True
        before = at = place[v]
        if K > 1 and kind < 0.7:  # to another device: as often a neighbour's as any
            to = np.random.randint(K)
            near = pred_ptr[v + 1] - pred_ptr[v] + succ_ptr[v + 1] - succ_ptr[v]
            if near > 0 and np.random.random() < 0.5:
                i = np.random.randint(near)
                ins = pred_ptr[v + 1] - pred_ptr[v]
                other = pred[pred_ptr[v] + i] if i < ins else succ[succ_ptr[v] + i - ins]
                to = device[other]
            if to != k:
                if kind < 0.35:
                    count = 1
                    taken[0] = group[v]
                elif kind < 0.65:
                    most = min(2 << np.random.randint(levels), len(size))
                    count = gather(
                        v, most, device, group, seen, move, taken, pred_ptr, pred, succ_ptr, succ
                    )
                else:  # v and a node of another device change places
                    w = sequence[min(n - 1, max(0, before + np.random.randint(-16, 17)))]
                    if device[w] != k:
                        to = device[w]
                        count = 2
                        taken[0], taken[1] = group[v], group[w]
                kept = 0
                for j in range(count):
                    g = taken[j]
                    source = device[member[member_ptr[g]]]
                    target = k if source != k else to
                    if not possible[g, target]:
                        continue
                    fit = fits(
                        g, source, target, use, readers, memory, size, shared, weight_ptr, weight
                    )
                    if not fit and kept > 0 and kind < 0.65:  # a cluster as large as fits
                        fits(
                            g, target, source, use, readers, memory, size, shared, weight_ptr,
                            weight,
                        )  # fmt: skip
                        break
                    taken[kept], left[kept] = g, source
                    kept += 1
                    for i in range(member_ptr[g], member_ptr[g + 1]):
                        device[member[i]] = target
                        first = min(first, place[member[i]])
                count = kept
                fit = use[to] <= memory[to] and use[k] <= memory[k]
        if kind >= 0.7 or kind < 0.2:  # elsewhere in the sequence
            low, high = -1, n
            for i in range(pred_ptr[v], pred_ptr[v + 1]):
                low = max(low, place[pred[i]])
            for i in range(succ_ptr[v], succ_ptr[v + 1]):
                high = min(high, place[succ[i]])
            reach = 2 << np.random.randint(levels)
            low, high = max(low + 1, at - reach), min(high - 1, at + reach)
            at = low + np.random.randint(high - low + 1)
        if count == 0 and at == before:
            continue
        if fit:
            if at != before:
                first = min(first, min(at, before))
                slide(sequence, place, before, at)
            limit = now - heat * np.log(1.0 - np.random.random())
            value, end = timed(
                device, sequence, first, limit * (1 + 1e-12), start, old, times, pred_ptr, pred,
                unlimited, link_time, links, tail,
            )  # fmt: skip
            if ports_[0] and value < np.inf:  # without ports it is no more than with them
                value = served(
                    device, sequence, times, pred_ptr, succ_ptr, succ, unlimited, link_time, ports_
                )
            if value <= limit * (1 + 1e-12):
                now, stale = value, True
                if now < best * (1 - 1e-9):
                    best = now
                    best_device[:] = device
                    best_sequence[:] = sequence
                continue
            back(sequence, first, end, start, old)
            if at != before:
                slide(sequence, place, at, before)
        for j in range(count):
            g = taken[j]
            fits(
                g, device[member[member_ptr[g]]], left[j], use, readers, memory, size, shared,
                weight_ptr, weight,
            )  # fmt: skip
            for i in range(member_ptr[g], member_ptr[g + 1]):
                device[member[i]] = left[j]
    return best
