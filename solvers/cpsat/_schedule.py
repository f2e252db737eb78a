"""The CP-SAT model of :mod:`solvers.cpsat.intervals`: nodes, arrivals, memory, symmetry."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from problems import latency, ports
from problems.answer import Answer
from problems.bounds.headtail import heads, tails
from problems.instance import Instance
from solvers.cpsat import _ports
from solvers.cpsat._units import unit_of, whole
from solvers.formulations._boundary import Boundary
from solvers.formulations._contract import memory_by_group
from solvers.formulations._orders import relabelled
from solvers.formulations._symmetry import leaders, successors
from solvers.formulations._windows import SAFETY, between, serial

MANY = 4
"""Devices from which on load rows would be too many for a quick presolve."""
FINEST = 40
"""At most two to this power units make the horizon: what 64-bit propagation bears."""


@dataclass(frozen=True, eq=False)
class Program:
    """The CP-SAT model of an instance and its variables.

    Attributes
    ----------
    model : ortools.sat.python.cp_model.CpModel
    symmetry : bool
        Whether like devices are ordered.
    x : list of list
        Literal "group g is on device k", or None where it cannot be.
    begin : list
        Start of every node in units.
    duration : int64 array, shape (n, K)
        Units; 0 where not supported.
    end : int
        Units of the horizon.
    moves : dict
        Transfers by (producer, destination); none without ports.
    """

    instance: Instance
    model: Any
    symmetry: bool
    x: list[list[Any]]
    begin: list[Any]
    makespan: Any
    duration: np.ndarray
    unit: float
    end: int
    order: np.ndarray
    moves: dict[tuple[int, int], _ports.Transfer]

    def units(self, seconds: np.ndarray) -> np.ndarray:
        """Seconds in whole units, rounded down; 0 for what is infinite."""
        return whole(seconds, self.unit, self.end)

    def placed(self, value: Callable[[Any], int]) -> np.ndarray:
        """Device of every node, shape (n,), given the value of a literal."""
        by_group = np.array(
            [next(k for k, on in enumerate(row) if on is not None and value(on)) for row in self.x]
        )
        device: np.ndarray = by_group[self.instance.group].astype(np.int64)
        return device

    def read(self, value: Callable[[Any], int]) -> Answer:
        """The answer of a solution, given as the value of a variable or literal."""
        instance, device = self.instance, self.placed(value)
        begin = np.array([value(variable) for variable in self.begin])
        end = begin + self.duration[np.arange(instance.n), device]
        # A node of no units comes before what starts with it; node numbers are topological.
        sequence = np.lexsort((np.arange(instance.n), end, begin))
        answer = latency.answer_of(instance, device, sequence)
        if not self.moves:
            return answer
        return _ports.read(instance, answer, self.moves, end, self.units, value)

    def hint(self, answer: Answer) -> None:
        """Hint an answer, its starts recomputed in units."""
        instance, model = self.instance, self.model
        answer = latency.complete(instance, answer)
        if self.symmetry:
            answer = relabelled(instance, answer, self.order)
        begin = latency.starts(instance, answer)
        assert begin is not None
        member = np.unique(instance.group, return_index=True)[1]
        for g, row in enumerate(self.x):
            for k, on in enumerate(row):
                if on is not None:
                    model.add_hint(on, k == answer.device[member[g]])
        for v, variable in enumerate(self.begin):
            model.add_hint(variable, int(begin[v] / self.unit))
        model.add_hint(self.makespan, int(latency.makespan(instance, answer) / self.unit))
        if self.moves:
            _ports.hint(instance, model, self.moves, answer, self.unit)


def build(
    instance: Instance,
    upper: float,
    model: Any,
    *,
    symmetry: bool,
    lower: float = 0.0,
    boundary: Boundary | None = None,
) -> Program:
    """Fill a CP-SAT model.

    Parameters
    ----------
    upper : float
        Makespan of a known answer in seconds; inf without one.
    model : ortools.sat.python.cp_model.CpModel
        An empty model.
    lower : float
        Known lower bound on the makespan in seconds.
    symmetry : bool
        Order like devices by first use along the heaviest groups.
    boundary : Boundary, optional
        What is fixed already, and the times to the end of the whole; `upper` and `lower` then are
        of the largest finish + tail. :meth:`Program.hint` and :meth:`Program.read` know nothing
        of it.
    """
    n, K, group = instance.n, instance.K, instance.group
    horizon = upper if math.isfinite(upper) else serial(instance)
    # Rounding loses at most a unit a node and transfer of a path.
    contended = ports.has_ports(instance)
    parts = n + 2 * (min(instance.m, n * (K - 1)) if contended else n)
    unit = unit_of(horizon, parts, FINEST)
    end = int(horizon / unit) + 1

    def units(seconds: np.ndarray) -> np.ndarray:
        return whole(seconds, unit, end)

    duration = units(instance.time)
    head, tail = heads(instance), tails(instance)
    if boundary is not None:
        tail = np.maximum(tail, boundary.tail)
    through = head + instance.time + tail
    possible = np.ones((int(group.max()) + 1, K), bool)
    np.logical_and.at(possible, group, np.isfinite(instance.time))
    if math.isfinite(upper):  # no better answer passes through such a place
        np.logical_and.at(possible, group, through * SAFETY <= upper)
    head, tail = units(head), units(tail)
    x = [
        [model.new_bool_var(f"x{g}_{k}") if possible[g, k] else None for k in range(K)]
        for g in range(len(possible))
    ]
    for row in x:
        model.add_exactly_one([literal for literal in row if literal is not None])
    begin = [model.new_int_var(0, end, f"s{v}") for v in range(n)]
    sent = {}
    if boundary is not None:
        for v in np.flatnonzero(boundary.fixed).tolist():
            at = int(units(boundary.start[v]))
            begin[v] = model.new_int_var(at, at + _ports.PLAY, f"s{v}")
        sent = {key: tuple(units(np.array(at)).tolist()) for key, at in boundary.sent.items()}
    least = min(int(lower / unit * SAFETY), end)
    makespan = model.new_int_var(least, end, "makespan")
    finish = _nodes(instance, model, x, begin, makespan, duration, head, tail)
    _loads(instance, model, x, makespan, duration, head, tail)
    _edges(instance, model, x, begin, finish, units)
    moves = _ports.add(instance, model, x, begin, finish, end, units, sent) if contended else {}
    _memory(instance, model, x)
    order = leaders(instance)
    if symmetry:
        for j, k in successors(instance.device_class):
            earlier: list[Any] = []
            for g in order.tolist():
                if x[g][k] is not None:
                    model.add_bool_or([*earlier, x[g][k].negated()])
                if x[g][j] is not None:
                    earlier.append(x[g][j])
    model.minimize(makespan)
    return Program(instance, model, symmetry, x, begin, makespan, duration, unit, end, order, moves)


def _nodes(
    instance: Instance,
    model: Any,
    x: list[list[Any]],
    begin: list[Any],
    makespan: Any,
    duration: np.ndarray,
    head: np.ndarray,
    tail: np.ndarray,
) -> list[Any]:
    """Intervals, heads and tails; returns the finish of every node as an expression."""
    finish: list[Any] = []
    lanes: list[list[Any]] = [[] for _ in range(instance.K)]
    for v in range(instance.n):
        row = x[instance.group[v]]
        places = [(k, literal) for k, literal in enumerate(row) if literal is not None]
        finish.append(begin[v] + sum(int(duration[v, k]) * on for k, on in places))
        model.add(begin[v] >= sum(int(head[v, k]) * on for k, on in places))
        model.add(makespan >= finish[v] + sum(int(tail[v, k]) * on for k, on in places))
        for k, on in places:
            if not instance.unlimited[k]:
                lanes[k].append(
                    model.new_optional_fixed_size_interval_var(
                        begin[v], int(duration[v, k]), on, f"i{v}_{k}"
                    )
                )
    for lane in lanes:
        if len(lane) > 1:
            model.add_no_overlap(lane)
    return finish


def _loads(
    instance: Instance,
    model: Any,
    x: list[list[Any]],
    makespan: Any,
    duration: np.ndarray,
    head: np.ndarray,
    tail: np.ndarray,
) -> None:
    """What each device has to do between two moments: rows for the relaxation."""
    on = np.array([[literal is not None for literal in x[g]] for g in instance.group])
    early = np.where(on, head, np.iinfo(np.int64).max).min(axis=1)
    late = np.where(on, tail, np.iinfo(np.int64).max).min(axis=1)
    if not on.any(axis=1).all():  # no answer: the rows say so as they are
        return
    for mine in between(early, late, 5 if instance.K <= MANY else 3):
        least = int(early[mine].min() + late[mine].min())
        for k in np.flatnonzero(~instance.unlimited).tolist():
            nodes = np.flatnonzero(mine & on[:, k]).tolist()
            work = sum(int(duration[v, k]) * x[instance.group[v]][k] for v in nodes)
            model.add(makespan >= least + work)


def _edges(
    instance: Instance,
    model: Any,
    x: list[list[Any]],
    begin: list[Any],
    finish: list[Any],
    units: Any,
) -> None:
    links, group = latency.communication(instance), instance.group
    for u in range(instance.n):
        consumers = instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]]
        way = units(instance.link_time[links, u].sum(axis=2))
        pairs = np.argwhere(way > 0).tolist()
        for v in consumers.tolist():
            model.add(begin[v] >= finish[u])
            if group[u] == group[v]:
                continue
            for k, to in pairs:
                source, target = x[group[u]][k], x[group[v]][to]
                if source is not None and target is not None:
                    row = model.add(begin[v] >= finish[u] + int(way[k, to]))
                    row.only_enforce_if(source, target)


def _memory(instance: Instance, model: Any, x: list[list[Any]]) -> None:
    size, shared, weight, reader = memory_by_group(instance)
    total = size.sum() + shared.sum()
    for k in range(instance.K):
        if instance.memory[k] >= total:
            continue
        places = [(int(size[g]), x[g][k]) for g in range(len(x)) if x[g][k] is not None]
        terms = [count * on for count, on in places if count]
        for i, count in enumerate(shared.tolist()):
            held = model.new_bool_var(f"held{i}_{k}")
            for g in reader[weight == i].tolist():
                if x[g][k] is not None:
                    model.add_implication(x[g][k], held)
            terms.append(int(count) * held)
        model.add(sum(terms) <= int(instance.memory[k]))
