"""The CP-SAT model of :mod:`solvers.cpsat.slots`: placement, memory, calls, symmetry."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from problems import calls
from problems.answer import Answer
from problems.bounds.headtail import heads, tails
from problems.instance import Instance
from solvers.cpsat._units import whole
from solvers.formulations._contract import memory_by_group
from solvers.formulations._symmetry import canonical, leaders, successors
from solvers.formulations._windows import SAFETY

BITS = 30
"""Units of the horizon, in bits: a thousand roundings along a path lose less than a part in 1e6.
Finer units are what it takes to meet a fault that :func:`problems.cp_sat.keep_sound` avoids."""


@dataclass(frozen=True, eq=False)
class Program:
    """The CP-SAT model of an instance and its variables.

    Attributes
    ----------
    model : ortools.sat.python.cp_model.CpModel
    symmetry : bool
        Whether like devices are ordered.
    d : list of list
        Literal "group g is on device k", or None where it cannot be.
    x : list of dict
        Slot of (accelerator, number) -> literal "node v runs in it".
    """

    instance: Instance
    model: Any
    symmetry: bool
    d: list[list[Any]]
    x: list[dict[tuple[int, int], Any]]
    total: Any
    unit: float
    order: np.ndarray

    def read(self, value: Callable[[Any], int]) -> Answer:
        """The answer of a solution, given as the value of a variable or literal."""
        placed = np.array(
            [next(k for k, on in enumerate(row) if on is not None and value(on)) for row in self.d]
        )
        slot = [next((j for (_, j), on in row.items() if value(on)), -1) for row in self.x]
        return Answer.of(placed[self.instance.group], slot=slot)

    def hint(self, answer: Answer) -> None:
        """Hint an answer; its times follow."""
        instance, model = self.instance, self.model
        whole = calls.compact(instance, answer)
        assert whole.slot is not None
        placed = answer.device[np.unique(instance.group, return_index=True)[1]]
        if self.symmetry:
            placed = canonical(self.order, placed, instance.device_class)
        for g, row in enumerate(self.d):
            for k, on in enumerate(row):
                if on is not None:
                    model.add_hint(on, k == placed[g])
        if calls.most_slots(instance) > 1:  # else the slots are the devices
            device = placed[instance.group]
            for v, slots_of in enumerate(self.x):
                for (k, j), on in slots_of.items():
                    model.add_hint(on, k == device[v] and j == whole.slot[v])
        model.add_hint(self.total, int(calls.makespan(instance, whole) / self.unit))


def build(instance: Instance, upper: float, model: Any, *, symmetry: bool) -> Program:
    """Fill a CP-SAT model.

    Parameters
    ----------
    upper : float
        Latency of a known answer in seconds; inf without one.
    model : ortools.sat.python.cp_model.CpModel
        An empty model.
    symmetry : bool
        Order like devices by first use along the heaviest groups, and use slots without gaps.
    """
    finite = np.isfinite(instance.time)
    seconds = np.where(finite, instance.time, 0.0)
    tau = instance.link_time[instance.port].T
    readers = np.diff(instance.succ_ptr)
    # Everything one after another, each payload read by every consumer apart.
    longest = seconds.max(axis=1).sum() + ((readers + 1) * tau.max(axis=1)).sum()
    horizon = upper if math.isfinite(upper) else float(longest) or 1.0
    unit = horizon / 2.0**BITS
    end = int(horizon / unit * (1 + 1e-9)) + 1
    duration, transfer = (whole(each, unit, end) for each in (seconds, tau))
    # Heads and tails of schedules, which answers are in a way: see problems.bounds.calls_path.
    head, tail = heads(instance), tails(instance)
    through = head + instance.time + tail
    possible = np.isfinite(through)
    if math.isfinite(upper):  # no better answer passes through such a place
        possible &= through * SAFETY <= upper
    d, x = _placement(instance, model, finite & possible)
    ends = np.where(possible, head + instance.time, 0.0), np.where(possible, tail, 0.0)
    head, tail = (whole(each, unit, end) for each in ends)
    _memory(instance, model, d)
    keys = [
        (int(k), j)
        for k in np.flatnonzero(~instance.host)
        for j in range(calls.most_slots(instance))
    ]
    total = model.new_int_var(0, end, "total")
    done = [model.new_int_var(0, end, f"done{v}") for v in range(instance.n)]
    level = [model.new_int_var(0, len(keys), f"level{v}") for v in range(instance.n)]
    for each in done:
        model.add(total >= each)
    _paths(instance, model, d, (done, level, total), duration, (head, tail), end)
    before: tuple[Any, Any] | None = None
    for k, j in keys:
        moved = transfer[:, k], duration[:, k]
        start, finish, rank = _call(instance, model, x, (k, j), done, level, moved, end, len(keys))
        if j and before is not None:
            model.add(start >= before[0])
            model.add(rank >= before[1] + 1)
        model.add(total >= finish)
        before = finish, rank
    order = leaders(instance)
    if symmetry:
        _symmetry(instance, model, d, x, order, keys)
    model.minimize(total)
    return Program(instance, model, symmetry, d, x, total, unit, order)


def _placement(
    instance: Instance, model: Any, finite: np.ndarray
) -> tuple[list[list[Any]], list[dict[tuple[int, int], Any]]]:
    possible = np.ones((int(instance.group.max()) + 1, instance.K), bool)
    np.logical_and.at(possible, instance.group, finite)
    d = [
        [model.new_bool_var(f"d{g}_{k}") if possible[g, k] else None for k in range(instance.K)]
        for g in range(len(possible))
    ]
    for row in d:
        model.add_exactly_one([literal for literal in row if literal is not None])
    x: list[dict[tuple[int, int], Any]] = []
    q = calls.most_slots(instance)
    for v in range(instance.n):
        x.append({})
        for k, on in enumerate(d[instance.group[v]]):
            if on is None or instance.host[k]:
                continue
            if q == 1:
                x[v][k, 0] = on
                continue
            for j in range(q):
                x[v][k, j] = model.new_bool_var(f"x{v}_{k}_{j}")
            model.add_exactly_one([*(x[v][k, j] for j in range(q)), on.negated()])
    return d, x


def _memory(instance: Instance, model: Any, d: list[list[Any]]) -> None:
    size, shared, weight, reader = memory_by_group(instance)
    total = size.sum() + shared.sum()
    for k in range(instance.K):
        if instance.memory[k] >= total:
            continue
        terms = [int(size[g]) * row[k] for g, row in enumerate(d) if row[k] is not None]
        for i, count in enumerate(shared.tolist()):
            held = model.new_bool_var(f"held{i}_{k}")
            for g in reader[weight == i].tolist():
                if d[g][k] is not None:
                    model.add_implication(d[g][k], held)
            terms.append(int(count) * held)
        model.add(sum(terms) <= int(instance.memory[k]))


def _paths(
    instance: Instance,
    model: Any,
    d: list[list[Any]],
    times: tuple[list[Any], list[Any], Any],
    duration: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray],
    end: int,
) -> None:
    """Host nodes, levels, and the chains of computing that run through calls, too.

    A chain passes node v at ``path[v]`` if the nodes of each call run one after another; `ends` are
    the least such time and what is left after it, by node and device.
    """
    done, level, total = times
    head, tail = ends
    path = [model.new_int_var(0, end, f"path{v}") for v in range(instance.n)]
    for v in range(instance.n):
        row = [(k, on) for k, on in enumerate(d[instance.group[v]]) if on is not None]
        host = sum(int(duration[v, k]) * on for k, on in row if instance.host[k])
        any_device = sum(int(duration[v, k]) * on for k, on in row)
        producers = instance.pred[instance.pred_ptr[v] : instance.pred_ptr[v + 1]].tolist()
        for u in producers:
            model.add(done[v] >= done[u] + host)
            model.add(path[v] >= path[u] + any_device)
            model.add(level[v] >= level[u])
        if not producers:
            model.add(done[v] >= host)
            model.add(path[v] >= any_device)
        model.add(done[v] >= path[v])
        model.add(path[v] >= sum(int(head[v, k]) * on for k, on in row))
        model.add(total >= path[v] + sum(int(tail[v, k]) * on for k, on in row))


def _call(
    instance: Instance,
    model: Any,
    x: list[dict[tuple[int, int], Any]],
    key: tuple[int, int],
    done: list[Any],
    level: list[Any],
    moved: tuple[np.ndarray, np.ndarray],
    end: int,
    ranks: int,
) -> tuple[Any, Any, Any]:
    """Start, finish and rank of one call, with its transfers."""
    transfer, duration = moved
    name = f"{key[0]}_{key[1]}"
    start = model.new_int_var(0, end, f"start{name}")
    finish = model.new_int_var(0, end, f"finish{name}")
    rank = model.new_int_var(1, ranks, f"rank{name}")
    terms: list[Any] = []
    for u in range(instance.n):
        consumers = instance.succ[instance.succ_ptr[u] : instance.succ_ptr[u + 1]].tolist()
        mine = x[u].get(key)
        if mine is not None:
            terms.append(int(duration[u]) * mine)
            model.add(done[u] >= finish).only_enforce_if(mine)
            model.add(level[u] >= rank).only_enforce_if(mine)
        into, out = model.new_bool_var(f"in{u}_{name}"), model.new_bool_var(f"out{u}_{name}")
        for v in consumers:
            theirs = x[v].get(key)
            if theirs is not None:  # v in, u not: u's payload goes in
                model.add_bool_or([into, theirs.negated(), *([] if mine is None else [mine])])
            if mine is not None:  # u in, v not: u's payload goes out
                model.add_bool_or([out, mine.negated(), *([] if theirs is None else [theirs])])
        if consumers:
            model.add(start >= done[u]).only_enforce_if(into)
            model.add(rank >= level[u] + 1).only_enforce_if(into)
            terms += [int(transfer[u]) * into, int(transfer[u]) * out]
    model.add(finish >= start + sum(terms))
    return start, finish, rank


def _symmetry(
    instance: Instance,
    model: Any,
    d: list[list[Any]],
    x: list[dict[tuple[int, int], Any]],
    order: np.ndarray,
    keys: list[tuple[int, int]],
) -> None:
    for j, k in successors(instance.device_class):
        earlier: list[Any] = []
        for g in order.tolist():
            if d[g][k] is not None:
                model.add_bool_or([*earlier, d[g][k].negated()])
            if d[g][j] is not None:
                earlier.append(d[g][j])
    for k, j in keys:
        if j:  # a slot is used only if the one before it is
            used = model.new_bool_var(f"used{k}_{j - 1}")
            model.add_bool_or([used.negated(), *(row[k, j - 1] for row in x if (k, j - 1) in row)])
            for row in x:
                if (k, j) in row:
                    model.add_implication(row[k, j], used)
