"""The mapping of least weighted load onto two devices: a minimum cut.

A net costs its sender's and its receiver's share where some consumer is on the other device; how
much depends on where its source is. One more node a net and way makes these capacities of a
graph, so that the least cut is the least weighted load. Along a chain no group may be before one
that it follows: an arc that no cut crosses, tried for either order of the devices. Memory is no
cut: this is for instances in which each device holds everything.
"""

from __future__ import annotations

import math

import numpy as np

from problems import throughput
from problems.instance import Instance
from solvers.formulations._contract import Contracted

MOST, ROOM = 2**52, 2**62
"""What finite capacities, whole numbers, sum to at most; and all that leave the source."""


class Cut:
    """The graph of one instance with two devices; device 0 is the source's side."""

    def __init__(self, instance: Instance, c: Contracted) -> None:
        self.instance, self.c = instance, c
        G, E = c.supported.shape[0], len(c.net_group)
        self.source, self.sink = G + 2 * E, G + 2 * E + 1
        self.total = min(MOST, ROOM // (G + 2))
        self.never = self.total + 1
        group, net = np.arange(G), np.arange(E)
        there, back = G + net, G + E + net
        # On device 1, on device 0, a net to device 1, a net to device 0: what has a price.
        self.tail = np.concatenate([np.full(G, self.source), group, c.net_group, back])
        self.head = np.concatenate([group, np.full(G, self.sink), there, c.net_group])
        self.fixed_tail = np.concatenate([there[c.pin_net], c.pin_group])
        self.fixed_head = np.concatenate([c.pin_group, back[c.pin_net]])
        link = [[instance.port[k] if instance.staged else instance.wire[k, 1 - k] for k in (0, 1)]]
        link += [[instance.port[1 - k] if instance.staged else link[0][k] for k in (0, 1)]]
        send, receive = np.array(link)
        self.send = np.where(instance.host[[0, 1]][:, None], 0.0, c.net_time[send])
        self.receive = np.where(instance.host[[1, 0]][:, None], 0.0, c.net_time[receive])

    def least(self, weight: np.ndarray) -> tuple[float, np.ndarray | None]:
        """Bound the least weighted load, and find a mapping that has it, shape (n,).

        Parameters
        ----------
        weight : float64 array, shape (2, 3)
            Of a second of computing, receiving and sending.

        Returns
        -------
        float
            Seconds; inf where there is no mapping.
        int64 array or None
        """
        pairs = self.c.order
        orders = [pairs[:0]]
        if throughput.rules_of(self.instance).contiguous:
            orders = [pairs[:, ::-1], pairs]  # device 0 comes first, or device 1
        found = [self._cut(weight, order) for order in orders]
        return min(found, key=lambda each: each[0])

    def _cut(self, weight: np.ndarray, order: np.ndarray) -> tuple[float, np.ndarray | None]:
        """The least cut without a pair (a, b) of which a is on device 0 and b on device 1."""
        from ortools.graph.python import max_flow  # a solver binding: heavy

        c = self.c
        work = c.work[0] * weight[:, 0]
        net = self.send * weight[:, 2:] + self.receive * weight[::-1, 1:2]
        price = np.concatenate([work[:, 1], work[:, 0], net[0], net[1]])
        unit = (self.total / price.sum()) if price.sum() > 0 else 1.0
        capacity = np.floor(price * unit).astype(np.int64)
        out = np.concatenate([~c.supported[:, 1], ~c.supported[:, 0]])
        capacity[: len(out)][out] = self.never
        fixed = len(self.fixed_tail) + len(order)
        flow = max_flow.SimpleMaxFlow()
        flow.add_arcs_with_capacity(
            np.concatenate([self.tail, self.fixed_tail, order[:, 0]]).astype(np.int32),
            np.concatenate([self.head, self.fixed_head, order[:, 1]]).astype(np.int32),
            np.concatenate([capacity, np.full(fixed, self.never, np.int64)]),
        )
        status = flow.solve(self.source, self.sink)
        if status != flow.OPTIMAL:
            raise RuntimeError(f"maximum flow: {status}")
        if flow.optimal_flow() > self.total:
            return math.inf, None
        place = np.ones(self.sink + 1, np.int64)
        place[flow.get_source_side_min_cut()] = 0
        return flow.optimal_flow() / unit, place[self.instance.group]
