"""Problem `latency`: the makespan of one sample, operator by operator.

The one definition of the objective; solvers, heuristics, harness and page all use it. The rules are
in :mod:`problems.rules`, transfers that wait for one another (``contention: ports``) in
:mod:`problems.ports`; the judge is :mod:`problems.checker`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit

from problems import ports
from problems.answer import Answer
from problems.instance import Instance
from problems.placement import is_placeable
from problems.rules import LatencyRules


def rules_of(instance: Instance) -> LatencyRules:
    """The rules of a latency instance.

    Raises
    ------
    ValueError
        If it is an instance of another problem.
    """
    if not isinstance(instance.rules, LatencyRules):
        raise ValueError(f"{instance.id} is a {instance.problem} instance, not latency")
    return instance.rules


def communication(instance: Instance) -> np.ndarray:
    """Index of the two links that a transfer from k to l uses, int64 array, shape (K, K, 2).

    The delay of producer u's payload from device k to l is the sum of ``link_time[i, u]`` over
    both; link 0 takes no time. Compiled code takes this table instead of asking for the topology.
    """
    K = instance.K
    result = np.zeros((K, K, 2), np.int64)
    if instance.staged:
        result[:, :, 0] = instance.port[:, None]
        result[:, :, 1] = instance.port[None, :]
        result[np.arange(K), np.arange(K)] = 0
    else:
        result[:, :, 0] = instance.wire
    return result


def delays(instance: Instance, u: int) -> np.ndarray:
    """Seconds that u's payload takes between any two devices, float64 array, shape (K, K)."""
    result: np.ndarray = instance.link_time[communication(instance), u].sum(axis=2)
    return result


def starts(instance: Instance, answer: Answer) -> np.ndarray | None:
    """Earliest start times under the answer's mapping and orders, in seconds, shape (n,).

    None where the orders contradict the edges or one another, or do not list every node once on
    its device. A mapping without orders is completed by :func:`dispatch`. Under ``contention:
    ports``, `send` and `receive` are given both, besides `order`, or neither: then transfers are
    served as they come (:mod:`problems.ports`). Without ports they may not be given.
    """
    listed = answer.send is not None, answer.receive is not None
    if any(listed) and not (all(listed) and answer.order is not None and ports.has_ports(instance)):
        return None
    if answer.order is None:
        answer = dispatch(instance, answer.device)
    after = successors(instance, answer)
    if after is None:
        return None
    if not ports.has_ports(instance):
        sequence: np.ndarray = _merge(after, instance.succ_ptr, instance.succ, instance.pred_ptr)
        if len(sequence) < instance.n:
            return None
        return sequence_starts(instance, answer.device, sequence)
    if answer.send is None or answer.receive is None:
        served = ports.first_come(instance, answer.device, after)
        return None if served is None else served[0]
    start = ports.in_order(instance, answer.device, after, answer.send, answer.receive)
    return None if start is None else start[: instance.n]


def complete(instance: Instance, answer: Answer) -> Answer:
    """The answer with all orders that :func:`starts` supplies; as it is where they are impossible.

    That is the order of nodes, and under ``contention: ports`` that of the transfers.
    """
    if answer.order is None and answer.send is None and answer.receive is None:
        answer = dispatch(instance, answer.device)
    if not ports.has_ports(instance) or answer.send is not None or answer.receive is not None:
        return answer
    after = successors(instance, answer)
    served = None if after is None else ports.first_come(instance, answer.device, after)
    if served is None:
        return answer
    return replace(answer, send=served[1], receive=served[2])


def makespan(instance: Instance, answer: Answer) -> float:
    """Objective of an answer in seconds; inf where its orders are impossible."""
    start = starts(instance, answer)
    if start is None:
        return float("inf")
    return float((start + instance.time[np.arange(instance.n), answer.device]).max())


def is_valid(instance: Instance, answer: Answer) -> bool:
    """Whether an answer (mapping of shape (n,) into 0..K-1) keeps every rule of the instance."""
    if not is_placeable(instance, answer.device):
        return False
    if answer.order is None or ports.has_ports(instance) or answer.send is not None:
        return starts(instance, answer) is not None
    return answer.receive is None and sequence_of(instance, answer) is not None


def sequence_of(instance: Instance, answer: Answer) -> np.ndarray | None:
    """One topological sequence of all nodes that agrees with the orders of nodes; None without one.

    The order of an unlimited device carries no meaning and is not looked at.
    """
    after = successors(instance, answer)
    if after is None:
        return None
    sequence: np.ndarray = _merge(after, instance.succ_ptr, instance.succ, instance.pred_ptr)
    return sequence if len(sequence) == instance.n else None


def successors(instance: Instance, answer: Answer) -> np.ndarray | None:
    """Which node every node's device runs next, shape (n,), -1 for none; None for wrong orders."""
    if answer.order is None or len(answer.order) != instance.K:
        return None
    position = np.full(instance.n, -1, np.int64)
    after = np.full(instance.n, -1, np.int64)
    for k, nodes in enumerate(answer.order):
        nodes = np.asarray(nodes, np.int64)
        if len(nodes) and (nodes.min() < 0 or nodes.max() >= instance.n):
            return None
        if (answer.device[nodes] != k).any() or (position[nodes] >= 0).any():
            return None
        position[nodes] = np.arange(len(nodes))
        if len(np.unique(nodes)) != len(nodes):
            return None
        if not instance.unlimited[k]:
            after[nodes[:-1]] = nodes[1:]
    return None if (position < 0).any() else after


def sequence_starts(instance: Instance, device: np.ndarray, sequence: np.ndarray) -> np.ndarray:
    """Earliest start times when every device runs its nodes as they follow in `sequence`.

    Transfers are pure delays here: under ``contention: ports`` nothing starts earlier than this.

    Parameters
    ----------
    device : int array, shape (n,)
        Device of every node.
    sequence : int array, shape (n,)
        All nodes in a topological order.

    Returns
    -------
    float64 array, shape (n,)
        Seconds.
    """
    result: np.ndarray = sequence_starts_compiled(
        np.ascontiguousarray(device, np.int64),
        np.ascontiguousarray(sequence, np.int64),
        instance.time,
        instance.pred_ptr,
        instance.pred,
        instance.unlimited,
        instance.link_time,
        communication(instance),
    )
    return result


def answer_of(instance: Instance, device: np.ndarray, sequence: np.ndarray) -> Answer:
    """The answer that runs every device's nodes as they follow in `sequence`."""
    device = np.array(device, np.int64)
    return Answer(device, tuple(sequence[device[sequence] == k] for k in range(instance.K)))


def upward_rank(instance: Instance, device: np.ndarray) -> np.ndarray:
    """Longest time from the start of each node to the end, under a mapping; seconds, shape (n,)."""
    result: np.ndarray = upward_rank_compiled(
        np.ascontiguousarray(device, np.int64),
        instance.time,
        instance.succ_ptr,
        instance.succ,
        instance.link_time,
        communication(instance),
    )
    return result


def dispatch(instance: Instance, device: np.ndarray) -> Answer:
    """Complete a mapping: list scheduling by upward rank, transfers free, ties by node index.

    Nodes are taken in decreasing rank under the mapping itself; a node whose producers are not all
    taken waits for them (ranks of nodes that cost nothing can tie along an edge).
    """
    rank = upward_rank(instance, device)
    # Node numbers are topological, and a rank never grows along an edge: a stable sort suffices.
    sequence = np.argsort(-rank, kind="stable")
    return answer_of(instance, device, sequence)


@njit(cache=True)
def sequence_starts_compiled(  # type: ignore[no-untyped-def]
    device, sequence, time, pred_ptr, pred, unlimited, link_time, links
):
    """Compiled body of :func:`sequence_starts`; `links` comes from :func:`communication`."""
    start = np.zeros(device.shape[0])
    free = np.zeros(time.shape[1])
    for v in sequence:
        k = device[v]
        t = 0.0 if unlimited[k] else free[k]
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            u = pred[i]
            j = device[u]
            arrival = start[u] + time[u, j]
            if j != k:
                arrival += link_time[links[j, k, 0], u] + link_time[links[j, k, 1], u]
            t = max(t, arrival)
        start[v] = t
        free[k] = t + time[v, k]
    return start


@njit(cache=True)
def upward_rank_compiled(device, time, succ_ptr, succ, link_time, links):  # type: ignore[no-untyped-def]
    """Compiled body of :func:`upward_rank`; `links` comes from :func:`communication`."""
    n = device.shape[0]
    rank = np.zeros(n)
    for u in range(n - 1, -1, -1):
        k = device[u]
        longest = 0.0
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            v = succ[i]
            to = device[v]
            delay = 0.0
            if to != k:
                delay = link_time[links[k, to, 0], u] + link_time[links[k, to, 1], u]
            longest = max(longest, delay + rank[v])
        rank[u] = time[u, k] + longest
    return rank


@njit(cache=True)
def _merge(after, succ_ptr, succ, pred_ptr):  # type: ignore[no-untyped-def]
    """Topological order of the edges and the chains `after` together; shorter where they cycle."""
    n = after.shape[0]
    missing = np.zeros(n, np.int64)
    for v in range(n):
        missing[v] += pred_ptr[v + 1] - pred_ptr[v]
        if after[v] >= 0:
            missing[after[v]] += 1
    sequence = np.empty(n, np.int64)
    filled = 0
    for v in range(n):
        if missing[v] == 0:
            sequence[filled] = v
            filled += 1
    done = 0
    while done < filled:
        u = sequence[done]
        done += 1
        for i in range(succ_ptr[u], succ_ptr[u + 1] + 1):
            v = succ[i] if i < succ_ptr[u + 1] else after[u]
            if v >= 0:
                missing[v] -= 1
                if missing[v] == 0:
                    sequence[filled] = v
                    filled += 1
    return sequence[:filled]
