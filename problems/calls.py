"""Problem `calls`: latency of one sample when an accelerator runs whole subgraphs as single calls.

The model is that of Tarnawski et al., NeurIPS 2020 (arXiv 2006.16423, appendix A). The one
definition of the objective; solvers, heuristics, harness and page all use it. The rules are in
:mod:`problems.rules`; the judge is :mod:`problems.checker`.

Nodes on a host run one by one, each as soon as what it reads is there: hosts have as many lanes as
needed. The nodes of an accelerator are split into calls 0, 1, ..., made one after another::

    L(v)      = p_host(v) + max of L(u) over the u that v reads            v on a host
    start(s)  = max of L(u) over the u outside s that feed s, and finish of the call before on k
    finish(s) = start(s) + in(s) + comp(s) + out(s);   L(v) = finish(s) for every v in s
    comp(s)   = sum of p_k(v) over the v in s
    in(s)     = sum of tau_k(u) over the u outside s with a consumer in s  (each u once)
    out(s)    = sum of tau_k(u) over the u in s with a consumer outside s  (each u once)

Outside means outside the call, on the same accelerator too: between two calls data go through host
memory. The calls and the single host nodes form an acyclic graph (so that every call is convex),
which the order of each accelerator's calls extends. Backward nodes are nodes like all others.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from problems.answer import Answer
from problems.instance import Instance
from problems.placement import is_placeable
from problems.rules import CallsRules


def rules_of(instance: Instance) -> CallsRules:
    """The rules of a calls instance.

    Raises
    ------
    ValueError
        If it is an instance of another problem.
    """
    if not isinstance(instance.rules, CallsRules):
        raise ValueError(f"{instance.id} is a {instance.problem} instance, not calls")
    return instance.rules


def most_slots(instance: Instance) -> int:
    """Calls that an accelerator may make: the rule's number, or one a node without a limit."""
    limit = rules_of(instance).slots
    return instance.n if limit is None else min(limit, instance.n)


def finishes(instance: Instance, answer: Answer) -> np.ndarray | None:
    """L(v), when the result of each node is there, in seconds, float64 array of shape (n,).

    None where the calls and host nodes wait for each other in a circle, or where `slot` does not
    fit the devices. A mapping without slots is completed by :func:`dispatch`.
    """
    if answer.slot is None:
        answer = dispatch(instance, answer.device)
    assert answer.slot is not None
    if not _slots_fit(instance, answer):
        return None
    part, after = parts(instance, answer)
    able, value = _run(instance, answer.device, part, after)
    return value[part] if able else None


def _run(
    instance: Instance, device: np.ndarray, part: np.ndarray, after: np.ndarray
) -> tuple[bool, np.ndarray]:
    able, finish = part_finishes(
        np.ascontiguousarray(device, np.int64),
        part,
        after,
        instance.time,
        instance.succ_ptr,
        instance.succ,
        instance.pred_ptr,
        instance.pred,
        instance.host,
        instance.link_time,
        instance.port,
    )
    return bool(able), finish


def makespan(instance: Instance, answer: Answer) -> float:
    """Objective of an answer in seconds; inf where its calls are impossible."""
    finish = finishes(instance, answer)
    return float("inf") if finish is None else float(finish.max())


def is_valid(instance: Instance, answer: Answer) -> bool:
    """Whether an answer (mapping of shape (n,) into 0..K-1) keeps every rule of the instance."""
    if not is_placeable(instance, answer.device):
        return False
    return finishes(instance, answer) is not None


def _slots_fit(instance: Instance, answer: Answer) -> bool:
    """Whether host nodes have slot -1, all others one of 0, 1, ... within the limit."""
    assert answer.slot is not None
    if answer.slot.shape != (instance.n,):
        return False
    on_host = instance.host[answer.device]
    if (answer.slot[on_host] != -1).any() or (answer.slot[~on_host] < 0).any():
        return False
    limit = rules_of(instance).slots
    return limit is None or bool((answer.slot < limit).all())


def parts(instance: Instance, answer: Answer) -> tuple[np.ndarray, np.ndarray]:
    """Number the calls and single host nodes of an answer.

    Returns
    -------
    part : int64 array, shape (n,)
        Part of every node: calls first, by accelerator and slot.
    after : int64 array, shape (P,)
        The call that the accelerator makes next; -1 without one, and for host nodes.
    """
    assert answer.slot is not None
    device, slot = answer.device, answer.slot
    part = np.full(instance.n, -1, np.int64)
    calls = np.flatnonzero(~instance.host[device])
    pairs, number = np.unique(
        np.stack([device[calls], slot[calls]], axis=1), axis=0, return_inverse=True
    )
    part[calls] = number.reshape(-1)
    alone = np.flatnonzero(part < 0)
    part[alone] = len(pairs) + np.arange(len(alone))
    after = np.full(len(pairs) + len(alone), -1, np.int64)
    follows = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
    after[follows] = follows + 1
    return part, after


def compact(instance: Instance, answer: Answer) -> Answer:
    """The same calls, completed by :func:`dispatch` where there are none, without unused slots."""
    if answer.slot is None:
        return dispatch(instance, answer.device)
    slot = answer.slot.copy()
    for k in np.flatnonzero(~instance.host):
        mine = answer.device == k
        slot[mine] = np.unique(slot[mine], return_inverse=True)[1].reshape(-1)
    return Answer(answer.device, slot=slot)


def dispatch(instance: Instance, device: np.ndarray) -> Answer:
    """Complete a mapping: cut what each accelerator holds into calls.

    A node's call is the largest number of times that a path to it enters its accelerator, less
    one: the cut of the published program, the fewest convex pieces by one pass along the paths.
    Where those of several accelerators wait for each other in a circle, which that program refuses,
    every node's call counts instead the devices that a path to it changes to, hosts among them,
    which no circle survives. Calls are numbered from 0 without gaps.
    """
    device = np.array(device, np.int64)
    slot = np.full(instance.n, -1, np.int64)
    for k in np.flatnonzero(~instance.host):
        entered = entries(device == k, instance.pred_ptr, instance.pred)
        slot[device == k] = entered[device == k] - 1
    answer = Answer(device, slot=slot)
    if not _run(instance, device, *parts(instance, answer))[0]:
        level = changes(device, instance.pred_ptr, instance.pred)
        for k in np.flatnonzero(~instance.host):
            mine = device == k
            slot[mine] = np.unique(level[mine], return_inverse=True)[1].reshape(-1)
    return answer


@njit(cache=True)
def entries(inside, pred_ptr, pred):  # type: ignore[no-untyped-def]
    """Most times that a path to each node enters the set `inside`, itself included."""
    n = inside.shape[0]
    most = np.zeros(n, np.int64)
    for v in range(n):
        if inside[v]:
            most[v] = 1
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            u = pred[i]
            most[v] = max(most[v], most[u] + (1 if inside[v] and not inside[u] else 0))
    return most


@njit(cache=True)
def changes(device, pred_ptr, pred):  # type: ignore[no-untyped-def]
    """Most changes of device along a path to each node."""
    n = device.shape[0]
    most = np.zeros(n, np.int64)
    for v in range(n):
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            u = pred[i]
            most[v] = max(most[v], most[u] + (1 if device[u] != device[v] else 0))
    return most


@njit(cache=True)
def members(part, P):  # type: ignore[no-untyped-def]
    """Nodes of each part as linked lists: the first of each, and the next after each node."""
    first = np.full(P, -1, np.int64)
    rest = np.full(part.shape[0], -1, np.int64)
    for v in range(part.shape[0] - 1, -1, -1):
        rest[v] = first[part[v]]
        first[part[v]] = v
    return first, rest


@njit(cache=True)
def waiting(part, after, succ_ptr, succ):  # type: ignore[no-untyped-def]
    """How many edges and calls before it each part waits for."""
    missing = np.zeros(after.shape[0], np.int64)
    for u in range(part.shape[0]):
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            if part[succ[i]] != part[u]:
                missing[part[succ[i]]] += 1
    for a in after:
        if a >= 0:
            missing[a] += 1
    return missing


@njit(cache=True)
def release(  # type: ignore[no-untyped-def]
    a, first, rest, part, after, succ_ptr, succ, missing, queue, filled
):
    """Part `a` is done: queue what waited for it last; returns the length of the queue."""
    u = first[a]
    while u >= 0:
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            b = part[succ[i]]
            if b != a:
                missing[b] -= 1
                if missing[b] == 0:
                    queue[filled] = b
                    filled += 1
        u = rest[u]
    b = after[a]
    if b >= 0:
        missing[b] -= 1
        if missing[b] == 0:
            queue[filled] = b
            filled += 1
    return filled


@njit(cache=True)
def part_finishes(  # type: ignore[no-untyped-def]
    device, part, after, time, succ_ptr, succ, pred_ptr, pred, host, link_time, port
):
    """Whether the parts can run at all, and when each is finished; see :func:`parts`."""
    n, P = part.shape[0], after.shape[0]
    first, rest = members(part, P)
    missing = waiting(part, after, succ_ptr, succ)
    queue = np.empty(P, np.int64)
    filled = 0
    for a in range(P):
        if missing[a] == 0:
            queue[filled] = a
            filled += 1
    ready = np.zeros(P)
    finish = np.zeros(P)
    read = np.full(n, -1, np.int64)
    done = 0
    while done < filled:
        a = queue[done]
        done += 1
        start = ready[a]
        compute = into = out = 0.0
        v = first[a]
        k = device[v]
        while v >= 0:
            compute += time[v, k]
            for i in range(pred_ptr[v], pred_ptr[v + 1]):
                u = pred[i]
                if part[u] != a:
                    start = max(start, finish[part[u]])
                    if read[u] != a:
                        read[u] = a
                        into += link_time[port[k], u]
            for i in range(succ_ptr[v], succ_ptr[v + 1]):
                if part[succ[i]] != a:
                    out += link_time[port[k], v]
                    break
            v = rest[v]
        if host[k]:
            into = out = 0.0
        finish[a] = start + (into + compute + out)
        if after[a] >= 0:
            ready[after[a]] = finish[a]
        filled = release(a, first, rest, part, after, succ_ptr, succ, missing, queue, filled)
    return done == P, finish
