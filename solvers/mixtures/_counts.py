"""How many groups of a kind each device holds: a bound by memory and computing alone.

Groups that read no weight of others, take as many bytes and as long on every device are of a kind.
A mixture puts a group on a device in some share of the samples, at most all of them where it is
held, so that for each kind

    sum_k share[t, k] = number of its groups,  share[t, k] <= held[t, k],  held integral
    sum_t bytes[t] held[t, k] <= memory of k,  sum_t seconds[t, k] share[t, k] <= T

and no mixture takes less than the least T. A mapping with such counts is where search begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import linprog

from problems.answer import Answer
from problems.instance import Instance
from solvers.backends import highs
from solvers.backends._outcome import Task
from solvers.formulations._contract import contract
from solvers.mixtures._surrogate import surrogate
from solvers.model import Builder, Model
from solvers.start import groups_in_line

MOST = 30_000
"""Kinds x devices: an LP of about a second."""


def counts_of(instance: Instance, scale: float) -> Counts | None:
    """The kinds of an instance, or None where they are too many."""
    counts = Counts(instance, scale)
    return counts if counts.work.size <= MOST else None


class Counts:
    """The kinds of one instance, T of them; seconds in units of `scale`.

    Attributes
    ----------
    kind : int64 array, shape (G,)
        Of every colocation group.
    number, bytes : arrays, shape (T,)
        Groups of a kind, and what one takes.
    work : float64 array, shape (T, K)
        inf where it does not run or fit.
    tight : int64 array
        Devices that do not hold everything.
    """

    def __init__(self, instance: Instance, scale: float) -> None:
        c = contract(instance)
        self.instance, self.scale = instance, scale
        self.shared = c.shared_bytes
        reads = np.zeros((len(c.bytes), len(c.shared_bytes)), bool)
        reads[c.reader_group, c.reader_weight] = True
        work = np.where(c.supported, c.work.sum(axis=0) / scale, np.inf)
        rows = np.concatenate([c.bytes[:, None], reads, work], axis=1)
        each, kind, self.number = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        self.kind = np.asarray(kind).ravel()
        self.bytes, self.reads = each[:, 0], each[:, 1 : 1 + reads.shape[1]] > 0
        self.work = each[:, 1 + reads.shape[1] :]
        whole = c.bytes.sum() + c.shared_bytes.sum()
        self.tight = np.flatnonzero(instance.memory < whole)

    @cached_property
    def model(self) -> Model:
        """The program, built when it is first asked for."""
        return self._model()

    def _model(self) -> Model:
        builder, K, tight = Builder(), self.instance.K, self.tight
        kinds, number = len(self.number), self.number[:, None].astype(float)
        able = np.isfinite(self.work)
        share = builder.variables("share", (kinds, K), upper=np.where(able, number, 0.0))
        held = builder.variables(
            "held", (kinds, len(tight)), upper=np.where(able[:, tight], number, 0.0), integer=True
        )
        kept = builder.variables("kept", (len(self.shared), len(tight)), integer=True)
        period = builder.variables("period", (1,), upper=np.inf, cost=1.0)
        whole = builder.rows("whole", (kinds, 1), lower=number, upper=number)
        builder.add(whole, share, 1.0)
        load = builder.rows("load", (K,), upper=0.0)
        builder.add(load[None], share, np.where(able, self.work, 0.0))
        builder.add(load, period, -1.0)
        memory = builder.rows("memory", (len(tight),), upper=1.0)
        limit = np.maximum(self.instance.memory[tight], 1.0)
        builder.add(memory[None], held, self.bytes[:, None] / limit)
        builder.add(memory[None], kept, self.shared[:, None] / limit)
        inside = builder.rows("inside", (kinds, len(tight)), upper=0.0)
        builder.add(inside, share[:, tight], 1.0)
        builder.add(inside, held, -1.0)
        kind, weight = np.nonzero(self.reads)
        reader = builder.rows("reader", (len(kind), len(tight)), upper=0.0)
        builder.add(reader, held[kind], 1.0)
        builder.add(reader, kept[weight], -number[kind])
        return builder.build(self.scale, self._read, lambda answer: None)

    def _read(self, x: np.ndarray) -> Answer:
        """The mapping with these counts: of each kind, the first groups go to the first device."""
        share = x[self.model.variables["share"]].reshape(self.model.shapes["share"])
        line = groups_in_line(self.instance)
        place = np.zeros(len(self.kind), np.int64)
        for t in range(len(self.number)):
            ends = np.floor(np.cumsum(share[t]) + 0.5).astype(np.int64)
            mine = line[self.kind[line] == t]
            place[mine] = np.minimum(
                np.searchsorted(ends, np.arange(len(mine)), side="right"), self.instance.K - 1
            )
        return Answer(place[self.instance.group])

    def prices(self, seconds: float) -> tuple[np.ndarray, np.ndarray] | None:
        """Dual prices of devices' time, shape (K,) and of sum 1, and of memory, shape (tight,).

        Those of the linear relaxation: units a unit, and units a byte. None without a solution
        within some seconds.
        """
        m = self.model
        matrix: Any = m.matrix
        bounds: Any = np.stack([m.lower, m.upper], axis=1)
        equal = np.zeros(len(m.row_upper), bool)
        equal[m.rows["whole"]] = True
        result = linprog(
            m.cost,
            A_ub=matrix[~equal],
            b_ub=m.row_upper[~equal],
            A_eq=matrix[equal],
            b_eq=m.row_upper[equal],
            bounds=bounds,
            method="highs-ds",
            options={"time_limit": min(seconds, 1e6)},
        )
        if result.status != 0:
            return None
        price = np.zeros(len(m.row_upper))
        price[~equal] = np.maximum(-np.asarray(result.ineqlin.marginals, float), 0.0)
        load = price[m.rows["load"]]
        if not load.sum() > 0:
            return None
        limit = np.maximum(self.instance.memory[self.tight], 1.0)
        return load / load.sum(), price[m.rows["memory"]] / limit / load.sum()

    def bound(self, enough: float, time_left: Callable[[], float]) -> float:
        """Bound by one knapsack for all memory; seconds, and `enough` of them are enough."""
        seconds = time_left()
        prices = self.prices(seconds) if seconds > 0 else None
        if prices is None:
            return 0.0
        load, byte = prices
        cost = np.where(np.isfinite(self.work), self.work, 0.0) * load
        cost[~np.isfinite(self.work)] = np.inf
        weight = np.zeros(cost.shape)
        weight[:, self.tight] = self.bytes[:, None] * byte
        room = float(self.instance.memory[self.tight] @ byte)
        value = surrogate(cost, weight, self.number, room, enough / self.scale, time_left)
        return value * self.scale

    def solve(
        self,
        at_least: float,
        seconds: float,
        threads: int,
        seed: int,
        on_bound: Callable[[float], None],
        on_mapping: Callable[[Answer], None],
    ) -> None:
        """Solve the program, knowing that T is `at_least` so many seconds."""
        lower = self.model.lower.copy()
        lower[self.model.variables["period"]] = max(at_least, 0.0) / self.scale
        model = replace(self.model, lower=lower)

        def take(value: float) -> None:
            if math.isfinite(value):
                on_bound(value * self.scale)

        task = Task(
            start=None, seconds=seconds, threads=threads, seed=seed, gap=0.0,
            on_solution=lambda x: on_mapping(model.read(x)), on_bound=take, log=False,
        )  # fmt: skip
        highs.solve(model, task)
