"""Throughput seen by colocation groups: work, and what a set of groups pays for its transfers.

A *net* is what one group sends to one set of other groups. A set S of groups on a device of class c
pays at least

    out(S) = sum of send[c, e] over nets e whose source is in S and a pin is not
    in(S)  = sum of receive[c, e] over nets e whose source is not in S and a pin is

with equality on a staged platform. On a direct one each net counts once, over the quickest wire: a
payload that goes to several devices, or over a slower wire, costs more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from problems.bounds.allowed import Groups, groups_of
from problems.bounds.load_lp import best_multipliers
from problems.instance import Instance
from problems.throughput import order_edges, rules_of

PHASES = (0, 1)


@dataclass(frozen=True, eq=False)
class Nets:
    """G groups, E nets, K devices of C classes: equal in time, memory and least transfer times.

    Attributes
    ----------
    overlap : {'none', 'half', 'full'}
    contiguous : bool
    time : float64 array, shape (G, C)
        Seconds of a group; inf where it cannot go.
    bytes : float64 array, shape (G,)
        What a group holds for certain; weights that several groups read are left out.
    memory : float64 array, shape (C,)
    host : bool array, shape (C,)
    count : int64 array, shape (C,)
        Devices of each class.
    source : int64 array, shape (E,)
    pin_net, pin : int64 arrays, shape (pins,)
        Consuming groups of each net, its source left out; ascending in the net.
    send, receive : float64 arrays, shape (C, E)
        Seconds; 0 for hosts.
    forward : bool array, shape (E,)
        Whether the source may not come after any pin in the chain (only where `contiguous`).
    order : int64 array, shape (., 2)
        Distinct pairs (a, b): in a chain, a's device may not come after b's.
    device_time : float64 array, shape (1, G, K)
        Seconds by device, as the load LP takes them.
    """

    instance: Instance
    groups: Groups
    overlap: str
    contiguous: bool
    time: np.ndarray
    bytes: np.ndarray
    memory: np.ndarray
    host: np.ndarray
    count: np.ndarray
    source: np.ndarray
    pin_net: np.ndarray
    pin: np.ndarray
    send: np.ndarray
    receive: np.ndarray
    forward: np.ndarray
    order: np.ndarray
    device_class: np.ndarray
    device_time: np.ndarray

    @cached_property
    def work(self) -> tuple[float, np.ndarray]:
        """The load LP as one inequality.

        Returns
        -------
        least : float
            Seconds; the load LP's bound, rounded down.
        share : float64 array, shape (C,)
            Multiplier of each device of a class, ``count @ share == 1``. In every answer
            ``sum_k share_k * compute(k) >= least``.
        """
        least, multipliers, _ = best_multipliers(self.instance, self.groups, self.device_time)
        C = len(self.count)
        share = np.bincount(self.device_class, multipliers.load[0], minlength=C) / self.count
        # Devices of one class may have had unlike multipliers: the mean is as good only if they
        # are equal, which the LP's columns make sure of; the Lagrangian settles any doubt.
        return least, share


def nets_of(instance: Instance, phases: tuple[int, ...] = PHASES) -> Nets:
    """Contract the groups; nodes of other than `phases` cost nothing, but sit somewhere."""
    rules = rules_of(instance)
    groups, group = groups_of(instance), instance.group
    time = groups.time[list(phases)].sum(axis=0)
    time = np.where(groups.allowed, time, np.inf)
    cost = _least_transfers(instance)
    index: dict[tuple[int, ...], int] = {}
    net_of = np.full(instance.n, -1)
    pins = np.unique(np.stack([instance.edges[:, 0], group[instance.edges[:, 1]]], 1), axis=0)
    inside = np.isin(instance.phase[pins[:, 0]], phases) & (pins[:, 1] != group[pins[:, 0]])
    costly = np.asarray(cost.any(axis=(0, 1)))
    pins = pins[inside & costly[pins[:, 0]]]
    for u, own in zip(*_runs(pins), strict=True):
        key = (int(group[u]), *own.tolist())
        net_of[u] = index.setdefault(key, len(index))
    sending = np.flatnonzero(net_of >= 0)
    summed = np.zeros((2, instance.K, len(index)))
    for u in sending.tolist():
        summed[:, :, net_of[u]] += cost[:, :, u]
    keys = list(index)
    order = np.zeros((0, 2), np.int64)
    if rules.contiguous:
        order = group[order_edges(instance)].reshape(-1, 2)
        order = np.unique(order[order[:, 0] != order[:, 1]], axis=0).reshape(-1, 2)
    device_class, first = _classes(instance, time, summed)
    source = np.array([key[0] for key in keys], np.int64)
    pin_net = np.repeat(np.arange(len(keys)), [len(key) - 1 for key in keys]).astype(np.int64)
    pin = np.array([g for key in keys for g in key[1:]], np.int64)
    pairs = set(map(tuple, order.tolist()))
    forward = np.ones(len(keys), bool)
    for e, g in zip(pin_net.tolist(), pin.tolist(), strict=True):
        forward[e] &= (int(source[e]), g) in pairs
    return Nets(
        instance,
        groups,
        rules.overlap,
        rules.contiguous,
        time[:, first],
        groups.bytes.astype(float),
        instance.memory[first],
        instance.host[first],
        np.bincount(device_class),
        source,
        pin_net,
        pin,
        summed[0][first],
        summed[1][first],
        forward,
        order,
        device_class,
        time[None],
    )


def by_phases(
    instance: Instance, compute: Callable[[Nets, float], tuple[float, str]], seconds: float
) -> tuple[float, str]:
    """Bound an instance by a bound of max_k load(k), under `split_phases` too.

    The sum of the phases' maxima is at least max_k (FW(k) + BW(k)), which is at least the load of
    both phases together; and it is at least a bound of each phase alone, the two added.
    """
    phases = [f for f in PHASES if (instance.phase == f).any()]
    if not rules_of(instance).split_phases or len(phases) == 1:
        return compute(nets_of(instance), seconds)
    together, note = compute(nets_of(instance), seconds / 3)
    apart = [compute(nets_of(instance, (f,)), seconds / 3) for f in phases]
    total = sum(value for value, _ in apart) * (1 - 1e-15)
    if total > together:
        return total, "each phase alone, added; " + "; ".join(note for _, note in apart)
    return together, f"both phases together; {note}"


def _runs(pairs: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """The distinct first entries of sorted pairs and, for each, the second ones."""
    first, begin = np.unique(pairs[:, 0], return_index=True)
    return first, np.split(pairs[:, 1], begin[1:]) if len(first) else []


def _least_transfers(instance: Instance) -> np.ndarray:
    """Least seconds of each node's payload out of and into each device, shape (2, K, n)."""
    K = instance.K
    result = np.zeros((2, K, instance.n))
    for k in np.flatnonzero(~instance.host):
        if instance.staged:
            result[:, k] = instance.link_time[instance.port[k]]
        elif K > 1:
            others = np.arange(K) != k
            for way, wires in enumerate((instance.wire[k, others], instance.wire[others, k])):
                result[way, k] = instance.link_time[np.unique(wires)].min(axis=0)
    return result


def _classes(
    instance: Instance, time: np.ndarray, cost: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Class of each device and the first device of each class."""
    index: dict[tuple[object, ...], int] = {}
    number = np.array(
        [
            index.setdefault(
                (
                    time[:, k].tobytes(),
                    cost[:, k].tobytes(),
                    float(instance.memory[k]),
                    bool(instance.host[k]),
                ),
                len(index),
            )
            for k in range(instance.K)
        ],
        np.int64,
    )
    return number, np.unique(number, return_index=True)[1]
