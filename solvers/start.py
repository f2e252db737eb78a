"""Simple starting answers, so that an exact method has an incumbent from its first moment on."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from itertools import chain

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from problems import latency, placement, throughput
from problems.answer import Answer
from problems.graph import topological_order
from problems.instance import Instance
from solvers import improve_throughput
from solvers.beam import MOST, WEIGHTS, Beams
from solvers.improve import improve

STEPS = 20_000
"""Of local search on a schedule, a node: hundredths of a second for a thousand of them."""
LEVELS = 24
"""Levels of the load that are tried for chunks."""
HALVINGS = 16
"""Of the level of even chunks."""
WIDTH = 24
"""Partial schedules that go on in a beam."""
STARTS = 4
"""Best of the simple mappings that local search starts from."""


def throughput_start(
    instance: Instance, *, steps: int | None = None, deadline: float = math.inf
) -> Answer | None:
    """A good mapping, by local search from single devices and chunks; None without one.

    Chunks of the topological order are filled device by device up to a level of compute time, for
    several levels and with the devices in several orders; or, where memory lets none of them
    through, by shares of work and of bytes.

    Parameters
    ----------
    steps : int, optional
        Of the local search; see :func:`solvers.improve_throughput.improve`.
    deadline : float
        On :func:`time.monotonic`'s scale, seconds: it cuts the chunks, but for the first, and the
        search.
    """
    sequence = chain_of(instance)
    candidates = [np.full(instance.n, k) for k in range(instance.K)]
    for parts in _chunkings(instance, sequence):
        candidates.append(parts[sequence])
        if time.monotonic() > deadline:
            break
    ranked: list[tuple[float, float, int]] = []
    for i, device in enumerate(candidates):
        broken = improve_throughput.violation(instance, device)
        value = throughput.period(instance, device)
        ranked.append((broken, value, i))
    ranked.sort()
    chosen = [candidates[i] for _, _, i in ranked[:STARTS]]
    units = units_of(instance, sequence)
    return improve_throughput.improve(instance, units, chosen, steps=steps, deadline=deadline)


def even_chunks(
    instance: Instance, order: np.ndarray, deadline: float = math.inf
) -> np.ndarray | None:
    """Chunks of the topological order up to the least level of compute time, shape (n,).

    None where no level lets them through, or none was found by the `deadline`. Devices are filled
    in `order`, shape (K,).
    """
    sequence = chain_of(instance)
    work, _ = _by_part(instance, sequence)
    low, high, best = 0.0, 1.2 * float(work.min(axis=1).sum()), None
    for _ in range(HALVINGS):
        if time.monotonic() > deadline:
            break
        level = high if best is None else (low + high) / 2
        found = _chunks(instance, sequence, work, order, level)
        if found is None and best is None:
            return None
        low, high, best = (low, level, found) if found is not None else (level, high, best)
    return None if best is None else best[sequence]


def _chunkings(instance: Instance, sequence: np.ndarray) -> Iterator[np.ndarray]:
    """Device of each part, shape (parts,), for many chunkings; not all of them are valid."""
    work, supported = _by_part(instance, sequence)
    runs = np.where(supported, work, 0.0)
    mean = runs.sum(axis=0) / np.maximum(supported.sum(axis=0), 1)
    total = float(work.min(axis=1).sum())
    orders = [np.arange(instance.K), np.argsort(mean, kind="stable")]
    orders += [np.argsort(-instance.memory, kind="stable"), orders[1][::-1]]
    for order in orders:
        for share in np.linspace(1.0 / instance.K, 1.2, LEVELS):
            parts = _chunks(instance, sequence, work, order, share * total)
            if parts is not None:
                yield parts
    amount = runs.sum(axis=1) / np.maximum(supported.sum(axis=1), 1)
    size = np.bincount(sequence, instance.node_bytes)
    memory = np.minimum(instance.memory, max(size.sum(), 1.0))
    speed = np.divide(mean.max(), mean, out=np.ones(instance.K), where=mean > 0)
    for order in orders:
        for weight in (0.0, 0.5, 0.9, 1.0):
            fill = _cumulated(amount) * (1 - weight) + _cumulated(size) * weight
            share = speed / speed.sum() * (1 - weight) + memory / (memory.sum() or 1.0) * weight
            ends = np.cumsum(share[order])
            yield order[np.minimum(np.searchsorted(ends, fill), instance.K - 1)]


def _cumulated(amount: np.ndarray) -> np.ndarray:
    """Share of the whole that lies before the middle of each."""
    result: np.ndarray = (np.cumsum(amount) - amount / 2) / (amount.sum() or 1.0)
    return result


def units_of(instance: Instance, sequence: np.ndarray | None = None) -> np.ndarray:
    """What moves as one under local search, shape (n,): groups, or along a chain :func:`chain_of`.

    `sequence` is the latter where it is known.
    """
    if not throughput.rules_of(instance).contiguous:
        return instance.group
    return chain_of(instance) if sequence is None else sequence


def chain_of(instance: Instance) -> np.ndarray:
    """Number of each node's part, shape (n,): parts in a topological order of the chain rule.

    A part is a colocation group, or several that the order edges tie into a cycle.
    """
    group = instance.group
    G = int(group.max()) + 1
    pairs = group[throughput.order_edges(instance)]
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (G, G))
    count, label = connected_components(graph, connection="strong")
    # Number the components by first group: ties of the topological order then go by node.
    first = np.unique(label, return_index=True)[1]
    number = np.empty(count, np.int64)
    number[np.argsort(first)] = np.arange(count)
    part = number[label]
    producers: list[list[int]] = [[] for _ in range(count)]
    links = np.unique(part[pairs], axis=0).reshape(-1, 2)
    for a, b in links[links[:, 0] != links[:, 1]].tolist():
        producers[b].append(a)
    order = topological_order(count, producers)
    assert order is not None
    position = np.empty(count, np.int64)
    position[order] = np.arange(count)
    result: np.ndarray = position[part[group]]
    return result


def groups_in_line(instance: Instance) -> np.ndarray:
    """Colocation groups in the order of their parts, shape (G,); see :func:`chain_of`."""
    part = np.zeros(int(instance.group.max()) + 1, np.int64)
    part[instance.group] = chain_of(instance)
    return np.argsort(part, kind="stable")


def _by_part(instance: Instance, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    work = np.zeros((int(part.max()) + 1, instance.K))
    np.add.at(work, part, instance.time)
    return work, np.isfinite(work)


def _chunks(
    instance: Instance, part: np.ndarray, work: np.ndarray, order: np.ndarray, level: float
) -> np.ndarray | None:
    """Device of each part, shape (parts,), or None where the devices run out."""
    node_bytes = np.bincount(part, instance.node_bytes)
    result = np.empty(len(work), np.int64)
    at, load, held = 0, 0.0, 0.0
    for i in range(len(work)):
        while True:
            if at == len(order):
                return None
            k = order[at]
            fits = held + node_bytes[i] <= instance.memory[k] and np.isfinite(work[i, k])
            if fits and load + work[i, k] <= level:
                break
            at, load, held = at + 1, 0.0, 0.0
        result[i] = k
        load += work[i, k]
        held += node_bytes[i]
    return result


def latency_start(instance: Instance, *, deadline: float = math.inf) -> Answer | None:
    """The best single device, earliest-finish list schedule or beam, improved; None without one.

    Parameters
    ----------
    deadline : float
        On :func:`time.monotonic`'s scale, seconds: it cuts the beams once there is an answer, and
        the search.
    """
    candidates = [np.full(instance.n, k) for k in range(instance.K)]
    greedy = _earliest_finish(instance)
    if greedy is not None:
        candidates.append(greedy)
    answers = [
        latency.dispatch(instance, device)
        for device in candidates
        if placement.is_placeable(instance, device)
    ]
    best, least = None, np.inf
    for answer in chain(answers, _beams(instance, answers)):
        value = latency.makespan(instance, answer)
        if value < least:
            best, least = answer, value
        if best is not None and time.monotonic() > deadline:
            break
    if best is None:
        return None
    left = deadline - time.monotonic()
    return improve(instance, best, seconds=left, steps=STEPS * instance.n)


def _beams(instance: Instance, answers: list[Answer]) -> Iterator[Answer]:
    """Valid answers of beams; of several prices where memory is short."""
    if instance.n > MOST:
        return
    beams, order, prices = Beams(instance), np.arange(instance.n), [0.0]
    if instance.memory.min() < instance.node_bytes.sum() + instance.shared_bytes.sum():
        scale = min((latency.makespan(instance, each) for each in answers), default=1.0)
        prices += [scale * 2.0**i for i in range(-8, 3)]
    for price in prices:
        for weight in WEIGHTS:
            answer = beams.search(order, weight, price, WIDTH)
            if answer is not None and latency.is_valid(instance, answer):
                yield answer


def _earliest_finish(instance: Instance) -> np.ndarray | None:
    """Device of each node, shape (n,): nodes by mean upward rank, each where it finishes first.

    The first node of a colocation group decides for all; a shared weight is counted at every
    reader, which is more than it takes.
    """
    group, links = instance.group, latency.communication(instance)
    finite = np.isfinite(instance.time)
    G = int(group.max()) + 1
    supported = np.ones((G, instance.K), bool)
    np.logical_and.at(supported, group, finite)
    size = np.bincount(group, instance.node_bytes, minlength=G)
    weight = np.repeat(instance.shared_bytes, np.diff(instance.shared_ptr))
    np.add.at(size, group[instance.shared_node], weight)
    mean = np.where(finite, instance.time, 0).sum(axis=1) / finite.sum(axis=1)
    delay = instance.link_time[links].sum(axis=2).mean(axis=(0, 1))
    rank = mean.copy()
    for u in range(instance.n - 1, -1, -1):
        consumers = instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]]
        if len(consumers):
            rank[u] += delay[u] + rank[consumers].max()
    home = np.full(G, -1)
    finish, free = np.zeros(instance.n), np.zeros(instance.K)
    held = np.zeros(instance.K)
    for v in np.argsort(-rank, kind="stable"):
        g = group[v]
        producers = instance.pred[instance.pred_ptr[v] : instance.pred_ptr[v + 1]]
        ready = np.where(instance.unlimited, 0.0, free)
        for u in producers:
            way = instance.link_time[links[home[group[u]]], u].sum(axis=1)
            ready = np.maximum(ready, finish[u] + way)
        end = ready + instance.time[v]
        if home[g] < 0:
            possible = supported[g] & (held + size[g] <= instance.memory)
            if not possible.any():
                return None
            home[g] = np.where(possible, end, np.inf).argmin()
            held[home[g]] += size[g]
        finish[v] = free[home[g]] = end[home[g]]
    result: np.ndarray = home[group]
    return result
