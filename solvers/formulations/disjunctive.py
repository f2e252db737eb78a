"""`latency` as a disjunctive MILP: placement, starts, and who goes first where two could meet.

Edges are a local polytope over the devices of both ends, so that no arrival needs a big M; big M
stands in the turns alone, as wide as the windows that a known makespan leaves, and binaries only
for pairs that neither precedence nor windows decide. Without any known answer the windows are
those of everything one after another. Under ``contention: ports`` transfers take turns likewise.
"""

from __future__ import annotations

import numpy as np

from problems import latency, ports
from problems.answer import Answer
from problems.instance import Instance
from solvers.formulations import _transfers, _turns
from solvers.formulations._boundary import Boundary
from solvers.formulations._contract import memory_by_group
from solvers.formulations._orders import by_start, relabelled
from solvers.formulations._symmetry import leaders, successors
from solvers.formulations._windows import between, reachable, windows
from solvers.model import Builder, Model

PROBLEMS = ("latency",)
SOURCE = "Manne 1960 (disjunctive scheduling); edges as a local polytope: this suite"
NODES, PAIRS = 2_000, 20_000
"""Most nodes, and most pairs that precedence leaves open: what is built in seconds."""
MEMORY_UNITS = 1024.0
"""A full memory in row units: solvers allow an absolute error of about 1e-6 in a row."""


def refuses(instance: Instance) -> str | None:
    """Why the formulation cannot take the instance, or None."""
    way = "intervals takes any size"
    if instance.n > NODES:
        return f"disjunctive takes {NODES} nodes at most, not {instance.n}; {way}"
    possible = np.ones((int(instance.group.max()) + 1, instance.K), bool)
    np.logical_and.at(possible, instance.group, np.isfinite(instance.time))
    count = len(_open_pairs(instance, possible))
    if count <= PAIRS and ports.has_ports(instance):
        count += _transfers.pairs(instance, possible)
    if count > PAIRS:
        return (
            f"disjunctive takes {PAIRS} pairs of operators (and transfers at ports) whose order is"
            f" open at most, not {count}; {way}"
        )
    return None


def _open_pairs(instance: Instance, possible: np.ndarray) -> np.ndarray:
    """Pairs a < b of nodes that no path joins and one device may run both, shape (P, 2)."""
    limited = possible[instance.group] & ~instance.unlimited
    together = limited.astype(np.float32) @ limited.T.astype(np.float32) > 0
    return np.argwhere(np.triu(together & ~reachable(instance), 1)).astype(np.int64)


def build(instance: Instance, *, symmetry: bool, upper: float, scale: float) -> Model:
    """x[g, k] = 1 iff group g is on device k; all times in units of `scale`.

    Parameters
    ----------
    symmetry : bool
        Order like devices by first use along the heaviest groups.
    upper : float
        Known upper bound on the makespan in seconds; inf without one.
    scale : float
        Seconds a unit.
    """
    part = Disjunctive(instance, symmetry, upper, scale)
    return part.builder.build(scale, part.read, part.encode)


class Disjunctive:
    """The formulation as it is filled in; parameters as of :func:`build`.

    Parameters
    ----------
    boundary : Boundary, optional
        What is fixed already, and the times to the end of the whole; `upper` then is of the
        largest finish + tail. :meth:`read` and :meth:`encode` know nothing of it: see
        :meth:`times`.
    """

    def __init__(
        self,
        instance: Instance,
        symmetry: bool,
        upper: float,
        scale: float,
        boundary: Boundary | None = None,
    ) -> None:
        self.instance, self.symmetry, self.scale = instance, symmetry, scale
        self.boundary = boundary
        self.window = window = windows(instance, upper, boundary)
        self.builder = builder = Builder()
        possible = window.possible
        self.x = builder.variables("x", possible.shape, upper=possible.astype(float), integer=True)
        rows = builder.rows("place", (len(possible),), lower=1.0, upper=1.0)
        builder.add(rows[:, None], self.x, 1.0)
        top = window.horizon / scale
        self.makespan = builder.variables("makespan", (1,), upper=top, cost=1.0)
        self.start = builder.variables(
            "start", (instance.n,), lower=window.earliest / scale, upper=window.latest / scale
        )
        self.where = self.x[instance.group]  # of every node, shape (n, K)
        self._ends()
        self.flow = self._edges()
        self._turns()
        self._memory()
        self.transfers = None
        if ports.has_ports(instance):
            self.transfers = _transfers.Transfers(
                builder, instance, window, scale, self.x, self.start, self.flow, boundary
            )
        self.leaders = leaders(instance)
        for j, k in successors(instance.device_class) if symmetry else ():
            # Group i of the order may open device k only after an earlier one opened device j.
            rows = builder.rows(f"symmetry {k}", (len(self.leaders),), upper=0.0)
            builder.add(rows, self.x[self.leaders, k], 1.0)
            later, earlier = np.tril_indices(len(self.leaders), -1)
            builder.add(rows[later], self.x[self.leaders[earlier], j], -1.0)

    def _ends(self) -> None:
        """Heads, tails and loads."""
        b, window, n = self.builder, self.window, self.instance.n
        rows = b.rows("head", (n,), lower=0.0)
        b.add(rows, self.start, 1.0)
        b.add(rows[:, None], self.where, -window.head / self.scale)
        rows = b.rows("tail", (n,), lower=0.0)
        b.add(rows, self.makespan, 1.0)
        b.add(rows, self.start, -1.0)
        b.add(rows[:, None], self.where, -(window.time + window.tail) / self.scale)
        limited = np.flatnonzero(~self.instance.unlimited)
        rest = window.horizon - window.last_end
        sets = between(window.earliest, rest)
        least = np.array([window.earliest[mine].min() + rest[mine].min() for mine in sets])
        least = np.repeat(least[:, None] / self.scale, len(limited), axis=1)
        rows = b.rows("load", least.shape, lower=least)
        b.add(rows, self.makespan, 1.0)
        for row, mine in zip(rows, sets, strict=True):
            work = window.time[np.ix_(mine, limited)] / self.scale
            b.add(row, self.where[np.ix_(mine, limited)], -work)

    def _edges(self) -> dict[tuple[int, int], np.ndarray]:
        """Arrivals; returns y[from, to], shape (K, K), by pairs of groups."""
        instance, b, window = self.instance, self.builder, self.window
        group, K = instance.group, instance.K
        u, v = instance.edges.T
        way = instance.link_time[latency.communication(instance)].sum(axis=2)  # (K, K, n)
        joined, index = np.unique(group[instance.edges], axis=0, return_inverse=True)
        index = index.reshape(-1)
        # Two groups need y where one of their edges may take time.
        delayed = np.zeros(len(joined), bool)
        np.logical_or.at(delayed, index, way.max(axis=(0, 1))[u] > 0)
        delayed &= joined[:, 0] != joined[:, 1]
        number = np.cumsum(delayed) - 1
        some = joined[delayed]
        may = window.possible[some[:, 0]][:, :, None] & window.possible[some[:, 1]][:, None, :]
        y = b.variables("flow", may.shape, upper=may.astype(float), implied=True)
        for name, axis, end in (("leave", 2, 0), ("reach", 1, 1)):
            rows = b.rows(f"flow {name}", (len(some), K), lower=0.0, upper=0.0)
            b.add(np.expand_dims(rows, axis), y, 1.0)
            b.add(rows, self.x[some[:, end]], -1.0)
        rows = b.rows("edge", (instance.m,), lower=0.0)
        b.add(rows, self.start[v], 1.0)
        b.add(rows, self.start[u], -1.0)
        b.add(rows[:, None], self.where[u], -window.time[u] / self.scale)
        apart = np.flatnonzero(delayed[index])
        seconds = way.transpose(2, 0, 1)[u[apart]] * may[number[index[apart]]]
        b.add(rows[apart, None, None], y[number[index[apart]]], -seconds / self.scale)
        self.flow_groups, self.y = some, y
        return {(int(g), int(h)): y[i] for i, (g, h) in enumerate(some)}

    def _turns(self) -> None:
        instance, window = self.instance, self.window
        tasks = _turns.Tasks(
            self.start,
            self.where,
            window.time / self.scale,
            window.earliest / self.scale,
            window.last_end / self.scale,
        )
        found = _open_pairs(instance, window.possible)
        open_ = tasks.overlap(*found.T)
        if self.boundary is not None:  # what is fixed has its order, and rounding must not ask
            open_ &= ~self.boundary.fixed[found].all(axis=1)
        self.pairs = found[open_]
        # a cannot go first where it ends after b has to start.
        never = window.first_end[self.pairs] > window.latest[self.pairs[:, ::-1]]
        self.first = _turns.add(self.builder, "node", tasks, self.pairs, never)
        limited = window.possible[instance.group] & ~instance.unlimited
        p, k = np.nonzero(limited[self.pairs[:, 0]] & limited[self.pairs[:, 1]])
        one, other = self.pairs[p].T
        # Two nodes of a group are together wherever they are.
        same = instance.group[one] == instance.group[other]
        here = [(self.where[a, k][~same, None], np.ones(1)) for a in (one, other)]
        _turns.meet(self.builder, "device", self.first[p[~same]], here)
        rows = self.builder.rows("device of group", (int(same.sum()),), upper=0.0)
        self.builder.add(rows, self.where[one[same], k[same]], 1.0)
        self.builder.add(rows[:, None], self.first[p[same]], -1.0)

    def _memory(self) -> None:
        b, x = self.builder, self.x
        size, shared, weight, reader = memory_by_group(self.instance)
        limit = self.instance.memory
        self.tight = tight = np.flatnonzero(limit < size.sum() + shared.sum())
        factor = MEMORY_UNITS / np.maximum(limit[tight], 1.0)
        self.readers = weight, reader
        self.held = b.variables("held", (len(shared), len(tight)), implied=True)
        rows = b.rows("memory", (len(tight),), upper=limit[tight] * factor)
        b.add(rows, x[:, tight], size[:, None] * factor)
        b.add(rows, self.held, shared[:, None] * factor)
        rows = b.rows("held reader", (len(reader), len(tight)), lower=0.0)
        b.add(rows, self.held[weight], 1.0)
        b.add(rows, x[reader][:, tight], -1.0)

    def encode(self, answer: Answer) -> np.ndarray | None:
        """All variables for an answer; None where it is not valid or not within the windows."""
        instance = self.instance
        if not latency.is_valid(instance, answer):
            return None
        answer = latency.complete(instance, answer)
        if self.symmetry:
            answer = relabelled(instance, answer, self.leaders)
        start = latency.starts(instance, answer)
        assert start is not None
        solution = np.zeros(self.builder.width)
        placed = answer.device[np.unique(instance.group, return_index=True)[1]]
        solution[self.x[np.arange(len(placed)), placed]] = 1.0
        solution[self.start] = start / self.scale
        solution[self.makespan] = latency.makespan(instance, answer) / self.scale
        g, h = placed[self.flow_groups].T
        solution[self.y[np.arange(len(g)), g, h]] = 1.0
        assert answer.order is not None
        position = np.empty(instance.n, np.int64)
        for nodes in answer.order:
            position[nodes] = np.arange(len(nodes))
        one, other = self.pairs.T
        meet = answer.device[one] == answer.device[other]
        meet &= ~instance.unlimited[answer.device[one]]
        solution[self.first[:, 0]] = meet & (position[one] < position[other])
        solution[self.first[:, 1]] = meet & (position[one] > position[other])
        held = np.zeros(self.held.shape)
        np.maximum.at(held, self.readers[0], solution[self.x[self.readers[1]][:, self.tight]])
        solution[self.held] = held
        if self.transfers is not None:
            self.transfers.fill(solution, answer)
        return solution

    def times(self, solution: np.ndarray) -> tuple[np.ndarray, ...]:
        """Device and start in seconds of every node, and under ports the starts of both legs."""
        device = solution[self.x].argmax(axis=1)[self.instance.group].astype(np.int64)
        start = solution[self.start] * self.scale
        if self.transfers is None:
            return device, start
        return device, start, *self.transfers.starts(solution, device)

    def read(self, solution: np.ndarray) -> Answer:
        """The answer of a solution, shape (N,): earliest starts in the order of its starts."""
        return by_start(self.instance, *self.times(solution))
