"""A simple answer of `chips`: one chip, levels of the graph cut into chips, or what repair finds.

Let the level of v be the least number of edges that a walk from the sources to v takes forward,
where it may go back along edges, and between nodes of one colocation group, for nothing. Then
level(u) <= level(v) <= level(u) + 1 on every edge u -> v, and so it stays where neighbouring levels
share a chip: no edge goes back (C1), no chip is skipped (C2), and no edge passes a chip, so that
none is a short cut (C3).
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from problems import chips
from problems.answer import Answer
from problems.instance import Instance
from solvers.repair.first import first_valid
from solvers.repair.units import problem_of

STARTS = 4
"""Sources from which levels are counted alone, next to all of them together."""
HALVINGS = 12
"""Of the range in which the least compute of a chip is searched for."""


def chips_start(instance: Instance, deadline: float = math.inf) -> Answer | None:
    """The better one of :func:`level_start` and what repair finds where memory is short.

    None where there is neither.

    Parameters
    ----------
    deadline : float
        On :func:`time.monotonic`'s scale, seconds.
    """
    unit, problem = problem_of(instance)
    found = first_valid(problem, deadline)
    return level_start(instance, deadline, [] if found is None else [found[unit]])


def level_start(
    instance: Instance, deadline: float = math.inf, others: Sequence[np.ndarray] = ()
) -> Answer | None:
    """The best valid answer of a few: one chip, levels cut where work and memory say, or `others`.

    None where there is none among them. Levels are left out where `deadline` has passed.
    """
    best: tuple[float, np.ndarray] | None = None
    for device in _candidates(instance, deadline, others):
        if chips.is_valid(instance, device):
            value = chips.period(instance, device)
            if best is None or value < best[0]:
                best = value, device
    return None if best is None else Answer(best[1])


def _candidates(
    instance: Instance, deadline: float, others: Sequence[np.ndarray]
) -> Iterator[np.ndarray]:
    yield np.zeros(instance.n, np.int64)
    yield from others
    sources = np.flatnonzero(np.diff(instance.pred_ptr) == 0).tolist()
    for starts in (sources, *([source] for source in sources[:STARTS])):
        if time.monotonic() > deadline:
            return
        yield from _cuts(instance, levels(instance, starts))


def levels(instance: Instance, starts: Sequence[int]) -> np.ndarray:
    """Level of every node, int64 array, shape (n,); 0 for what no walk from `starts` reaches."""
    n, far = instance.n, instance.n + 1
    level = np.full(n, far)
    level[list(starts)] = 0
    members: dict[int, list[int]] = {}
    for v, g in enumerate(instance.group.tolist()):
        members.setdefault(g, []).append(v)
    queue = deque(starts)
    while queue:
        u = queue.popleft()
        for v in instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]].tolist():
            if level[v] > level[u] + 1:
                level[v] = level[u] + 1
                queue.append(v)
        back = instance.pred[instance.pred_ptr[u] : instance.pred_ptr[u + 1]].tolist()
        for v in [*back, *members[int(instance.group[u])]]:
            if level[v] > level[u]:
                level[v] = level[u]
                queue.appendleft(v)
    level[level == far] = 0
    return level


def _cuts(instance: Instance, level: np.ndarray) -> list[np.ndarray]:
    """Mappings whose chips hold runs of levels: of as little work each as memory allows."""
    work = np.bincount(level, instance.time[:, 0])
    result, low, high = [], float(work.max()), float(work.sum())
    for most in (high, *(None for _ in range(HALVINGS))):
        limit = (low + high) / 2 if most is None else most
        device = _cut(instance, level, work, limit)
        if device is None:
            if most is not None:
                break
            low = limit
        else:
            result.append(device)
            high = limit
    return result


def _cut(
    instance: Instance, level: np.ndarray, work: np.ndarray, limit: float
) -> np.ndarray | None:
    """Fill chips with levels, in their order, up to `limit` seconds and the memory.

    None where a level does not fit, or the chips do not suffice.
    """
    memory = float(instance.memory[0])
    bytes_ = np.bincount(level, instance.node_bytes)
    readers: list[list[int]] = [[] for _ in range(len(work))]
    for i in range(len(instance.shared_bytes)):
        each = instance.shared_node[instance.shared_ptr[i] : instance.shared_ptr[i + 1]]
        for at in np.unique(level[each]).tolist():
            readers[at].append(i)
    chip = np.zeros(len(work), np.int64)
    k, seconds, held, weights = 0, 0.0, 0.0, set[int]()
    for at in range(len(work)):
        new = set(readers[at])
        more = float(bytes_[at]) + float(instance.shared_bytes[list(new - weights)].sum())
        if at and (seconds + work[at] > limit * (1 + 1e-12) or held + more > memory):
            k, seconds, held, weights = k + 1, 0.0, 0.0, set()
            more = float(bytes_[at]) + float(instance.shared_bytes[list(new)].sum())
        if k == instance.K or more > memory:
            return None
        seconds, held, weights = seconds + float(work[at]), held + more, weights | new
        chip[at] = k
    device: np.ndarray = chip[level]
    return device
