"""A `throughput` instance by units and nets: the arrays of :mod:`solvers.moves_throughput`.

A unit is what moves as one: a colocation group or, along a chain, several that the order ties
together. A net is what a unit sends to one set of other units.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from problems import throughput
from problems.instance import Instance
from solvers.by_reference import by_reference

OVERLAP = {"none": 0, "half": 1, "full": 2}


@by_reference
class Problem(NamedTuple):
    """G units, E nets, P phases (2 under `split_phases`), K devices, T shared weights."""

    work: np.ndarray  # (P, G, K); 0 where not supported
    barred: np.ndarray  # (G, K): not supported
    host: np.ndarray  # (K,)
    staged: bool
    port: np.ndarray  # (K,)
    wire: np.ndarray  # (K, K)
    net_time: np.ndarray  # (E, L)
    net_phase: np.ndarray  # (E,)
    net_source: np.ndarray  # (E,)
    net_ptr: np.ndarray  # units that a net goes to, the source apart
    net_pin: np.ndarray
    source_ptr: np.ndarray  # nets that a unit sends
    source_net: np.ndarray
    pin_ptr: np.ndarray  # nets that a unit receives
    pin_net: np.ndarray
    share_ptr: np.ndarray  # shared weights that a unit reads
    share: np.ndarray
    shared_bytes: np.ndarray
    bytes: np.ndarray
    memory: np.ndarray
    pred_ptr: np.ndarray  # neighbours in the order of the chain; empty lists without one
    pred: np.ndarray
    succ_ptr: np.ndarray
    succ: np.ndarray
    overlap: int
    chain: bool


def problem_of(instance: Instance, units: np.ndarray) -> Problem:
    """The arrays of an instance whose nodes move as `units`, numbers 0..G-1, shape (n,)."""
    rules = throughput.rules_of(instance)
    reader = np.repeat(np.arange(len(instance.shared_bytes)), np.diff(instance.shared_ptr))
    reads = np.unique(np.stack([units[instance.shared_node], reader], axis=1), axis=0)
    order = np.zeros((0, 2), np.int64)
    if rules.contiguous:
        # By the instance's own groups: units that tie several together would order otherwise.
        order = units[throughput.order_edges(instance)]
        order = np.unique(order[order[:, 0] != order[:, 1]], axis=0).reshape(-1, 2)
    return assemble(
        instance, units, np.bincount(units, instance.node_bytes), reads, order,
        OVERLAP[rules.overlap], contiguous=rules.contiguous, split=rules.split_phases,
    )  # fmt: skip


def assemble(
    arrays: Any,
    units: np.ndarray,
    unit_bytes: np.ndarray,
    reads: np.ndarray,
    order: np.ndarray,
    overlap: int,
    *,
    contiguous: bool,
    split: bool,
) -> Problem:
    """Put the arrays of a problem together.

    Parameters
    ----------
    arrays : Instance or anything with arrays of the same names
    reads : int array, shape (., 2)
        Pairs (unit, shared weight).
    order : int array, shape (., 2)
        Pairs of units of which the first may not come after the second in the chain.
    """
    G, K = len(unit_bytes), arrays.time.shape[1]
    phase = np.asarray(arrays.phase, np.int64) if split else np.zeros(len(units), np.int64)
    finite = np.isfinite(arrays.time)
    supported = np.ones((G, K), bool)
    np.logical_and.at(supported, units, finite)
    work = np.zeros((2 if split else 1, G, K))
    np.add.at(work, (phase, units), np.where(finite, arrays.time, 0.0))
    source, net_phase, net_time, pin_net, pin_unit = _nets(arrays, units, phase)
    E = len(source)
    return Problem(
        work, ~supported, np.array(arrays.host), bool(arrays.staged), np.array(arrays.port),
        np.array(arrays.wire), net_time, net_phase, source, *_lists(pin_net, pin_unit, E),
        *_lists(source, np.arange(E), G), *_lists(pin_unit, pin_net, G),
        *_lists(reads[:, 0], reads[:, 1], G), np.asarray(arrays.shared_bytes, float),
        np.asarray(unit_bytes, float), np.array(arrays.memory),
        *_lists(order[:, 1], order[:, 0], G), *_lists(order[:, 0], order[:, 1], G),
        overlap, bool(contiguous),
    )  # fmt: skip


def _nets(
    arrays: Any, units: np.ndarray, phase: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Source, phase and seconds over each link of every net; pairs (net, unit it goes to)."""
    G = int(units.max()) + 1
    sender = np.repeat(np.arange(len(units)), np.diff(arrays.succ_ptr))
    away = (units[sender] != units[arrays.succ]) & arrays.link_time.any(axis=0)[sender]
    pairs = np.unique(sender[away] * G + units[arrays.succ[away]])
    sender, target = pairs // G, pairs % G
    # Producers of one unit and phase that go to the same units are one net: equal sums of two
    # random words a unit tell, up to a chance of one in 2**100.
    word = np.random.default_rng(0).integers(0, 2**62, (G, 2), dtype=np.uint64)
    producers, first = np.unique(sender, return_index=True)
    label = np.empty((len(producers), 4), np.uint64)
    label[:, 0], label[:, 1] = phase[producers], units[producers]
    label[:, 2:] = np.add.reduceat(word[target], first) if len(first) else 0
    kept, net = np.unique(label, axis=0, return_index=True, return_inverse=True)[1:]
    net = net.reshape(-1)
    net_time = np.zeros((len(kept), len(arrays.link_time)))
    np.add.at(net_time, net, arrays.link_time[:, producers].T)
    size = np.diff(np.append(first, len(sender)))
    of_pair = np.repeat(np.arange(len(producers)), size)
    mine = (kept[net] == np.arange(len(producers)))[of_pair]
    chosen = producers[kept]
    return units[chosen], phase[chosen], net_time, net[of_pair[mine]], target[mine]


def _lists(key: np.ndarray, value: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """``value[ptr[g]:ptr[g + 1]]``: the values whose key is g."""
    ptr = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=count))]).astype(np.int64)
    return ptr, np.ascontiguousarray(value[np.argsort(key, kind="stable")], np.int64)
