"""`latency` with parts for nodes: every answer of the coarse instance is one of the fine one.

A part runs on one device without a pause once all that it reads from outside is there, and what it
sends leaves when all of it is done: the fine schedule in the same order is no later.
"""

from __future__ import annotations

import numpy as np

from heuristics.modules.rebuilt import rebuilt
from heuristics.modules.reduced import shared_by_part
from problems import latency, ports
from problems.answer import Answer
from problems.instance import Instance


def coarse(instance: Instance, part: np.ndarray) -> Instance:
    """The instance whose nodes are the parts, numbered topologically; `part` of shape (n,)."""
    P = int(part.max()) + 1
    time = np.zeros((P, instance.K))
    np.add.at(time, part, instance.time)
    pairs = part[instance.edges]
    apart = pairs[:, 0] != pairs[:, 1]
    codes = np.unique(pairs[apart, 0] * P + pairs[apart, 1])
    senders = np.unique(instance.edges[apart, 0])
    link_time = np.zeros((len(instance.link_time), P))
    for row, seconds in zip(link_time, instance.link_time[:, senders], strict=True):
        # Payloads travel side by side, unless they take turns at the ports.
        together = np.add if ports.has_ports(instance) else np.maximum
        together.at(row, part[senders], seconds)
    size = np.zeros(P, np.int64)
    np.add.at(size, part, instance.node_bytes)
    shared_ptr, shared_part, shared_bytes = shared_by_part(instance, part)
    first = np.unique(part, return_index=True)[1]
    return rebuilt(
        instance,
        # Of a group that lies in several parts each is one node of it.
        instance.group[first],
        np.stack(np.divmod(codes, P), axis=1).astype(np.int64),
        time=time,
        phase=np.zeros(P, np.int8),
        node_bytes=size,
        shared_ptr=shared_ptr,
        shared_node=shared_part,
        shared_bytes=shared_bytes,
        link_time=link_time,
    )


def sequence_of(small: Instance, answer: Answer) -> np.ndarray:
    """Place of every part in an order of all that agrees with the answer, shape (P,)."""
    answer = latency.complete(small, answer)
    sequence = latency.sequence_of(small, answer)
    assert sequence is not None, "a valid answer has an order"
    place = np.empty(small.n, np.int64)
    place[sequence] = np.arange(small.n)
    return place
