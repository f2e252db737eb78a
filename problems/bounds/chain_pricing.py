"""The most valuable set of groups that one device of a chain can hold, by CP-SAT.

In a chain its clauses prove more than the linear programs of :mod:`problems.bounds.pricing`.

    minimise  lambda load_c(S) - pi(S)
    over sets S of groups that class c can run and hold, load_c(S) <= level, convex in a chain

Seconds are whole numbers of :data:`SCALE` parts of a unit, and everything is rounded so that the
minimum can only fall: costs and the loads' coefficients down, the level up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from problems.bounds.nets import Nets
from problems.cp_sat import keep_sound

SCALE = 10**6
COARSE = 10**4  # parts of a unit, and
WEIGHT = 10**5  # parts of lambda, where the load is a variable of its own


def down(values: Any, scale: int) -> list[int]:
    """Whole numbers at or under `values` x `scale`."""
    return [math.floor(each) for each in (np.asarray(values, float) * scale).ravel().tolist()]


class ChainPricing:
    """What one device of class `c` can hold; times in units of `unit` seconds."""

    def __init__(self, nets: Nets, unit: float, c: int) -> None:
        from ortools.sat.python import cp_model  # heavy: only where sets are priced

        self.nets, self.c, self.cp = nets, c, cp_model
        self.model = model = cp_model.CpModel()
        may = np.isfinite(nets.time[:, c])
        x = self.x = [model.new_bool_var("") for _ in may]
        for g in np.flatnonzero(~may).tolist():
            model.add(x[g] == 0)
        if nets.contiguous:
            self._chain()
        self.work = np.where(may, nets.time[:, c], 0.0) / unit
        self.cost = [nets.receive[c] / unit, nets.send[c] / unit]
        self.move: list[dict[int, Any]] = []
        pins: list[list[int]] = [[] for _ in nets.source]
        for e, g in zip(nets.pin_net.tolist(), nets.pin.tolist(), strict=True):
            pins[e].append(g)
        for way, cost in enumerate(self.cost):
            self.move.append({})
            for e in np.flatnonzero(cost > 0).tolist():
                pays = self.move[way][e] = model.new_bool_var("")
                a = x[int(nets.source[e])]
                for g in pins[e]:
                    model.add_bool_or(*((x[g].negated(), a) if way == 0 else (a.negated(), x[g])),
                                      pays)  # fmt: skip
        into, out = (
            cp_model.LinearExpr.weighted_sum(
                list(move.values()), down(cost[list(move)] if move else [], SCALE)
            )
            for move, cost in zip(self.move, self.cost, strict=True)
        )
        compute = cp_model.LinearExpr.weighted_sum(x, down(self.work, SCALE))
        self.parts: list[Any] = []
        self.load = model.new_int_var(0, 2**40, "")  # may be less by one part than the load is
        parts = SCALE // COARSE
        for part in {
            "none": [compute + into + out],
            "half": [compute, into + out],
            "full": [compute, into, out],
        }[nets.overlap]:
            model.add(parts * self.load + (parts - 1) >= part)
            self.parts.append(part)
        if np.isfinite(nets.memory[c]):
            # In parts of the limit: bytes alone would make sums too large for some solvers.
            size = nets.bytes / max(float(nets.memory[c]), 1.0)
            model.add(
                cp_model.LinearExpr.weighted_sum(x, down(np.minimum(size, 2.0), SCALE))
                <= (SCALE if nets.memory[c] >= 1.0 else 0)
            )

    def _chain(self) -> None:
        """The set is what a prefix before it and a suffix after it leave."""
        model, G = self.model, len(self.x)
        before = [model.new_bool_var("") for _ in range(G)]
        after = [model.new_bool_var("") for _ in range(G)]
        for three in zip(before, self.x, after, strict=True):
            model.add_exactly_one(three)
        for a, b in self.nets.order.tolist():
            model.add_implication(before[b], before[a])
            model.add_implication(after[a], after[b])

    def least(
        self, load: float, cover: np.ndarray, level: float, seconds: float
    ) -> tuple[float, np.ndarray | None]:
        """Lower bound on load x load_c(S) - cover(S), and the best set that was found.

        Parameters
        ----------
        load : float
            lambda, at least 0.
        cover : float64 array, shape (G,)
            pi, in units like the loads.
        level : float
            Most load of a set, in units.
        seconds : float
            After which the bound that is proved by then is returned.
        """
        model, sum_ = self.model.clone(), self.cp.LinearExpr.weighted_sum
        for part in self.parts:
            model.add(part <= math.ceil(level * SCALE) + 1)
        model.add(self.load <= math.ceil(level * COARSE) + 1)
        if self.nets.overlap == "none":  # the load's parts themselves, which loses less
            scale = SCALE
            objective = sum_(self.x, down(load * self.work - cover, scale))
            for move, cost in zip(self.move, self.cost, strict=True):
                values = down(load * cost[list(move)] if move else [], scale)
                objective += sum_(list(move.values()), values)
        else:
            scale = COARSE * WEIGHT
            objective = math.floor(load * WEIGHT) * self.load + sum_(self.x, down(-cover, scale))
        model.minimize(objective)
        solver = self.cp.CpSolver()
        keep_sound(solver.parameters)
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 0
        solver.parameters.max_time_in_seconds = max(seconds, 0.01)
        status = solver.solve(model)
        nothing = -float(np.maximum(cover, 0.0).sum()) * (1 + 1e-9)  # no set gains more than all
        if status not in (self.cp.OPTIMAL, self.cp.FEASIBLE):
            return nothing, None
        # The bound is a double of a whole number.
        low = (solver.best_objective_bound - 1.0) / scale
        held = np.array([bool(solver.value(each)) for each in self.x])
        return max(low, nothing), np.flatnonzero(held)
