"""Times of a sequence where transfers take turns at ports (``contention: ports``); compiled.

A transfer is due when the first node that reads it comes up in the sequence, and takes its ports in
that order: the sequence decides the order at the ports as it does that of the devices, so that a
walk over sequences reaches orders that first come, first served does not.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from problems import latency
from problems.answer import Answer
from problems.instance import Instance


@njit(cache=True)
def served(  # type: ignore[no-untyped-def]
    time, way, pred_ptr, pred, unlimited, floor, staged, port, wire, host, device, sequence, limit,
    start, arrive, stamp, count, log,
):  # fmt: skip
    """Fill `start`, shape (n,); returns the makespan, or inf once it is known to exceed `limit`.

    `arrive` and `stamp`, shape (n, K), are room for arrivals; `count` is a new stamp. `log`, shape
    (m,), gets the transfers in their order, ``producer * K + destination``, and -1 behind them.
    """
    K = time.shape[1]
    free, sending, receiving = np.zeros(K), np.zeros(K), np.zeros(K)
    latest, made = 0.0, 0
    for v in sequence:
        k = device[v]
        t = 0.0 if unlimited[k] else free[k]
        for i in range(pred_ptr[v], pred_ptr[v + 1]):
            u = pred[i]
            j = device[u]
            finish = start[u] + time[u, j]
            if j != k:
                if stamp[u, k] != count:
                    stamp[u, k] = count
                    if len(log) > 0:
                        log[made] = u * K + k
                    made += 1
                    if staged:
                        seconds = way[u, port[j]]
                        if seconds > 0 and not host[j]:
                            finish = max(finish, sending[j])
                            sending[j] = finish + seconds
                        finish += seconds
                        seconds = way[u, port[k]]
                        if seconds > 0 and not host[k]:
                            finish = max(finish, receiving[k])
                            receiving[k] = finish + seconds
                        finish += seconds
                    else:
                        seconds = way[u, wire[j, k]]
                        if seconds > 0:
                            if not host[j]:
                                finish = max(finish, sending[j])
                            if not host[k]:
                                finish = max(finish, receiving[k])
                            if not host[j]:
                                sending[j] = finish + seconds
                            if not host[k]:
                                receiving[k] = finish + seconds
                        finish += seconds
                    arrive[u, k] = finish
                finish = arrive[u, k]
            t = max(t, finish)
        start[v] = t
        t += time[v, k]
        free[k] = t
        latest = max(latest, t)
        if t + floor[v] > limit:
            return np.inf
    if len(log) > made:
        log[made] = -1
    return latest


def answer_of(instance: Instance, device: np.ndarray, sequence: np.ndarray) -> Answer:
    """The answer of a sequence with its orders at the ports, or first come where that is better."""
    plain = latency.complete(instance, latency.answer_of(instance, device, sequence))
    n, K = instance.n, instance.K
    log = np.full(instance.m + 1, -1, np.int64)
    served(
        # Copies: the instance's arrays are read-only, which is another type to the compiler.
        np.array(instance.time), np.array(instance.link_time.T, order="C"),
        np.array(instance.pred_ptr), np.array(instance.pred), np.array(instance.unlimited),
        np.zeros(n), bool(instance.staged), np.array(instance.port), np.array(instance.wire),
        np.array(instance.host), np.array(device, np.int64), np.array(sequence, np.int64), np.inf,
        np.zeros(n), np.zeros((n, K)), np.zeros((n, K), np.int64), 1, log,
    )  # fmt: skip
    ids = log[: np.argmin(log)]
    u, to = np.divmod(ids, K)
    k = device[u]
    if instance.staged:
        send, receive = (
            instance.link_time[instance.port[k], u],
            instance.link_time[instance.port[to], u],
        )
    else:
        send = receive = instance.link_time[instance.wire[k, to], u]
    sender = np.where((send > 0) & ~instance.host[k], k, -1)
    receiver = np.where((receive > 0) & ~instance.host[to], to, -1)
    own = Answer(
        plain.device,
        plain.order,
        send=tuple(ids[sender == d] for d in range(K)),
        receive=tuple(ids[receiver == d] for d in range(K)),
    )
    return min(own, plain, key=lambda answer: latency.makespan(instance, answer))
