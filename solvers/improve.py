"""Local search on `latency` answers, so that exact methods start with narrow windows.

Simulated annealing over a mapping of colocation groups and one topological sequence, in whose
order every device runs its nodes; under ``contention: ports`` transfers are served as they come.
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

HOT, COLD = 3e-3, 1e-5
"""First and last temperature of a round, parts of the best makespan."""
MOVES = 100
"""Moves a node of the first round; each round has twice as many as the one before."""
ROUNDS = 7
IDLE = 2
"""Rounds, and rounds in a row that bring nothing, after which it ends."""
STEPS = 2_000_000_000
"""Steps (a node or an edge looked at) in all: some seconds."""
SLOWER = 20
"""How much longer a step takes under ports, roughly."""
PIECE = 2_000_000
"""Steps between two looks at the clock: a few hundredths of a second."""


def improve(
    instance: Instance,
    answer: Answer,
    *,
    seconds: float = math.inf,
    steps: int = STEPS,
    seed: int = 0,
) -> Answer:
    """A better answer, or the same one with all its orders.

    The clock only cuts the search: its course depends on the seed alone.

    Parameters
    ----------
    answer : Answer
        A valid answer.
    seconds, steps : float, int
        When to stop at the latest.
    """
    deadline = time.monotonic() + seconds
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
                *walk, device, sequence, value, *heat, count, rng.integers(2**31), *parts,
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
def _time(  # type: ignore[no-untyped-def]
    device, sequence, first, limit, start, times, pred_ptr, pred, unlimited, link_time, links, tail
):
    """Start the nodes from place `first` on; the makespan, or inf where it exceeds `limit`."""
    n = len(sequence)
    free = np.zeros(times.shape[1])
    latest = 0.0
    for i in range(n):
        v = sequence[i]
        k = device[v]
        if i >= first:
            t = 0.0 if unlimited[k] else free[k]
            for j in range(pred_ptr[v], pred_ptr[v + 1]):
                u = pred[j]
                other = device[u]
                there = start[u] + times[u, other]
                if other != k:
                    there += link_time[links[other, k, 0], u] + link_time[links[other, k, 1], u]
                t = max(t, there)
            start[v] = t
        end = start[v] + times[v, k]
        free[k] = end
        latest = max(latest, end)
        if end + tail[v] > limit:
            return np.inf
    return latest


@njit(cache=True)
def _served(  # type: ignore[no-untyped-def]
    device, sequence, times, pred_ptr, succ_ptr, succ, unlimited, link_time, ports_
):
    """The makespan where ports serve transfers as they come; see :mod:`problems.ports`."""
    _, staged, port, wire, host = ports_
    n, K = times.shape
    ids = ports.transfers_compiled(device, succ_ptr, succ, K)
    ptr = np.zeros(n + 1, np.int64)
    send, receive = np.empty(len(ids)), np.empty(len(ids))
    sender, receiver = np.full(len(ids), -1), np.full(len(ids), -1)
    for j in range(len(ids)):
        u, to = ids[j] // K, ids[j] % K
        k = device[u]
        ptr[u + 1] += 1
        send[j] = link_time[port[k] if staged else wire[k, to], u]
        receive[j] = link_time[port[to] if staged else wire[k, to], u]
        if send[j] > 0 and not host[k]:
            sender[j] = k
        if receive[j] > 0 and not host[to]:
            receiver[j] = to
    ptr = np.cumsum(ptr)
    after, last = np.full(n, -1), np.full(K, -1)
    for v in sequence:
        k = device[v]
        if not unlimited[k]:
            if last[k] >= 0:
                after[last[k]] = v
            last[k] = v
    start = ports.first_come_compiled(
        device, after, times, succ_ptr, succ, pred_ptr, K, staged, ids, ptr, send, receive,
        sender, receiver,
    )[0]  # fmt: skip
    latest = 0.0
    for v in range(n):
        latest = max(latest, start[v] + times[v, device[v]])
    return latest


@njit(cache=True)
def _slide(sequence, place, at, to):  # type: ignore[no-untyped-def]
    v = sequence[at]
    step = 1 if to > at else -1
    for i in range(at, to, step):
        sequence[i] = sequence[i + step]
        place[sequence[i]] = i
    sequence[to] = v
    place[v] = to


@njit(cache=True)
def _fits(g, k, to, use, readers, memory, size, shared, weight_ptr, weight):  # type: ignore[no-untyped-def]
    """Move group g's bytes from device k to another; whether that one holds them."""
    use[k] -= size[g]
    use[to] += size[g]
    for i in range(weight_ptr[g], weight_ptr[g + 1]):
        w = weight[i]
        readers[w, k] -= 1
        if readers[w, k] == 0:
            use[k] -= shared[w]
        if readers[w, to] == 0:
            use[to] += shared[w]
        readers[w, to] += 1
    return use[to] <= memory[to]


@njit(cache=True)
def _anneal(  # type: ignore[no-untyped-def]
    device, sequence, best_device, best_sequence, best, hot, cold, moves, seed,
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
    start = np.zeros(n)
    now = _time(
        device, sequence, 0, np.inf, start, times, pred_ptr, pred, unlimited, link_time, links, tail
    )
    if ports_[0]:
        now = _served(
            device, sequence, times, pred_ptr, succ_ptr, succ, unlimited, link_time, ports_
        )
    reach = max(2, n // 4)
    for move in range(moves):
        heat = hot + (cold - hot) * move / moves
        v = np.random.randint(n)
        g = group[v]
        k = device[v]
        to, at, before, first = k, place[v], place[v], n
        kind = np.random.random()
        if K > 1 and kind < 0.6:  # to another device: as often a neighbour's as any
            to = np.random.randint(K)
            near = pred_ptr[v + 1] - pred_ptr[v] + succ_ptr[v + 1] - succ_ptr[v]
            if near > 0 and np.random.random() < 0.5:
                i = np.random.randint(near)
                ins = pred_ptr[v + 1] - pred_ptr[v]
                other = pred[pred_ptr[v] + i] if i < ins else succ[succ_ptr[v] + i - ins]
                to = device[other]
            if to != k and not possible[g, to]:
                to = k
        if kind > 0.3:  # elsewhere in the sequence
            low, high = -1, n
            for i in range(pred_ptr[v], pred_ptr[v + 1]):
                low = max(low, place[pred[i]])
            for i in range(succ_ptr[v], succ_ptr[v + 1]):
                high = min(high, place[succ[i]])
            low, high = max(low + 1, at - reach), min(high - 1, at + reach)
            at = low + np.random.randint(high - low + 1)
        if to == k and at == before:
            continue
        fits = True
        if to != k:
            fits = _fits(g, k, to, use, readers, memory, size, shared, weight_ptr, weight)
            for i in range(member_ptr[g], member_ptr[g + 1]):
                device[member[i]] = to
                first = min(first, place[member[i]])
        if fits:
            if at != before:
                first = min(first, min(at, before))
                _slide(sequence, place, before, at)
            limit = now - heat * np.log(1.0 - np.random.random())
            value = _time(
                device, sequence, first, limit * (1 + 1e-12), start, times, pred_ptr, pred,
                unlimited, link_time, links, tail,
            )  # fmt: skip
            if ports_[0] and value < np.inf:  # without ports it is no more than with them
                value = _served(
                    device, sequence, times, pred_ptr, succ_ptr, succ, unlimited, link_time, ports_
                )
            if value <= limit * (1 + 1e-12):
                now = value
                if now < best * (1 - 1e-9):
                    best = now
                    best_device[:] = device
                    best_sequence[:] = sequence
                continue
            if at != before:
                _slide(sequence, place, at, before)
        if to != k:
            _fits(g, to, k, use, readers, memory, size, shared, weight_ptr, weight)
            for i in range(member_ptr[g], member_ptr[g + 1]):
                device[member[i]] = k
        if fits:
            _time(
                device, sequence, first, np.inf, start, times, pred_ptr, pred, unlimited,
                link_time, links, tail,
            )  # fmt: skip
    return best
