"""Lossless contraction of a contiguous throughput instance, and the way back.

Items are colocation groups, and what the chain rule keeps together anyway is one item: groups on a
cycle of the order. An item that costs nothing may join a neighbour where no device's load can grow
by it (:func:`_follow`), or leave the problem for good (:func:`_drop`). Memory is all that could be
hurt: bytes of items that were moved are kept apart, so that a program can be run without them (no
answer is lost: a lower bound) and with them (every answer is one: an upper bound).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from problems.instance import Instance
from solvers.formulations._contract import Contracted, contract


@dataclass(eq=False)
class Net:
    """What one item sends: it costs every device that holds some, not all, of its members.

    Attributes
    ----------
    receive, send : float64 arrays, shape (C,)
        Seconds for a device of each class.
    """

    producer: int
    phase: int
    members: frozenset[int]
    receive: np.ndarray
    send: np.ndarray


@dataclass(eq=False)
class Items:
    """What is left of an instance, by item; all keys are colocation groups.

    Attributes
    ----------
    work : float64 array, shape (P, G, C)
        Seconds of each group on a device of each class; of items, at their key.
    supported : bool array, shape (G, C)
    kept, moved : float64 arrays, shape (G,)
        Bytes of an item itself, and of what was moved to it without need.
    shared : list of (float, set of int)
        Bytes of weights that several items read, and the items.
    pred, succ : dict of int to set of int
        The order, a direct relation of items; its keys are the items that are left.
    events : list
        (group, groups before, groups after) in the order of leaving: it sits where the last of
        those before sits, or else the first of those after.
    """

    work: np.ndarray
    supported: np.ndarray
    kept: np.ndarray
    moved: np.ndarray
    shared: list[tuple[float, set[int]]]
    nets: list[Net]
    pred: dict[int, set[int]]
    succ: dict[int, set[int]]
    events: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)

    def merge(self, v: int, u: int, *, moves: bool) -> None:
        """Make item v part of item u; `moves` tells that it could have sat elsewhere."""
        self.events.append((v, (u,), ()))
        self.work[:, u] += self.work[:, v]
        self.supported[u] &= self.supported[v]
        self.moved[u] += self.moved[v] + (self.kept[v] if moves else 0.0)
        self.kept[u] += 0.0 if moves else self.kept[v]
        for _, readers in self.shared:
            if v in readers:
                readers.discard(v)
                readers.add(u)
        nets: dict[tuple[int, int, frozenset[int]], Net] = {}
        for net in self.nets:
            if v in net.members:
                net.members = net.members - {v} | {u}
                net.producer = u if net.producer == v else net.producer
            if len(net.members) > 1:
                key = (net.producer, net.phase, net.members)
                if key in nets:
                    nets[key].receive = nets[key].receive + net.receive
                    nets[key].send = nets[key].send + net.send
                else:
                    nets[key] = net
        self.nets = list(nets.values())
        self._unlink(v, u)

    def drop(self, v: int) -> None:
        """Take v out; what it kept in order stays so."""
        before, after = self.pred[v], self.succ[v]
        self.events.append((v, tuple(before), tuple(after)))
        self._unlink(v, None)
        for a in before:
            for b in after:
                self.succ[a].add(b)
                self.pred[b].add(a)

    def _unlink(self, v: int, u: int | None) -> None:
        for mine, theirs in ((self.pred, self.succ), (self.succ, self.pred)):
            for other in mine.pop(v):
                theirs[other].discard(v)
                if u is not None and other != u:
                    theirs[other].add(u)
                    mine[u].add(other)

    def fuse_cycles(self) -> None:
        """Merge the items on a cycle of the order: no chain of devices can separate them."""
        keys = sorted(self.succ)
        number = {key: i for i, key in enumerate(keys)}
        pairs = np.array(
            [(number[a], number[b]) for a in keys for b in self.succ[a]], np.int64
        ).reshape(-1, 2)
        matrix = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (len(keys),) * 2)
        _, label = connected_components(matrix, connection="strong")
        first: dict[int, int] = {}
        for key, which in zip(keys, label.tolist(), strict=True):
            if first.setdefault(which, key) != key:
                self.merge(key, first[which], moves=False)

    def positions(self, of_item: dict[int, int]) -> np.ndarray:
        """Position of every group, shape (G,), from the positions of the items that are left."""
        position = np.zeros(self.work.shape[1], np.int64)
        for key, at in of_item.items():
            position[key] = at
        for v, before, after in reversed(self.events):
            if before:
                position[v] = max(position[u] for u in before)
            elif after:
                position[v] = min(position[u] for u in after)
        return position


def items_of(instance: Instance, first: np.ndarray, upper: float = np.inf) -> Items:
    """The items of an instance before any of them is moved.

    Parameters
    ----------
    first : int64 array, shape (C,)
        One device of every class.
    upper : float
        Seconds. Only answers up to this load are kept: what takes longer to transfer is cut
        nowhere, except between hosts.
    """
    c = contract(instance)
    G = len(c.bytes)
    pred: dict[int, set[int]] = {g: set() for g in range(G)}
    succ: dict[int, set[int]] = {g: set() for g in range(G)}
    for a, b in c.order.tolist():
        succ[a].add(b)
        pred[b].add(a)
    readers: list[set[int]] = [set() for _ in c.shared_bytes]
    for weight, g in zip(c.reader_weight.tolist(), c.reader_group.tolist(), strict=True):
        readers[weight].add(g)
    supported = np.ones((G, instance.K), bool)
    np.logical_and.at(supported, instance.group, np.isfinite(instance.time))
    items = Items(
        c.work[:, :, first],
        supported[:, first],
        c.bytes.copy(),
        np.zeros(G),
        list(zip(c.shared_bytes.tolist(), readers, strict=True)),
        _nets(instance, c, first),
        pred,
        succ,
    )
    items.fuse_cycles()
    if instance.host.sum() <= 1 and np.isfinite(upper):
        _stay(items, ~instance.host[first], upper)
    return items


def _nets(instance: Instance, c: Contracted, first: np.ndarray) -> list[Net]:
    """Nets with the least that they can cost a device of each class.

    Over direct links that is one transfer over the best link, which may be less than it does cost;
    see `undecided` of the program.
    """
    pays = ~instance.host[first]
    if instance.staged or instance.K == 1:
        into = out = c.net_time[instance.port[first]].T
    else:
        into, out = (np.empty((len(c.net_group), len(first))) for _ in range(2))
        for i, k in enumerate(first.tolist()):
            others = np.arange(instance.K) != k
            into[:, i] = c.net_time[instance.wire[others, k]].min(axis=0)
            out[:, i] = c.net_time[instance.wire[k, others]].min(axis=0)
    readers: list[set[int]] = [set() for _ in c.net_group]
    for net, g in zip(c.pin_net.tolist(), c.pin_group.tolist(), strict=True):
        readers[net].add(g)
    ends = zip(c.net_group.tolist(), c.net_phase.tolist(), readers, strict=True)
    return [
        Net(g, phase, frozenset(pins | {g}), into[e] * pays, out[e] * pays)
        for e, (g, phase, pins) in enumerate(ends)
    ]


def _stay(items: Items, pays: np.ndarray, upper: float) -> None:
    """Merge the members of nets that no device can afford to receive or send."""
    while True:
        for net in items.nets:
            least = np.minimum(net.receive, net.send)[pays]
            if len(least) and least.min() > upper:
                anchor, *others = sorted(net.members)
                break
        else:
            return
        for v in others:
            items.merge(v, anchor, moves=False)
        items.fuse_cycles()


def simplify(items: Items, *, directed: bool, compute_apart: bool, bytes_matter: bool) -> None:
    """Move and drop items until nothing more can be done without harm.

    Parameters
    ----------
    directed : bool
        Receiving and sending are different resources.
    compute_apart : bool
        Compute and transfers are different resources.
    bytes_matter : bool
        Some memory is limited; items with bytes are not dropped then.
    """
    changed = True
    while changed:
        changed = False
        of: dict[int, list[Net]] = {g: [] for g in items.succ}
        for net in items.nets:
            for g in net.members:
                of[g].append(net)
        reads = {g for _, readers in items.shared for g in readers}
        touched: set[int] = set()
        for v in sorted(items.succ):
            if v in reads or touched & ({v} | items.pred[v] | items.succ[v]):
                continue
            u = _follow(items, v, of[v], directed, compute_apart)
            if u is not None:
                touched |= {u, v} | {g for net in of[v] for g in net.members}
                items.merge(v, u, moves=True)
                changed = True
            elif not of[v] and _drops(items, v, bytes_matter):
                touched |= {v} | items.pred[v] | items.succ[v]
                items.drop(v)
                changed = True


def _follow(
    items: Items, v: int, nets: list[Net], directed: bool, compute_apart: bool
) -> int | None:
    """A neighbour u that v may always sit with, or None.

    In any answer with v on b and u on a, v may move to a if it is ordered after u only, or before
    u only. It brings its work to a, and cuts of its nets without u to a and b; it spares both the
    nets of v and u alone. So no load grows where these cost as much in every class, by phase.
    """
    for near in (items.pred[v], items.succ[v]):
        if len(near) != 1:
            continue
        (u,) = near
        if (items.supported[u] & ~items.supported[v]).any():
            continue
        work = np.where(items.supported[v], items.work[:, v], 0.0)
        balance = np.zeros((2, *work.shape))
        forward = True
        for net in nets:
            others = net.members - {net.producer}
            forward &= others <= items.succ[net.producer]
            if u in net.members and len(net.members) > 2:
                continue  # it touches no more devices than before, and forward none otherwise
            sign = -1.0 if u in net.members else 1.0
            balance[0, net.phase] += sign * net.receive
            balance[1, net.phase] += sign * net.send
        if directed and nets and not forward:
            continue
        if compute_apart and work.any():
            continue
        if (balance + work <= 0.0).all():
            return u
    return None


def _drops(items: Items, v: int, bytes_matter: bool) -> bool:
    before, after = len(items.pred[v]), len(items.succ[v])
    if items.work[:, v].any() or not items.supported[v].all() or len(items.succ) == 1:
        return False
    if bytes_matter and items.kept[v] + items.moved[v] > 0:
        return False
    return before * after <= before + after + 4
