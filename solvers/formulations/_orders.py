"""Answers of `latency` from start times that a solver found, and among like devices."""

from __future__ import annotations

import heapq

import numpy as np

from problems import latency, ports
from problems.answer import Answer
from problems.instance import Instance
from solvers.formulations._symmetry import canonical


def by_start(
    instance: Instance,
    device: np.ndarray,
    start: np.ndarray,
    first: np.ndarray | None = None,
    second: np.ndarray | None = None,
) -> Answer:
    """The answer in which everything takes its turns as it starts.

    Starts may be off by a solver's tolerance: what has all that it waits for comes next by the
    middle of its time, which also puts what takes no time before or after what takes some.

    Parameters
    ----------
    start : float64 array, shape (n,)
        Starts of the nodes in seconds.
    first, second : float64 arrays, shape (T,), optional
        Under ports: starts of both legs (`direct`: of the transfer, twice) of
        :func:`problems.ports.transfers`, in seconds.
    """
    n, K, edges = instance.n, instance.K, instance.edges.tolist()
    middle = start + instance.time[np.arange(n), device] / 2
    if first is None or second is None:
        return latency.answer_of(instance, device, _merged(middle, edges))
    each = ports.transfers(instance, device)
    T = len(each.id)
    pairs = [(u, v) for u, v in edges if device[u] == device[v]]
    last = n + T if instance.staged else n
    number = {key: j for j, key in enumerate(each.id.tolist())}
    for j, key in enumerate(each.id.tolist()):
        pairs.append((key // K, n + j))
        if instance.staged:
            pairs.append((n + j, n + T + j))
    pairs += [
        (last + number[u * K + int(device[v])], v) for u, v in edges if device[u] != device[v]
    ]
    keys = np.concatenate([middle, first + each.send / 2, second + each.receive / 2])
    if not instance.staged:  # one leg each
        keys = keys[: n + T]
    sequence = _merged(keys, pairs)
    answer = latency.answer_of(instance, device, sequence[sequence < n])
    lists = []
    for begin, port in ((n, each.sender), (last, each.receiver)):
        served = sequence[(sequence >= begin) & (sequence < begin + T)] - begin
        lists.append(tuple(each.id[served[port[served] == k]] for k in range(K)))
    return Answer(device, answer.order, send=lists[0], receive=lists[1])


def _merged(keys: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
    """All numbers in an order that keeps `pairs`, small keys first."""
    after: list[list[int]] = [[] for _ in keys]
    missing = [0] * len(keys)
    for a, b in pairs:
        after[a].append(b)
        missing[b] += 1
    queue = [(float(keys[i]), i) for i in range(len(keys)) if not missing[i]]
    heapq.heapify(queue)
    sequence: list[int] = []
    while queue:
        _, i = heapq.heappop(queue)
        sequence.append(i)
        for j in after[i]:
            missing[j] -= 1
            if not missing[j]:
                heapq.heappush(queue, (float(keys[j]), j))
    return np.array(sequence, np.int64)


def relabelled(instance: Instance, answer: Answer, leaders: np.ndarray) -> Answer:
    """The answer with like devices exchanged such that they are first used along `leaders`."""
    K = instance.K
    member = np.unique(instance.group, return_index=True)[1]
    placed = canonical(leaders, answer.device[member], instance.device_class)
    to = np.full(K, -1)
    to[answer.device[member]] = placed
    to[to < 0] = np.setdiff1d(np.arange(K), placed)
    back = np.argsort(to)
    lists: dict[str, tuple[np.ndarray, ...] | None] = {}
    for name in ("order", "send", "receive"):
        each = getattr(answer, name)
        if each is not None and name != "order":  # a transfer is producer * K + destination
            each = [one - one % K + to[one % K] for one in each]
        lists[name] = None if each is None else tuple(each[k] for k in back)
    return Answer(to[answer.device], lists["order"], None, None, lists["send"], lists["receive"])
