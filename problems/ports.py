"""`latency` with ``contention: ports``: transfers take turns at the ports of their devices.

Every device but the hosts has a port that sends and one that receives; each serves one transfer at
a time, without preemption. There is one transfer for every producer u and every device l, other
than u's device k, that runs a consumer of u; its number is ``u * K + l``.

direct
    It takes t_kl(u) and occupies k's sending and l's receiving port, both for all that time.
staged
    Its first leg occupies k's sending port for tau_k(u), its second one l's receiving port for
    tau_l(u): from the end of the first leg on or later, as host memory stores in between.

It may start when u has finished, and a consumer once all that it reads has arrived. Hosts have no
ports: a `direct` transfer to or from one occupies the other end's port alone, a `staged` leg takes
no time there. What takes no time occupies nothing, and is listed nowhere.

The order at each port is the answer's (`send`, `receive`: all that the port serves, each once), and
all starts are the earliest ones. Without these lists it is first come, first served: events are
handled by time, at equal times finishes of nodes by number first, then transfers that could start
(direct, or first legs), then second legs, both by producer and destination; a transfer that is
handled reserves its ports at once, from the moment on when all of them are free.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numba import njit

from problems.instance import Instance


class Transfers(NamedTuple):
    """The T transfers of a mapping.

    Attributes
    ----------
    id : int64 array, shape (T,)
        ``producer * K + destination``, ascending.
    ptr : int64 array, shape (n + 1,)
        Those of producer u: ``ptr[u]..ptr[u + 1]``.
    send, receive : float64 arrays, shape (T,)
        Seconds of the two legs; `direct`: both are the whole transfer.
    sender, receiver : int64 arrays, shape (T,)
        Device whose port each leg occupies, -1 for none.
    """

    id: np.ndarray
    ptr: np.ndarray
    send: np.ndarray
    receive: np.ndarray
    sender: np.ndarray
    receiver: np.ndarray


Served = tuple[np.ndarray, tuple[np.ndarray, ...], tuple[np.ndarray, ...]]


def has_ports(instance: Instance) -> bool:
    """Whether transfers of the instance take turns at ports."""
    return getattr(instance.rules, "contention", "none") == "ports"


def transfers(instance: Instance, device: np.ndarray) -> Transfers:
    """All transfers under a mapping of shape (n,)."""
    device = np.ascontiguousarray(device, np.int64)
    ids = transfers_compiled(device, instance.succ_ptr, instance.succ, instance.K)
    u, to = np.divmod(ids, instance.K)
    k = device[u]
    if instance.staged:
        send = instance.link_time[instance.port[k], u]
        receive = instance.link_time[instance.port[to], u]
    else:
        send = receive = instance.link_time[instance.wire[k, to], u]
    return Transfers(
        ids,
        np.searchsorted(u, np.arange(instance.n + 1)).astype(np.int64),
        send,
        receive,
        np.where((send > 0) & ~instance.host[k], k, -1),
        np.where((receive > 0) & ~instance.host[to], to, -1),
    )


def first_come(instance: Instance, device: np.ndarray, after: np.ndarray) -> Served | None:
    """Starts of the nodes, and the order at each port, where transfers are served as they come.

    `after`, shape (n,): the node that a node's device runs next, -1 without one. None where it
    closes a cycle with the edges. Starts are in seconds, shape (n,); the lists as in
    :class:`problems.answer.Answer`.
    """
    each = transfers(instance, device)
    start, done, sent, received = first_come_compiled(
        np.ascontiguousarray(device, np.int64), after, instance.time, instance.succ_ptr,
        instance.succ, instance.pred_ptr, instance.K, instance.staged, *each
    )  # fmt: skip
    if done < instance.n:
        return None
    lists = [
        tuple(each.id[served[port[served] == k]] for k in range(instance.K))
        for served, port in ((sent, each.sender), (received, each.receiver))
    ]
    return start, lists[0], lists[1]


def in_order(
    instance: Instance,
    device: np.ndarray,
    after: np.ndarray,
    send: tuple[np.ndarray, ...],
    receive: tuple[np.ndarray, ...],
) -> np.ndarray | None:
    """Earliest starts under given orders at the ports, in seconds, shape (n + 2 T,).

    Of nodes, transfers (`direct`) or first legs, second legs. None for wrong lists or a cycle.
    """
    each = transfers(instance, device)
    next_sent = _chains(instance, each.id, each.sender, send)
    next_received = _chains(instance, each.id, each.receiver, receive)
    if next_sent is None or next_received is None:
        return None
    start, done = _in_order(
        np.ascontiguousarray(device, np.int64), after, next_sent, next_received, instance.time,
        instance.succ_ptr, instance.succ, instance.pred_ptr, instance.K, instance.staged, *each
    )  # fmt: skip
    return start if done == instance.n else None


def _chains(
    instance: Instance, ids: np.ndarray, port: np.ndarray, lists: tuple[np.ndarray, ...]
) -> np.ndarray | None:
    """Which transfer each one's port serves next, shape (T,), -1 for none; None for wrong lists."""
    if len(lists) != instance.K:
        return None
    following = np.full(len(ids), -1, np.int64)
    for k, listed in enumerate(lists):
        mine = np.flatnonzero(port == k)
        listed = np.asarray(listed, np.int64)
        if not np.array_equal(np.sort(listed), ids[mine]):
            return None
        index = np.searchsorted(ids, listed)
        following[index[:-1]] = index[1:]
    return following


@njit(cache=True)
def transfers_compiled(device, succ_ptr, succ, K):  # type: ignore[no-untyped-def]
    """Ids of all transfers, ascending, shape (T,)."""
    n = device.shape[0]
    mark = np.full(K, -1, np.int64)
    result = np.empty(succ.shape[0], np.int64)
    count = 0
    for u in range(n):
        first = count
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            to = device[succ[i]]
            if to != device[u] and mark[to] != u:
                mark[to] = u
                result[count] = u * K + to
                count += 1
        result[first:count] = np.sort(result[first:count])
    return result[:count]


@njit(cache=True)
def _missing(after, pred_ptr):  # type: ignore[no-untyped-def]
    """How many producers and nodes before it on its device every node waits for."""
    missing = pred_ptr[1:] - pred_ptr[:-1]
    for v in range(after.shape[0]):
        if after[v] >= 0:
            missing[after[v]] += 1
    return missing


@njit(cache=True)
def first_come_compiled(  # type: ignore[no-untyped-def]
    device, after, time, succ_ptr, succ, pred_ptr, K, staged,
    ids, ptr, send, receive, sender, receiver,
):  # fmt: skip
    """Compiled body of :func:`first_come`: starts, nodes that got one, transfers as served."""
    n, T = device.shape[0], ids.shape[0]
    missing = _missing(after, pred_ptr)
    start = np.zeros(n)
    sending, receiving = np.zeros(K), np.zeros(K)  # when each port is free
    sent, received = np.empty(T, np.int64), np.empty(T, np.int64)
    sent_count = received_count = done = 0
    # (seconds, node, n + transfer or n + T + transfer): sorted as ties are broken.
    queue = [(time[v, device[v]], v) for v in range(n) if missing[v] == 0]
    heapq.heapify(queue)
    while len(queue) > 0:
        now, event = heapq.heappop(queue)
        if event < n:
            u = event
            done += 1
            for j in range(ptr[u], ptr[u + 1]):
                heapq.heappush(queue, (now, n + j))
            v = after[u]
            if v >= 0:
                start[v] = max(start[v], now)
                missing[v] -= 1
                if missing[v] == 0:
                    heapq.heappush(queue, (start[v] + time[v, device[v]], v))
            at, end = device[u], now
        else:
            second = event >= n + T
            j = event - n - T if second else event - n
            u, at = ids[j] // K, ids[j] % K
            begin = now
            if not second and sender[j] >= 0:
                begin = max(begin, sending[sender[j]])
            if (second or not staged) and receiver[j] >= 0:
                begin = max(begin, receiving[receiver[j]])
            end = begin + (receive[j] if second else send[j])
            if not second and sender[j] >= 0:
                sending[sender[j]] = end
                sent[sent_count] = j
                sent_count += 1
            if (second or not staged) and receiver[j] >= 0:
                receiving[receiver[j]] = end
                received[received_count] = j
                received_count += 1
            if staged and not second:
                heapq.heappush(queue, (end, n + T + j))
                continue
        for i in range(succ_ptr[u], succ_ptr[u + 1]):
            v = succ[i]
            if device[v] == at:
                start[v] = max(start[v], end)
                missing[v] -= 1
                if missing[v] == 0:
                    heapq.heappush(queue, (start[v] + time[v, at], v))
    return start, done, sent[:sent_count], received[:received_count]


@njit(cache=True)
def _in_order(  # type: ignore[no-untyped-def]
    device, after, next_sent, next_received, time, succ_ptr, succ, pred_ptr, K, staged,
    ids, ptr, send, receive, sender, receiver,
):  # fmt: skip
    n, T = device.shape[0], ids.shape[0]
    missing = np.ones(n + 2 * T, np.int64)  # nodes, transfers or first legs, second legs
    missing[:n] = _missing(after, pred_ptr)
    second = n + T if staged else n  # where a transfer waits for the receiving port
    for j in range(T):
        if next_sent[j] >= 0:
            missing[n + next_sent[j]] += 1
        if next_received[j] >= 0:
            missing[second + next_received[j]] += 1
    start = np.zeros(n + 2 * T)
    ready = np.empty(n + 2 * T, np.int64)
    filled = done = 0
    for v in range(n):
        if missing[v] == 0:
            ready[filled] = v
            filled += 1
    following = np.empty(n + K + 2, np.int64)
    while filled > 0:
        filled -= 1
        task = ready[filled]
        count = 0
        at = -1  # where u's payload is once the task has ended
        if task < n:
            done += 1
            u = task
            at = device[u]
            end = start[task] + time[u, at]
            following[0] = after[u]
            for j in range(ptr[u], ptr[u + 1]):
                following[1 + j - ptr[u]] = n + j
            count = 1 + ptr[u + 1] - ptr[u]
        else:
            j = (task - n) % T
            u = ids[j] // K
            first = task < n + T
            end = start[task] + (send[j] if first else receive[j])
            following[0] = n + next_sent[j] if first and next_sent[j] >= 0 else -1
            if first and staged:
                following[1] = n + T + j
            else:
                following[1] = second + next_received[j] if next_received[j] >= 0 else -1
                at = ids[j] % K
            count = 2
        if at >= 0:
            for i in range(succ_ptr[u], succ_ptr[u + 1]):
                if device[succ[i]] == at:
                    following[count] = succ[i]
                    count += 1
        for i in range(count):
            x = following[i]
            if x >= 0:
                start[x] = max(start[x], end)
                missing[x] -= 1
                if missing[x] == 0:
                    ready[filled] = x
                    filled += 1
    return start, done
