"""`calls`: the slot MILP of Tarnawski et al. 2020, without its too small big-M.

x[v, s] = 1 iff node v runs in slot s, one of q of each accelerator. The published rows bound every
time by the sum of all CPU times, which cuts off answers that are slower and yet the best; here a
known answer bounds them, or else the sum of everything that can take time. Times alone allow calls
that take none to wait for each other in a circle: ranks forbid it.
"""

from __future__ import annotations

import math

import numpy as np

from problems import calls
from problems.answer import Answer
from problems.bounds.headtail import heads, tails
from problems.instance import Instance
from solvers.formulations._call_values import call_times, path_times, ranks
from solvers.formulations._contract import memory_by_group
from solvers.formulations._symmetry import canonical, leaders, successors
from solvers.formulations._windows import SAFETY
from solvers.model import Builder, Model

PROBLEMS = ("calls",)
SOURCE = "Tarnawski et al. 2020 (arXiv 2006.16423), appendix A; path rows, ranks: this suite"
LARGEST = 200_000
"""Nodes x slots that are taken: beyond, solvers do not get through the first relaxation."""


def refuses(instance: Instance) -> str | None:
    """Why the formulation cannot take the instance, or None."""
    size = instance.n * int((~instance.host).sum()) * calls.most_slots(instance)
    if size > LARGEST:
        limit = calls.rules_of(instance).slots
        what = "" if limit is not None else " (without a limit, one slot a node and accelerator)"
        return f"{size} nodes x slots{what}, more than {LARGEST}"
    return None


def build(instance: Instance, *, symmetry: bool, upper: float, scale: float) -> Model:
    """All variables and rows.

    Parameters
    ----------
    symmetry : bool
        Order like devices by first use along the heaviest groups, and use slots without gaps.
    upper : float
        Known upper bound on the objective in seconds; inf without one.
    scale : float
        Seconds a unit.
    """
    part = _Slots(instance, symmetry, upper, scale)
    return part.builder.build(scale, part.read, part.encode)


class _Slots:
    """The model and its columns.

    Attributes
    ----------
    d : int64 array, shape (G, K)
        Group g is on device k.
    x : int64 array, shape (n, S)
        Slot s = a q + j is call j of accelerator ``on[s] = accelerators[a]``.
    into, out : int64 arrays, shape (n, S)
        Producer u's payload enters, leaves slot s.
    start, finish, rank : int64 arrays, shape (S,)
    latency, level, path : int64 arrays, shape (n,)
        L(v), the rank of its part, and the longest path of compute to it.
    """

    def __init__(self, instance: Instance, symmetry: bool, upper: float, scale: float) -> None:
        self.instance, self.symmetry, self.scale = instance, symmetry, scale
        self.builder = Builder()
        accelerators = np.flatnonzero(~instance.host)
        self.q = calls.most_slots(instance)
        self.on = np.repeat(accelerators, self.q)
        self.S = len(self.on)
        finite = np.isfinite(instance.time)
        self.seconds = np.where(finite, instance.time, 0.0) / scale
        self.tau = instance.link_time[instance.port[self.on]].T / scale
        worst = self.seconds.max(axis=1).sum() + 2 * (self.tau.max(axis=1, initial=0.0)).sum()
        if self.S > 1:  # every payload may enter as many slots as it has consumers
            consumers = np.minimum(np.diff(instance.succ_ptr), self.S)
            worst += (consumers * self.tau.max(axis=1)).sum()
        self.most = float(upper / scale) if math.isfinite(upper) else float(worst) + 1e-6
        self.order = leaders(instance)
        self._variables(finite)
        self._placement()
        self._times()
        self._ranks()
        if symmetry:
            self._symmetry()

    def _variables(self, finite: np.ndarray) -> None:
        instance, builder, n, S = self.instance, self.builder, self.instance.n, self.S
        supported = np.ones((int(instance.group.max()) + 1, instance.K), bool)
        np.logical_and.at(supported, instance.group, finite)
        self.d = builder.variables("d", supported.shape, upper=supported, integer=True)
        allowed = supported[instance.group][:, self.on]
        self.x = builder.variables("x", (n, S), upper=allowed, integer=True)
        feeds = (np.diff(instance.succ_ptr) > 0)[:, None] & np.ones(S, bool)
        self.into = builder.variables("in", (n, S), upper=feeds, implied=True)
        self.out = builder.variables("out", (n, S), upper=feeds, implied=True)
        self.start = builder.variables("start", (S,), upper=self.most)
        self.finish = builder.variables("finish", (S,), upper=self.most)
        self.latency = builder.variables("latency", (n,), upper=self.most)
        self.path = builder.variables("path", (n,), upper=self.most)
        self.rank = builder.variables("rank", (S,), lower=1.0, upper=S)
        self.level = builder.variables("level", (n,), upper=S)
        self.total = builder.variables("total", (1,), upper=self.most, cost=1.0)

    def _placement(self) -> None:
        instance, builder, d, x = self.instance, self.builder, self.d, self.x
        G, n = len(d), instance.n
        builder.add(builder.rows("place", (G,), lower=1.0, upper=1.0)[:, None], d, 1.0)
        accelerators = self.on[:: self.q]
        rows = builder.rows("slots", (n, len(accelerators)), lower=0.0, upper=0.0)
        builder.add(np.repeat(rows, self.q, axis=1), x, 1.0)
        builder.add(rows, d[instance.group][:, accelerators], -1.0)
        u, v = instance.edges.T
        for name, flag, inner, outer in (("enter", self.into, v, u), ("leave", self.out, u, v)):
            rows = builder.rows(name, (len(u), self.S), lower=0.0)
            builder.add(rows, flag[u], 1.0)
            builder.add(rows, x[inner], -1.0)
            builder.add(rows, x[outer], 1.0)
        self._memory()

    def _memory(self) -> None:
        instance, builder = self.instance, self.builder
        size, shared, weight, reader = memory_by_group(instance)
        limited = np.flatnonzero(instance.memory < size.sum() + shared.sum())
        self.limited, self.readers = limited, (weight, reader)
        self.held = builder.variables("held", (len(shared), len(limited)))
        rows = builder.rows("held", (len(weight), len(limited)), lower=0.0)
        builder.add(rows, self.held[weight], 1.0)
        builder.add(rows, self.d[reader][:, limited], -1.0)
        unit = np.where(instance.memory[limited] > 0, instance.memory[limited], 1.0)
        room = instance.memory[limited] / unit
        rows = builder.rows("memory", (len(limited),), upper=room)
        builder.add(rows, self.d[:, limited], size[:, None] / unit)
        builder.add(rows, self.held, shared[:, None] / unit)

    def _times(self) -> None:
        instance, builder, most = self.instance, self.builder, self.most
        n, S, seconds = instance.n, self.S, self.seconds
        hosts = np.flatnonzero(instance.host)
        u, v = instance.edges.T
        group = instance.group
        rows = builder.rows("finish", (S,), lower=0.0, upper=0.0)
        builder.add(rows, self.finish, 1.0)
        builder.add(rows, self.start, -1.0)
        builder.add(rows, self.x, -seconds[:, self.on])
        builder.add(rows, self.into, -self.tau)
        builder.add(rows, self.out, -self.tau)
        first = np.setdiff1d(np.arange(n), v)
        for name, time, ks in (
            ("host", self.latency, hosts),
            ("path", self.path, np.arange(instance.K)),
        ):
            for kind, nodes in (("first", first), ("edge", v)):
                rows = builder.rows(f"{name} {kind}", (len(nodes),), lower=0.0)
                builder.add(rows, time[nodes], 1.0)
                builder.add(rows[:, None], self.d[group[nodes]][:, ks], -seconds[nodes][:, ks])
                if kind == "edge":
                    builder.add(rows, time[u], -1.0)
        # Heads and tails of schedules, which answers are in a way: see problems.bounds.calls_path.
        head, tail = heads(instance) + instance.time, tails(instance)
        possible = np.isfinite(head + tail)
        head, tail = (np.where(possible, each, 0.0) * SAFETY / self.scale for each in (head, tail))
        self.head = head
        rows = builder.rows("head", (n,), lower=0.0)
        builder.add(rows, self.path, 1.0)
        builder.add(rows[:, None], self.d[group], -head)
        rows = builder.rows("tail", (n,), lower=0.0)
        builder.add(rows, self.total, 1.0)
        builder.add(rows, self.path, -1.0)
        builder.add(rows[:, None], self.d[group], -tail)
        # A node is done no earlier than a chain of computing to it.
        rows = builder.rows("path done", (n,), lower=0.0)
        builder.add(rows, self.latency, 1.0)
        builder.add(rows, self.path, -1.0)
        rows = builder.rows("called", (n, S), lower=-most)
        builder.add(rows, self.latency[:, None], 1.0)
        builder.add(rows, self.finish, -1.0)
        builder.add(rows, self.x, -most)
        rows = builder.rows("fed", (n, S), lower=-most)
        builder.add(rows, self.start, 1.0)
        builder.add(rows, self.latency[:, None], -1.0)
        builder.add(rows, self.into, -most)
        self._chain("after", self.finish, self.start, 0.0)
        for name, times in (("last", self.latency), ("last call", self.finish)):
            rows = builder.rows(name, times.shape, lower=0.0)
            builder.add(rows, self.total, 1.0)
            builder.add(rows, times, -1.0)

    def _chain(self, name: str, before: np.ndarray, after: np.ndarray, gap: float) -> None:
        slots = np.flatnonzero(np.arange(self.S) % self.q)
        rows = self.builder.rows(name, slots.shape, lower=gap)
        self.builder.add(rows, after[slots], 1.0)
        self.builder.add(rows, before[slots - 1], -1.0)

    def _ranks(self) -> None:
        builder, n, S = self.builder, self.instance.n, self.S
        u, v = self.instance.edges.T
        rows = builder.rows("level", (len(u),), lower=0.0)
        builder.add(rows, self.level[v], 1.0)
        builder.add(rows, self.level[u], -1.0)
        rows = builder.rows("level of call", (n, S), lower=-S)
        builder.add(rows, self.level[:, None], 1.0)
        builder.add(rows, self.rank, -1.0)
        builder.add(rows, self.x, -S)
        rows = builder.rows("level of feeder", (n, S), lower=-S)
        builder.add(rows, self.rank, 1.0)
        builder.add(rows, self.level[:, None], -1.0)
        builder.add(rows, self.into, -S - 1.0)
        self._chain("rank", self.rank, self.rank, 1.0)

    def _symmetry(self) -> None:
        builder, d, order = self.builder, self.d, self.order
        for j, k in successors(self.instance.device_class):
            # Group i of the order may open device k only after an earlier one opened device j.
            rows = builder.rows(f"symmetry {k}", (len(order),), upper=0.0)
            builder.add(rows, d[order, k], 1.0)
            later, earlier = np.tril_indices(len(order), -1)
            builder.add(rows[later], d[order[earlier], j], -1.0)
        # A slot is used only if the one before it is.
        slots = np.flatnonzero(np.arange(self.S) % self.q)
        self.used = builder.variables("used", (len(slots),))
        rows = builder.rows("used", (len(slots),), lower=0.0)
        builder.add(rows, self.used, -1.0)
        builder.add(rows, self.x[:, slots - 1], 1.0)
        rows = builder.rows("no gap", (self.instance.n, len(slots)), lower=0.0)
        builder.add(rows, self.used, 1.0)
        builder.add(rows, self.x[:, slots], -1.0)

    def read(self, solution: np.ndarray) -> Answer:
        """The answer of a solution, shape (N,)."""
        device = solution[self.d].argmax(axis=1)[self.instance.group].astype(np.int64)
        own = np.where(self.on == device[:, None], solution[self.x], -1.0)
        slot = own.argmax(axis=1) % self.q if self.S else np.zeros(len(device), np.int64)
        return Answer(device, slot=np.where(self.instance.host[device], -1, slot).astype(np.int64))

    def encode(self, answer: Answer) -> np.ndarray | None:
        """A solution of an answer; None where it is not valid."""
        instance = self.instance
        if not calls.is_valid(instance, answer):
            return None
        answer = calls.compact(instance, answer)
        assert answer.slot is not None
        placed = answer.device[np.unique(instance.group, return_index=True)[1]]
        if self.symmetry:
            placed = canonical(self.order, placed, instance.device_class)
        device = placed[instance.group]
        done = calls.finishes(instance, Answer(device, slot=answer.slot))
        assert done is not None
        solution = np.zeros(self.builder.width)
        solution[self.d[np.arange(len(placed)), placed]] = 1.0
        column = np.searchsorted(self.on, device) + answer.slot
        called = ~instance.host[device]
        x = np.zeros((instance.n, self.S))
        x[called, column[called]] = 1.0
        solution[self.x] = x
        u, v = instance.edges.T
        into, out = np.zeros_like(x), np.zeros_like(x)
        np.maximum.at(into, u, x[v] - x[u])
        np.maximum.at(out, u, x[u] - x[v])
        solution[self.into], solution[self.out] = into, out
        weight, reader = self.readers
        for i, k in enumerate(self.limited):
            on = weight[placed[reader] == k]
            solution[self.held[on, i]] = 1.0
        done = done / self.scale
        takes = (x * self.seconds[:, self.on] + (into + out) * self.tau).sum(axis=0)
        solution[self.start], solution[self.finish] = call_times(done, takes, x, self.q)
        on = solution[self.d[instance.group]]
        path = path_times(instance, (self.seconds * on).sum(axis=1), (self.head * on).sum(axis=1))
        solution[self.path] = np.minimum(path, done)  # the evaluator adds in another order
        solution[self.latency], solution[self.total] = done, done.max()
        solution[self.rank], solution[self.level] = ranks(instance, x, into, self.q)
        if self.symmetry:
            slots = np.flatnonzero(np.arange(self.S) % self.q)
            solution[self.used] = x[:, slots - 1].any(axis=0)
        return solution
