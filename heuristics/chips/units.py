"""A `chips` instance as units that share a chip, with what they feed each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from problems import chips
from problems.instance import Instance
from problems.rules import ChipsRules
from solvers.by_reference import by_reference
from solvers.repair.problem import Problem
from solvers.repair.units import problem_of

OVERLAP = {"none": 0, "half": 1, "full": 2}


@by_reference
class Nets(NamedTuple):
    """U units on C chips and the J payloads that leave their unit.

    Attributes
    ----------
    time : float64 array, shape (U,)
        Seconds of a unit on any chip.
    owner : int64 array, shape (J,)
        Unit that produces a payload, ascending.
    own_ptr : int64 array, shape (U + 1,)
        Payloads of every unit.
    reader_ptr, reader : int64 arrays, shapes (J + 1,), (.,)
        Other units that read a payload.
    read_ptr, read : int64 arrays, shapes (U + 1,), (.,)
        Payloads that a unit reads.
    hop : float64 array, shape (C, J)
        Seconds of a payload from chip c to the next; 0 for the last chip.
    through : bool
        Whether a payload loads every link up to its last reader, once.
    overlap : int
        0 none, 1 half, 2 full.
    """

    time: np.ndarray
    owner: np.ndarray
    own_ptr: np.ndarray
    reader_ptr: np.ndarray
    reader: np.ndarray
    read_ptr: np.ndarray
    read: np.ndarray
    hop: np.ndarray
    through: bool
    overlap: int


class Units(NamedTuple):
    """What heuristics of `chips` work on.

    Attributes
    ----------
    unit : int64 array, shape (n,)
        Unit of every node.
    problem : Problem
        The rules of the units.
    nets : Nets
        The objective of the units.
    """

    unit: np.ndarray
    problem: Problem
    nets: Nets


def build_units(instance: Instance) -> Units:
    """The units of an instance.

    Raises
    ------
    ValueError
        If it is an instance of another problem.
    """
    rules = chips.rules_of(instance)
    unit, problem = problem_of(instance)
    return Units(unit, problem, _nets(instance, unit, rules))


def _nets(instance: Instance, unit: np.ndarray, rules: ChipsRules) -> Nets:
    U, C = int(unit.max()) + 1, instance.K
    producer, reader = instance.edges[:, 0], unit[instance.edges[:, 1]]
    leaves = unit[producer] != reader
    pairs = np.unique(np.stack([producer[leaves], reader[leaves]], axis=1), axis=0)
    nodes = np.unique(pairs[:, 0])
    nodes = nodes[np.argsort(unit[nodes], kind="stable")]
    net = np.empty(instance.n, np.int64)
    net[nodes] = np.arange(len(nodes))
    pairs[:, 0] = net[pairs[:, 0]]
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    by_reader = np.lexsort((pairs[:, 0], pairs[:, 1]))
    owner = unit[nodes].astype(np.int64)
    hop = np.zeros((C, len(nodes)))
    hop[:-1] = instance.link_time[chips.hops(instance)][:, nodes]
    return Nets(
        time=np.bincount(unit, instance.time[:, 0], U),
        owner=owner,
        own_ptr=np.searchsorted(owner, np.arange(U + 1)).astype(np.int64),
        reader_ptr=np.searchsorted(pairs[:, 0], np.arange(len(nodes) + 1)).astype(np.int64),
        reader=np.ascontiguousarray(pairs[:, 1]),
        read_ptr=np.searchsorted(pairs[by_reader, 1], np.arange(U + 1)).astype(np.int64),
        read=np.ascontiguousarray(pairs[by_reader, 0]),
        hop=hop,
        through=rules.through_traffic,
        overlap=OVERLAP[rules.overlap],
    )
