"""The mapping of least weighted load, and a bound on it: a mixed-integer program, or less.

    minimise  sum over engines e of lambda_e load(e)
    over mappings that keep every rule and that fit beside what devices hold already

The rows are those of the formulation of the single-mapping problem, ``assign`` or ``prefix``: there
a row says that an engine's load is at most the period. Here the rows themselves, weighted, are
what is minimised, and the period is gone. HiGHS solves it. For two devices that each hold
everything it is a minimum cut (:mod:`_cut`), along a chain a dynamic program over ideals
(:mod:`_chain`), and labels do for like devices of equal weights (:mod:`_parts`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from problems import throughput
from problems.instance import Instance
from solvers.backends import highs
from solvers.backends._outcome import Task
from solvers.formulations import assign, prefix
from solvers.formulations._contract import Contracted, contract
from solvers.mixtures._chain import chain
from solvers.mixtures._columns import by_part
from solvers.mixtures._cut import Cut
from solvers.mixtures._parts import parts
from solvers.mixtures._room import Room, is_coupled
from solvers.model import Model

ENGINES = {
    "none": ("load",),
    "half": ("load", "transfer load"),
    "full": ("load", "receive load", "send load"),
}


class Priced(NamedTuple):
    """A lower bound on the least weighted load, in units, and the best mapping, shape (n,)."""

    bound: float
    device: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Program:
    """The program without an objective.

    Attributes
    ----------
    model : Model
    loads : sparse array, shape (E * K, columns)
        Loads of the engines, in units.
    x : int array, shape (G, K)
        Columns "group g is on device k".
    """

    model: Model
    loads: csr_matrix
    x: np.ndarray


class Pricing:
    """Prices mappings of one instance; `scale` is the seconds of a unit."""

    def __init__(
        self,
        instance: Instance,
        scale: float,
        seed: int,
        threads: int,
        time_left: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self.instance, self.scale, self.seed, self.threads = instance, scale, seed, threads
        self.contracted: Contracted = contract(instance)
        self.member = np.unique(instance.group, return_index=True)[1]
        self.engines = len(ENGINES[throughput.rules_of(instance).overlap]) * instance.K
        easy = instance.K == 2 and not is_coupled(instance)
        self.cut = Cut(instance, self.contracted) if easy else None
        self.chain = None if easy else chain(instance, time_left)
        self.parts = None if easy else parts(instance, self.contracted)

    @cached_property
    def program(self) -> Program:
        """The mixed-integer program, built when it is first asked for."""
        return _program(self.instance, self.contracted, self.scale)

    def least(self, weights: np.ndarray, room: Room | None, seconds: float) -> Priced:
        """Bound the least weighted load, and find a mapping that has it.

        Parameters
        ----------
        weights : float64 array, shape (E, K)
            lambda, at least 0.
        room : Room or None
            None: every pair may be used, each mapping fits by itself.
        seconds : float
            After which the bound that is proved by then is returned.

        Returns
        -------
        Priced
            With a bound of inf where there is no mapping.
        """
        if self.cut is not None and room is None:
            seconds_a_sample, device = self.cut.least(by_part(weights))
            return Priced(seconds_a_sample / self.scale, device)
        begin = time.monotonic()
        if self.chain is not None:
            end = begin + seconds
            sum_, device = self.chain.least(by_part(weights), room, lambda: end - time.monotonic())
            return Priced(sum_ / self.scale, device)
        plain = by_part(weights)
        even = bool((plain == plain[0]).all())
        if self.parts is not None and even and (room is None or room.is_open()):
            end = begin + seconds
            sum_, device = self.parts.least(plain[0], lambda: end - time.monotonic())
            return Priced(sum_ / self.scale, device)
        program = self.program
        model = program.model if room is None else self._in(room)
        cost = np.asarray(program.loads.T @ weights.ravel())
        seconds -= time.monotonic() - begin
        if seconds <= 0:
            return Priced(0.0, None)
        model = replace(model, cost=cost)
        best, found, bound = math.inf, None, 0.0

        def take(x: np.ndarray) -> None:
            nonlocal best, found
            value = float(cost @ x)
            if value < best:
                best, found = value, model.read(x).device

        def raise_to(value: float) -> None:
            nonlocal bound
            if math.isfinite(value):
                bound = max(bound, value)

        task = Task(
            start=None, seconds=seconds, threads=self.threads, seed=self.seed, gap=0.0,
            on_solution=take, on_bound=raise_to, log=False,
        )  # fmt: skip
        outcome = highs.solve(model, task)
        if outcome.status == "infeasible":
            return Priced(math.inf, None)
        if outcome.status == "optimal" and not model.integer.any():
            bound = best
        return Priced(min(bound, best), found)

    def _in(self, room: Room) -> Model:
        """The model where held pairs cost no memory, which is spent, and barred ones are out."""
        model, x, c = self.program.model, self.program.x, self.contracted
        upper, lower = model.upper.copy(), model.lower.copy()
        upper[x[room.barred]] = 0.0
        row_upper, matrix = model.row_upper.copy(), model.matrix
        start = model.rows["memory"].stop - self.instance.K
        if room.held.any() and model.shapes["held"][1]:
            tight = np.flatnonzero(self.instance.memory < c.bytes.sum() + c.shared_bytes.sum())
            held = np.arange(model.variables["held"].start, model.variables["held"].stop)
            held = held.reshape(model.shapes["held"])
            entries = matrix.tolil()
            for j, k in enumerate(tight.tolist()):
                mine = x[room.held[:, k], k]
                for column in mine.tolist():
                    row_upper[start + k] -= entries[start + k, column]
                    entries[start + k, column] = 0.0
                lower[held[c.reader_weight[room.held[c.reader_group, k]], j]] = 1.0
            matrix = entries.tocsr()
            matrix.eliminate_zeros()
        changed: Model = replace(
            model, upper=upper, lower=lower, row_upper=row_upper, matrix=matrix
        )
        return changed


def _program(instance: Instance, contracted: Contracted, scale: float) -> Program:
    rules = throughput.rules_of(instance)
    formulation = prefix if rules.contiguous else assign
    model = formulation.build(instance, symmetry=False, upper=math.inf, scale=scale)
    K = instance.K
    rows: list[np.ndarray] = []
    lower, upper = model.row_lower.copy(), model.row_upper.copy()
    for name in ENGINES[rules.overlap]:
        # Devices come last: before them `prefix` has rows of positions.
        rows.append(np.arange(model.rows[name].stop - K, model.rows[name].stop))
    for name in ("load", "transfer load", "receive load", "send load", "floor", "position load"):
        if name in model.rows:
            lower[model.rows[name]], upper[model.rows[name]] = -np.inf, np.inf
    weighted = model.matrix[np.concatenate(rows)].tolil()
    weighted[:, model.variables["period"]] = 0.0
    block = "x" if model.shapes.get("x", (0, 0))[-1] else "position"
    x = np.arange(model.variables[block].start, model.variables[block].stop)
    plain = replace(model, row_lower=lower, row_upper=upper, cost=np.zeros(len(model.cost)))
    return Program(plain, weighted.tocsr(), x.reshape(len(contracted.supported), K))
