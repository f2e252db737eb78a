"""Throughput: what all answers under a level have in common.

Suppose that the optimum is under t. A device of class c that holds group g and not group h has a
load of at least

    f_c(g, h) = min over sets S with g in S and h not in S of  w_c(S) + out_c(S) + in_c(S)

a minimum cut like f_c(g) of :mod:`problems.bounds.node_cut`, which has no h. Hence

* g is on no device of a class with f_c(g) >= t;
* g and h are on one device if for every two classes c and d that they may be on (the same one only
  if it has two devices) f_c(g, h) >= t or f_d(h, g) >= t: wherever they were apart, one of their
  devices would have too much.

Groups that are together are one group, with the sum of their work and bytes; a net within it costs
nothing. Any bound of what is left bounds the answers under t: the optimum is at least the smaller
of it and t. Cuts around a larger group cost more, so that both rules are used again until nothing
changes. Pairs that no net joins are left out, being together for reasons of their neighbours.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from problems.bounds.allowed import Groups
from problems.bounds.nets import Nets
from problems.bounds.node_cut import MEANS, Effort, MinimumCut, least_loads
from problems.bounds.registry import round_down


def supposing(nets: Nets, t: float, effort: Effort) -> tuple[Nets, np.ndarray] | None:
    """What is left of `nets` if the optimum is under `t` seconds; None if it cannot be.

    Returns
    -------
    left : Nets
        Its groups are those that stay together.
    label : int64 array, shape (G,)
        Number of each group's group in it.
    """
    label = np.arange(len(nets.time))
    while effort.left > 0:
        load = least_loads(nets, effort)
        may = np.isfinite(load) & (load < t) & (nets.bytes[:, None] <= nets.memory)
        if not may.any(axis=1).all():
            return None
        before = nets
        if not np.array_equal(may, np.isfinite(nets.time)):
            nets = forbid(nets, may)
        nets, merged = contract(nets, together(nets, t, effort))
        label = merged[label]
        if nets is before:
            break
        if not np.isfinite(nets.time).any(axis=1).all():
            return None
    return nets, label


def forbid(nets: Nets, may: np.ndarray) -> Nets:
    """`nets` whose group g may go to class c only as `may`, shape (G, C), says."""
    by_device = may[:, nets.device_class]
    groups = nets.groups
    return dataclasses.replace(
        nets,
        time=np.where(may, nets.time, np.inf),
        groups=dataclasses.replace(groups, allowed=groups.allowed & by_device),
        device_time=np.where(by_device, nets.device_time, np.inf),
    )


def together(nets: Nets, t: float, effort: Effort) -> np.ndarray:
    """Number of the class of each group, shape (G,), by the second rule, dearest nets first."""
    cost = (nets.send + nets.receive).max(axis=0)
    order = np.argsort(-cost[nets.pin_net], kind="stable")
    pairs = np.stack([nets.source[nets.pin_net[order]], nets.pin[order]], axis=1)
    label = np.arange(len(nets.time))
    cuts: dict[int, list[MinimumCut]] = {
        c: [MinimumCut(nets, c, mean) for mean in MEANS[nets.overlap]]
        for c in np.flatnonzero(~nets.host).tolist()
    }
    down = round_down(1.0, nets.instance.n)

    def refuted(g: int, h: int) -> np.ndarray:
        """Classes on which g cannot be without h, shape (C,)."""
        no: np.ndarray = ~np.isfinite(nets.time[g])
        for c, networks in cuts.items():
            for each in [] if no[c] else networks:
                if effort.left <= 0 or no[c]:
                    break
                no[c] = bool(down * each.least(g, h) >= t)
                effort.spend(each.arcs)
        return no

    seen = set()
    for g, h in pairs.tolist():
        if effort.left <= 0:
            break
        if label[g] == label[h] or (g, h) in seen:
            continue
        seen |= {(g, h), (h, g)}
        here, there = ~refuted(g, h), ~refuted(h, g)
        apart = here[:, None] & there[None, :]
        apart[np.diag_indices(len(apart))] &= nets.count > 1
        if not apart.any():
            label[label == label[h]] = label[g]
    number: np.ndarray = np.unique(label, return_inverse=True)[1]
    return number


def contract(nets: Nets, label: np.ndarray) -> tuple[Nets, np.ndarray]:
    """`nets` with the groups of one label as one, and the labels; itself if no two have the same.

    Parameters
    ----------
    label : int64 array, shape (G,)
        From 0, without a gap.
    """
    if nets.contiguous:  # a device between two of one device is that device
        a, b = label[nets.order].T
        count = int(label.max()) + 1
        arcs = sparse.coo_array((np.ones(len(a)), (a, b)), shape=(count, count))
        label = connected_components(arcs, connection="strong")[1][label].astype(np.int64)
    G, count = len(label), int(label.max()) + 1
    if count == G:
        return nets, np.arange(G)

    def summed(values: np.ndarray) -> np.ndarray:
        result = np.zeros((count, *values.shape[1:]), values.dtype)
        np.add.at(result, label, values)
        return result

    groups = nets.groups
    allowed = summed(~groups.allowed) == 0
    size, shared = summed(groups.bytes), []
    for held, readers in groups.shared:
        reading = np.unique(label[readers])
        if len(reading) > 1:
            shared.append((held, reading))
        else:
            size[reading[0]] += held
    time = np.where(allowed, np.swapaxes(summed(np.swapaxes(groups.time, 0, 1)), 0, 1), np.inf)
    keys: dict[tuple[int, ...], list[int]] = {}
    ends = np.cumsum(np.bincount(nets.pin_net, minlength=len(nets.source)))
    pins = np.split(label[nets.pin], ends)[:-1]
    for e, (a, own) in enumerate(zip(label[nets.source].tolist(), pins, strict=True)):
        rest = [g for g in np.unique(own).tolist() if g != a]
        if rest:
            keys.setdefault((a, *rest), []).append(e)
    merged = [nets.send[:, e].sum(axis=1) for e in keys.values()]
    received = [nets.receive[:, e].sum(axis=1) for e in keys.values()]
    C = len(nets.count)
    order = label[nets.order].reshape(-1, 2)
    order = np.unique(order[order[:, 0] != order[:, 1]], axis=0).reshape(-1, 2)
    pairs = set(map(tuple, order.tolist()))
    left = dataclasses.replace(
        nets,
        groups=Groups(time, size, allowed, shared),
        time=summed(nets.time),
        bytes=size.astype(float),
        source=np.array([key[0] for key in keys], np.int64),
        pin_net=np.repeat(np.arange(len(keys)), [len(key) - 1 for key in keys]).astype(np.int64),
        pin=np.array([g for key in keys for g in key[1:]], np.int64),
        send=np.array(merged).reshape(-1, C).T,
        receive=np.array(received).reshape(-1, C).T,
        forward=np.array([all((key[0], g) in pairs for g in key[1:]) for key in keys], bool),
        order=order,
        device_time=np.swapaxes(summed(np.swapaxes(nets.device_time, 0, 1)), 0, 1),
    )
    return left, label
