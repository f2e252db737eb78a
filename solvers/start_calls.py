"""Starting answers for `calls`: fills of a topological order, then annealing over slots."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator

import numpy as np
from numba import njit

from problems import calls
from problems.answer import Answer
from problems.instance import Instance
from problems.placement import is_placeable

SLOTS = 6
"""Slots an accelerator that the search uses at most."""
WORK = 20_000_000
"""Nodes, edges and slots that the search passes over: some tenths of a second."""
STEPS = 1_000, 400
"""Steps of the search: at least, and at most for every node."""
WALKS = 4
"""Simple answers that walks start from, best first."""
PIECE = 400_000
"""Nodes, edges and slots between looks at the clock: some hundredths of a second."""
LEVELS = 8
HOT, COLD = 0.1, 0.0005
"""Temperatures as shares of the value at the start."""


def calls_start(instance: Instance, seed: int = 0, *, deadline: float = math.inf) -> Answer | None:
    """The best answer of short walks from the best simple ones; None without a valid one.

    Deterministic for a seed where the deadline does not cut it: it is bounded by steps.

    Parameters
    ----------
    deadline : float
        On :func:`time.monotonic`'s scale, seconds. The simple answers are made in any case.
    """
    candidates = [calls.dispatch(instance, device) for device in mappings(instance)]
    able = [each for each in candidates if calls.finishes(instance, each) is not None]
    if not able:
        return None
    value = {
        (not is_placeable(instance, each.device), calls.makespan(instance, each)): each
        for each in able
    }
    rng = np.random.default_rng(seed)
    best: Answer | None = None
    for key in sorted(value)[:WALKS]:
        if best is not None and time.monotonic() > deadline:
            break
        found = anneal(instance, value[key], rng, deadline)
        if best is None or (
            found is not None and calls.makespan(instance, found) < calls.makespan(instance, best)
        ):
            best = found
    return best


def mappings(instance: Instance) -> Iterator[np.ndarray]:
    """Devices of every node, shape (n,): one device, and accelerators filled one after another.

    Groups that the edges tie into a circle go together. Some may break the memory rule.
    """
    group, finite = instance.group, np.isfinite(instance.time)
    supported = np.ones((int(group.max()) + 1, instance.K), bool)
    np.logical_and.at(supported, group, finite)
    for k in range(instance.K):
        if supported[:, k].all():
            yield np.full(instance.n, k)
    order = _sequence(instance)
    size = np.bincount(group, instance.node_bytes)
    weight = np.repeat(instance.shared_bytes, np.diff(instance.shared_ptr))
    np.add.at(size, group[instance.shared_node], weight)
    accelerators = np.flatnonzero(~instance.host).tolist()
    hosts = np.flatnonzero(instance.host).tolist()
    total = size.sum()
    # Plain numbers: the loop below passes every block several times.
    needs = [float(size[block].sum()) for block in order]
    fits = [np.atleast_1d(supported[block].all(axis=0)) for block in order]
    limits = instance.memory.tolist()
    for share in np.linspace(1.0 / LEVELS, 1.0, LEVELS):
        most = share * total + 1
        home = [-1] * len(size)
        at, used = 0, 0.0
        for block, need, able in zip(order, needs, fits, strict=True):
            while at < len(accelerators) and used + need > min(limits[accelerators[at]], most):
                at, used = at + 1, 0.0
            k = accelerators[at] if at < len(accelerators) else -1
            if k >= 0 and able[k]:
                used += need
            else:
                k = next((h for h in hosts if able[h]), -1)
            for g in block:
                home[g] = k if k >= 0 else int(supported[g].argmax())
        yield np.array(home)[group]


def _sequence(instance: Instance) -> list[list[int]]:
    """Colocation groups in a topological order; those on a circle in one block."""
    # Slow to load, and for calls only: most runs do without.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    G = int(instance.group.max()) + 1
    ends = instance.group[instance.edges]
    matrix = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(G, G))
    number, label = connected_components(matrix, directed=True, connection="strong")
    blocks: list[list[int]] = [[] for _ in range(number)]
    for g, block in enumerate(label.tolist()):
        blocks[block].append(g)
    pairs = label[ends]
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    after: list[list[int]] = [[] for _ in range(number)]
    for a, b in pairs.tolist():
        after[a].append(b)
    missing = np.bincount(pairs[:, 1], minlength=number).tolist()
    ready = [(blocks[i][0], i) for i in range(number) if not missing[i]]
    heapq.heapify(ready)
    result = []
    while ready:
        _, i = heapq.heappop(ready)
        result.append(blocks[i])
        for j in after[i]:
            missing[j] -= 1
            if not missing[j]:
                heapq.heappush(ready, (blocks[j][0], j))
    return result


def anneal(
    instance: Instance, answer: Answer, rng: np.random.Generator, deadline: float = math.inf
) -> Answer | None:
    """The best valid answer that a walk from `answer` passes; None without one.

    A step moves a colocation group to another device, its nodes into calls at random or into those
    of their neighbours, or turns one call over to another.
    """
    accelerators = np.flatnonzero(~instance.host)
    whole = calls.compact(instance, answer)
    assert whole.slot is not None
    q = min(calls.most_slots(instance), max(SLOTS, int(whole.slot.max()) + 1))
    cost = instance.n + instance.m + len(accelerators) * q
    steps = int(max(STEPS[0], min(WORK // cost, STEPS[1] * instance.n)))
    order = np.argsort(instance.group, kind="stable")
    ptr = np.searchsorted(instance.group[order], np.arange(int(instance.group.max()) + 2))
    device, slot = np.array(whole.device, np.int64), np.array(whole.slot, np.int64)
    best_device, best_slot, told = device.copy(), slot.copy(), np.zeros(4)
    seed = int(rng.integers(2**31))
    number, piece = np.cumsum(~instance.host) - 1, max(1, PIECE // cost)
    for first in range(0, steps, piece):
        if first and time.monotonic() > deadline:
            break
        part = first, min(first + piece, steps), steps
        _walk(
            device, slot, best_device, best_slot, told, q, number, part, seed, ptr, order,
            instance.time, instance.succ_ptr, instance.succ, instance.pred_ptr, instance.pred,
            instance.host, instance.link_time, instance.port, instance.group, instance.node_bytes,
            instance.shared_ptr, instance.shared_node, instance.shared_bytes, instance.memory,
        )  # fmt: skip
    return Answer(best_device, slot=best_slot) if told[3] else None


@njit(cache=True)
def overflow(device, node_bytes, shared_ptr, shared_node, shared_bytes, memory):  # type: ignore[no-untyped-def]
    """How far memory is exceeded, as a share of the limits."""
    use = np.zeros(memory.shape[0])
    for v in range(device.shape[0]):
        use[device[v]] += node_bytes[v]
    seen = np.full(memory.shape[0], -1, np.int64)
    for i in range(shared_bytes.shape[0]):
        for j in range(shared_ptr[i], shared_ptr[i + 1]):
            k = device[shared_node[j]]
            if seen[k] != i:
                seen[k] = i
                use[k] += shared_bytes[i]
    over = 0.0
    for k in range(memory.shape[0]):
        if use[k] > memory[k]:
            over += (use[k] - memory[k]) / max(memory[k], 1.0)
    return over


@njit(cache=True)
def makespan(  # type: ignore[no-untyped-def]
    device, slot, q, number, time, succ_ptr, succ, pred_ptr, pred, host, link_time, port
):
    """Makespan with every slot a part, used or not; inf where calls wait in a circle."""
    n, S = device.shape[0], (number[-1] + 1) * q
    part = np.empty(n, np.int64)
    after = np.full(S + n, -1, np.int64)
    for s in range(S):
        if (s + 1) % q:
            after[s] = s + 1
    for v in range(n):
        k = device[v]
        part[v] = S + v if host[k] else number[k] * q + slot[v]
    able, finish = calls.part_finishes(
        device, part, after, time, succ_ptr, succ, pred_ptr, pred, host, link_time, port
    )
    return finish.max() if able else np.inf


@njit(cache=True)
def _propose(  # type: ignore[no-untyped-def]
    device, slot, q, ptr, order, time, succ_ptr, succ, pred_ptr, pred, host, group
):
    """Change `device` and `slot` by one random move; False where it is none."""
    n, K = device.shape[0], host.shape[0]
    v = np.random.randint(n)
    kind = np.random.random()
    degree = succ_ptr[v + 1] - succ_ptr[v] + pred_ptr[v + 1] - pred_ptr[v]
    other = -1
    if degree > 0:
        i = np.random.randint(degree)
        out = succ_ptr[v + 1] - succ_ptr[v]
        other = succ[succ_ptr[v] + i] if i < out else pred[pred_ptr[v] + i - out]
    if kind < 0.1:  # all of a call over to that of a neighbour, or to a host
        k, s = device[v], slot[v]
        if host[k]:
            return False
        to, into = np.random.randint(K), np.random.randint(q)
        if other >= 0 and np.random.random() < 0.7:
            to, into = device[other], slot[other]
        if host[to]:
            into = -1
        if to == k and into == s:
            return False
        for u in range(n):
            if device[u] == k and slot[u] == s:
                if not np.isfinite(time[u, to]):
                    return False
                device[u], slot[u] = to, into
        for u in range(n):  # groups stay together
            first = order[ptr[group[u]]]
            if device[u] != device[first]:
                return False
        return True
    if kind < 0.75 and other >= 0:
        to, into = device[other], slot[other]
    else:
        to, into = np.random.randint(K), np.random.randint(q)
        if host[to]:
            into = -1
    if to == device[v] and into == slot[v]:
        return False
    moved = to != device[v]
    for i in range(ptr[group[v]], ptr[group[v] + 1]):
        u = order[i]
        if u == v or moved:
            if not np.isfinite(time[u, to]):
                return False
            if u != v and not host[to] and np.random.random() < 0.5:
                slot[u] = np.random.randint(q)
            else:
                slot[u] = into
            device[u] = to
    return True


@njit(cache=True)
def _walk(  # type: ignore[no-untyped-def]
    device, slot, best_device, best_slot, told, q, number, part, seed, ptr, order, time, succ_ptr,
    succ, pred_ptr, pred, host, link_time, port, group, node_bytes, shared_ptr, shared_node,
    shared_bytes, memory,
):  # fmt: skip
    """Steps from `part[0]` to `part[1]` of `part[2]`: devices, slots, the best and `told` go on.

    `told` has the value at the start, the energy, the least value and whether the best is valid.
    The random numbers go on as well: the first part seeds them, and nothing else here draws any.
    """
    first, last, steps = part
    if first == 0:
        np.random.seed(seed)
        value = makespan(
            device, slot, q, number, time, succ_ptr, succ, pred_ptr, pred, host, link_time, port
        )
        over = overflow(device, node_bytes, shared_ptr, shared_node, shared_bytes, memory)
        told[0] = value if value > 0.0 else 1.0
        told[1] = value + 10 * over * told[0]
        told[2] = value
        told[3] = over == 0.0
    scale, energy, least, found = told[0], told[1], told[2], told[3] > 0.0
    kept_device, kept_slot = device.copy(), slot.copy()
    for step in range(first, last):
        warm = scale * HOT * (COLD / HOT) ** (step / steps)
        changed = _propose(
            device, slot, q, ptr, order, time, succ_ptr, succ, pred_ptr, pred, host, group
        )
        after = np.inf
        if changed:
            over = overflow(device, node_bytes, shared_ptr, shared_node, shared_bytes, memory)
            if 10 * over * scale - energy <= 20 * warm:  # else it is hardly ever taken
                after = 10 * over * scale + makespan(
                    device, slot, q, number, time, succ_ptr, succ, pred_ptr, pred, host,
                    link_time, port,
                )  # fmt: skip
        if after <= energy or np.random.random() < np.exp((energy - after) / max(warm, 1e-300)):
            energy = after
            kept_device[:], kept_slot[:] = device, slot
            if over == 0.0 and (not found or after < least):
                found, least = True, after
                best_device[:], best_slot[:] = device, slot
        else:
            device[:], slot[:] = kept_device, kept_slot
    told[1], told[2], told[3] = energy, least, found
