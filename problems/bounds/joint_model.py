"""The rows and columns of the joint LP: :mod:`problems.bounds.joint_lp` says what they mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from problems.bounds.allowed import Groups, groups_of
from problems.bounds.certify import LinearProgram
from problems.bounds.headtail import heads, tails
from problems.bounds.propagation import State
from problems.instance import Instance
from problems.latency import communication

ROUNDED = 1e-12  # how far heads and tails are lowered: more than their rounding


@dataclass(frozen=True, eq=False)
class Joint:
    """The LP with what its windows are made of; C classes of alike devices.

    Attributes
    ----------
    program : LinearProgram
        In units of time of the caller's choice.
    place : int64 array, shape (n, C)
        Column of x for a node's group and a class.
    makespan : int
        Column of L.
    able : bool array, shape (n, C)
        Whether a node can be there.
    time, head, tail : float64 arrays, shape (n, C)
        p, H and T in the unit; 0 where a node cannot be.
    count : int64 array, shape (C,)
        Devices of a class.
    limited : bool array, shape (C,)
    memory_row : int64 array, shape (C,)
        Row of a class's memory; -1 without a limit.
    """

    program: LinearProgram
    place: np.ndarray
    makespan: int
    able: np.ndarray
    time: np.ndarray
    head: np.ndarray
    tail: np.ndarray
    count: np.ndarray
    limited: np.ndarray
    memory_row: np.ndarray


class _Rows:
    """Collects rows `>= right` or `= right`."""

    def __init__(self) -> None:
        self.count = 0
        self._row: list[np.ndarray] = []
        self._column: list[np.ndarray] = []
        self._value: list[np.ndarray] = []
        self._right: list[np.ndarray] = []
        self._equal: list[np.ndarray] = []

    def add(self, count: int, *parts: Any, right: float = 0.0, equal: bool = False) -> None:
        """Add rows; each part is (row from 0, column, value), broadcast against one another."""
        for part in parts:
            row, column, value = np.broadcast_arrays(*part)
            self._row.append(row.ravel() + self.count)
            self._column.append(column.ravel())
            self._value.append(value.ravel().astype(float))
        self._right.append(np.full(count, right))
        self._equal.append(np.full(count, equal))
        self.count += count

    def program(self, cost: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> LinearProgram:
        place = np.concatenate(self._row), np.concatenate(self._column)
        shape = (self.count, len(cost))
        matrix = sparse.csr_array((np.concatenate(self._value), place), shape=shape)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        right, equal = np.concatenate(self._right), np.concatenate(self._equal)
        return LinearProgram(cost, lower, upper, matrix, right, equal)


def renumbered(cluster: np.ndarray) -> np.ndarray:
    """Numbers 0, 1, ... by first member, as an instance has them."""
    first, inverse = np.unique(cluster, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first))[inverse]


def size(instance: Instance) -> int:
    """Columns for transfers, at most."""
    classes = int(instance.device_class.max()) + 1
    return instance.m * (classes if instance.staged else classes**2)


def build(instance: Instance, unit: float, horizon: float, left: State | None = None) -> Joint:
    """The LP without windows, in units of `unit` seconds; starts and L are at most `horizon`.

    Parameters
    ----------
    left : State or None
        What is left under some limit: the LP then holds for schedules within it.
    """
    if left is not None:
        instance = replace(instance, group=renumbered(left.cluster))
    one, count = np.unique(instance.device_class, return_index=True, return_counts=True)[1:]
    groups = groups_of(instance)
    may = groups.allowed[:, one]
    if left is not None:
        may = may & left.allowed[left.cluster[np.unique(instance.group, return_index=True)[1]]]
    able = may[instance.group]

    def in_units(values: np.ndarray) -> np.ndarray:
        return np.where(able, values[:, one], 0.0) / unit

    time = in_units(instance.time)
    if left is None:
        head, tail = ((1 - ROUNDED) * in_units(f(instance)) for f in (heads, tails))
    else:
        ends = (left.head, left.tail)
        head, tail = ((1 - ROUNDED) * np.where(able, x, 0.0) / unit for x in ends)
    (G, C), n = may.shape, instance.n
    x = np.arange(G * C).reshape(G, C)
    place, start, makespan = x[instance.group], G * C + np.arange(n), G * C + n
    upper = [may.ravel().astype(float), np.full(n + 1, horizon)]
    rows, v = _Rows(), np.arange(n)
    rows.add(G, (np.arange(G)[:, None], x, 1.0), right=1.0, equal=True)
    rows.add(n, (v, start, 1.0), (v[:, None], place, -head))
    rows.add(n, (v, makespan, 1.0), (v, start, -1.0), (v[:, None], place, -(time + tail)))
    u, w = instance.edges.T
    e = np.arange(instance.m)
    sums = [(e, start[w], 1.0), (e, start[u], -1.0), (e[:, None], place[u], -time[u])]
    transfers = _staged if instance.staged else _direct
    delay, columns = transfers(instance, one, unit, x, may, rows, makespan + 1)
    rows.add(instance.m, *sums, delay)
    upper.append(columns)
    limited = ~instance.unlimited[one]
    for c in np.flatnonzero(limited):
        rows.add(1, (0, place[:, c], -time[:, c]), (0, makespan, count[c]))
    held, memory_row = _memory(
        instance.memory[one], count, groups, x, rows, makespan + 1 + len(columns)
    )
    upper += held
    top = np.concatenate(upper)
    cost = np.zeros(len(top))
    cost[makespan] = 1.0
    program = rows.program(cost, np.zeros(len(top)), top)
    return Joint(program, place, makespan, able, time, head, tail, count, limited, memory_row)


def _pairs(instance: Instance) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Edges between different groups; pairs of groups, first and second; the pair of each edge."""
    u, w = instance.group[instance.edges].T
    crossing = np.flatnonzero(u != w)
    G = int(instance.group.max()) + 1
    pair, of = np.unique(u[crossing] * G + w[crossing], return_inverse=True)
    return crossing, pair // G, pair % G, of


def _staged(
    instance: Instance,
    one: np.ndarray,
    unit: float,
    x: np.ndarray,
    may: np.ndarray,
    rows: _Rows,
    base: int,
) -> tuple[Any, np.ndarray]:
    """The delay within the edges' rows, and upper limits of the new columns |x_u - x_v|."""
    crossing, a, b, of = _pairs(instance)
    ported = np.flatnonzero(instance.port[one] > 0)
    moved = base + np.arange(len(a) * len(ported)).reshape(len(a), len(ported))
    row = moved - base
    for sign in (1.0, -1.0):
        part = (row, moved, 1.0), (row, x[a][:, ported], -sign), (row, x[b][:, ported], sign)
        rows.add(moved.size, *part)
    seconds = instance.link_time[instance.port[one[ported]]][:, instance.edges[crossing, 0]].T
    return (crossing[:, None], moved[of], -seconds / unit), np.ones(moved.size)


def _direct(
    instance: Instance,
    one: np.ndarray,
    unit: float,
    x: np.ndarray,
    may: np.ndarray,
    rows: _Rows,
    base: int,
) -> tuple[Any, np.ndarray]:
    """The delay within the edges' rows, and upper limits of the new columns y."""
    crossing, a, b, of = _pairs(instance)
    P, C = len(a), len(one)
    y = base + np.arange(P * C * C).reshape(P, C, C)
    row = np.arange(P * C).reshape(P, C)
    rows.add(P * C, (row[:, :, None], y, 1.0), (row, x[a], -1.0), equal=True)
    rows.add(P * C, (row[:, None, :], y, 1.0), (row, x[b], -1.0), equal=True)
    links = communication(instance)[np.ix_(one, one)]
    links[np.arange(C), np.arange(C)] = 0
    # One payload at a time would be slow, all links at once large: index the table directly.
    u = instance.edges[crossing, 0]
    seconds = instance.link_time[links.sum(axis=2)][:, :, u].transpose(2, 0, 1)
    upper = (may[a][:, :, None] & may[b][:, None, :]).astype(float)
    return (crossing[:, None, None], y[of], -seconds / unit), upper.ravel()


def _memory(
    memory: np.ndarray,
    count: np.ndarray,
    groups: Groups,
    x: np.ndarray,
    rows: _Rows,
    base: int,
) -> tuple[list[np.ndarray], np.ndarray]:
    """Add the memory rows; upper limits of the new columns w, and the row of each class."""
    place = np.full(len(memory), -1)
    upper, G, W = [], np.arange(len(x)), len(groups.shared)
    held = np.array([size for size, _ in groups.shared], float)
    for c in np.flatnonzero(np.isfinite(memory)):
        room = max(float(memory[c]), 1.0)
        parts: list[Any] = [(0, x[G, c], -groups.bytes / room)]
        if W:
            w = base + np.arange(W)
            base += W
            upper.append(np.ones(W))
            parts.append((0, w, -held / room))
            reader = np.concatenate([readers for _, readers in groups.shared])
            of = np.repeat(w, [len(readers) for _, readers in groups.shared])
            r = np.arange(len(reader))
            rows.add(len(r), (r, of, 1.0), (r, x[reader, c], -1.0))
        place[c] = rows.count
        rows.add(1, *parts, right=-float(count[c]) * float(memory[c]) / room)
    return upper, place
