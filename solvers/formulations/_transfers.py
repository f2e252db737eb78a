"""``contention: ports`` in the disjunctive MILP: starts of transfers, and turns at the ports."""

from __future__ import annotations

import numpy as np

from problems import latency, ports
from problems.answer import Answer
from problems.instance import Instance
from solvers.formulations import _turns
from solvers.formulations._boundary import Boundary
from solvers.formulations._windows import Windows
from solvers.model import Builder


def destinations(instance: Instance, possible: np.ndarray) -> np.ndarray:
    """Pairs (producer, destination) of transfers that may take time, int64 array, shape (J, 2)."""
    group = instance.group
    u, v = instance.edges.T
    apart = group[u] != group[v]
    reach = np.zeros((instance.n, instance.K), bool)
    np.logical_or.at(reach, u[apart], possible[group[v[apart]]])
    takes = _legs(instance).sum(axis=0) > 0  # (n, to, from)
    return np.argwhere(reach & (takes & possible[group][:, None, :]).any(axis=2)).astype(np.int64)


def pairs(instance: Instance, possible: np.ndarray) -> int:
    """How many pairs of transfers may meet at a port, windows left aside."""
    where = destinations(instance, possible)
    senders = possible[instance.group[where[:, 0]]] & ~instance.host
    together = np.triu(senders.astype(int) @ senders.T.astype(int) > 0, 1)
    at_one = np.triu(where[:, 1, None] == where[:, 1], 1)
    if instance.staged:
        return int(together.sum() + at_one.sum())
    return int((together | at_one).sum())


def _legs(instance: Instance) -> np.ndarray:
    """Seconds of both legs from each device, shape (2, n, to, from).

    `direct`: the whole transfer is the first leg, and the second takes no time.
    """
    n, K = instance.n, instance.K
    legs = np.zeros((2, n, K, K))
    if instance.staged:
        port = instance.link_time[instance.port].T
        legs[0], legs[1] = port[:, None, :], port[:, :, None]
    else:
        legs[0] = instance.link_time[instance.wire.T].transpose(2, 0, 1)
    legs[:, :, np.arange(K), np.arange(K)] = 0.0
    return legs


class Transfers:
    """Adds the transfers; lengths in units of `scale` seconds.

    ``away[i, k] = 1`` says that transfer i comes from device k. One that is absent takes no time
    and waits for nobody.

    Parameters
    ----------
    x, start : int64 arrays, shapes (G, K), (n,)
        Columns of the placement and of the nodes' starts.
    flow : dict
        Columns y[from, to], shape (K, K), by pairs of groups that an edge joins.
    boundary : Boundary, optional
        Transfers that are made already.
    """

    def __init__(
        self,
        builder: Builder,
        instance: Instance,
        window: Windows,
        scale: float,
        x: np.ndarray,
        start: np.ndarray,
        flow: dict[tuple[int, int], np.ndarray],
        boundary: Boundary | None = None,
    ) -> None:
        self.instance, self.scale, self.start = instance, scale, start
        group, K = instance.group, instance.K
        where = destinations(instance, window.possible)
        self.u, self.to = where.T
        J = len(where)
        legs = _legs(instance)[:, self.u, self.to] / scale  # (2, J, from)
        may = window.possible[group[self.u]] & (self.to[:, None] != np.arange(K))
        self.away = builder.variables("away", (J, K), upper=may.astype(float), implied=True)
        one, reader = self._readers(window)
        comes = np.array(
            [
                flow[group[self.u[i]], group[v]][:, self.to[i]]
                for i, v in zip(one.tolist(), reader.tolist(), strict=True)
            ],
            np.int64,
        ).reshape(-1, K)
        # y counts from `to` itself as well: no transfer, and `away` is 0 there.
        comes_from = np.where(self.to[one, None] != np.arange(K), 1.0, 0.0)
        rows = builder.rows("away reader", comes.shape, lower=0.0)
        builder.add(rows, self.away[one], 1.0)
        builder.add(rows, comes, -comes_from)
        late = window.last_end[self.u].copy()
        np.maximum.at(late, one, window.latest[reader])
        early, late = window.first_end[self.u] / scale, late / scale
        begin, known = self._known(boundary, early, late)

        self.first = builder.variables("send start", (J,), lower=begin[0], upper=known[0])
        rows = builder.rows("send after", (J,), lower=0.0)
        builder.add(rows, self.first, 1.0)
        builder.add(rows, start[self.u], -1.0)
        builder.add(rows[:, None], x[group[self.u]], -window.time[self.u] / scale)
        tasks = _turns.Tasks(self.first, self.away, legs[0] * may, early, late)
        last = tasks
        if instance.staged:
            second = builder.variables("receive start", (J,), lower=begin[1], upper=known[1])
            rows = builder.rows("receive after", (J,), lower=0.0)
            builder.add(rows, second, 1.0)
            builder.add(rows, self.first, -1.0)
            builder.add(rows[:, None], self.away, -tasks.length)
            last = _turns.Tasks(second, self.away, legs[1] * may, early, late)
        self.last = last.start
        big = np.maximum(late[one] - window.earliest[reader] / scale, 0.0)
        rows = builder.rows("arrive", (len(one),), lower=-big)
        builder.add(rows, start[reader], 1.0)
        builder.add(rows, last.start[one], -1.0)
        builder.add(rows[:, None], self.away[one], -last.length[one])
        builder.add(rows[:, None], comes, -big[:, None] * comes_from)
        self._ports(builder, tasks, last)

    def _known(
        self, boundary: Boundary | None, early: np.ndarray, late: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Bounds on the starts of both legs, shape (2, J); equal where they are fixed."""
        lower, upper = np.stack([early, early]), np.stack([late, late])
        for i, key in enumerate(zip(self.u.tolist(), self.to.tolist(), strict=True)):
            if boundary is not None and key in boundary.sent:
                lower[:, i] = upper[:, i] = np.array(boundary.sent[key]) / self.scale
        return lower, upper

    def _readers(self, window: Windows) -> tuple[np.ndarray, np.ndarray]:
        """Transfers and their consumers, two int64 arrays."""
        instance, group = self.instance, self.instance.group
        found = [
            (i, v)
            for i, (u, to) in enumerate(zip(self.u.tolist(), self.to.tolist(), strict=True))
            for v in instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]].tolist()
            if group[v] != group[u] and window.possible[group[v], to]
        ]
        one, reader = np.array(found, np.int64).reshape(-1, 2).T
        return one, reader

    def _ports(self, builder: Builder, tasks: _turns.Tasks, last: _turns.Tasks) -> None:
        host = self.instance.host
        sends = (tasks.length > 0) & ~host
        receives = (last.length > 0) & ~host[self.to, None]
        i, j = np.triu_indices(len(self.u), 1)
        open_ = tasks.overlap(i, j)
        sending = open_ & (sends[i] & sends[j]).any(axis=1)
        receiving = open_ & (self.to[i] == self.to[j])
        receiving &= receives[i].any(axis=1) & receives[j].any(axis=1)
        both = sending if self.instance.staged else sending | receiving
        self.send_pairs = np.stack([i[both], j[both]], axis=1)
        self.send_first = _turns.add(builder, "send", tasks, self.send_pairs)
        p, k = np.nonzero(sends[i[both]] & sends[j[both]])
        here = [(self.away[self.send_pairs[p, side], k][:, None], np.ones(1)) for side in (0, 1)]
        _turns.meet(builder, "send port", self.send_first[p], here)
        self.receive_pairs, self.receive_first = self.send_pairs, self.send_first
        if self.instance.staged:
            self.receive_pairs = np.stack([i[receiving], j[receiving]], axis=1)
            self.receive_first = _turns.add(builder, "receive", last, self.receive_pairs)
            meeting = np.arange(len(self.receive_pairs))
        else:
            meeting = np.flatnonzero(receiving[both])
        one = self.receive_pairs[meeting]
        here = [(self.away[one[:, side]], receives[one[:, side]].astype(float)) for side in (0, 1)]
        _turns.meet(builder, "receive port", self.receive_first[meeting], here)

    def starts(self, solution: np.ndarray, device: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Starts of both legs of :func:`problems.ports.transfers`, seconds, shapes (T,)."""
        each = ports.transfers(self.instance, device)
        u = each.id // self.instance.K
        known = {key: j for j, key in enumerate((self.u * self.instance.K + self.to).tolist())}
        # One that takes no time starts when its producer ends.
        ends = solution[self.start[u]] * self.scale + self.instance.time[u, device[u]]
        result = np.stack([ends, ends])
        for i, key in enumerate(each.id.tolist()):
            if key in known:
                j = known[key]
                result[:, i] = solution[[self.first[j], self.last[j]]] * self.scale
        return result[0], result[1]

    def fill(self, solution: np.ndarray, answer: Answer) -> None:
        """Set all variables of this part for an answer that has all its orders."""
        instance = self.instance
        after = latency.successors(instance, answer)
        assert after is not None
        assert answer.send is not None
        assert answer.receive is not None
        times = ports.in_order(instance, answer.device, after, answer.send, answer.receive)
        assert times is not None
        times = times / self.scale
        each = ports.transfers(instance, answer.device)
        n, T = instance.n, len(each.id)
        j = np.searchsorted(each.id, self.u * instance.K + self.to)
        known = np.append(each.id, -1)[j] == self.u * instance.K + self.to
        at = np.flatnonzero(known)
        solution[self.away[at, answer.device[self.u[at]]]] = 1.0
        end = times[self.u] + instance.time[self.u, answer.device[self.u]] / self.scale
        first, last = end.copy(), end.copy()
        first[at] = times[n + j[at]]
        last[at] = times[(n + T if instance.staged else n) + j[at]]
        solution[self.first], solution[self.last] = first, last
        seconds = np.zeros((2, len(self.u)))
        seconds[:, at] = np.stack([each.send, each.receive])[:, j[at]] / self.scale
        device = answer.device[self.u]
        for pairs_, columns, begin, length in (
            (self.send_pairs, self.send_first, first, seconds[0]),
            (self.receive_pairs, self.receive_first, last, seconds[1]),
        ):
            one, other = pairs_.T
            meets = (device[one] == device[other]) | (self.to[one] == self.to[other])
            meets &= (length[one] > 0) & (length[other] > 0)
            before = begin[one] < begin[other]
            solution[columns[:, 0]] = meets & before
            solution[columns[:, 1]] = meets & ~before
