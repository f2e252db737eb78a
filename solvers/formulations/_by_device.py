"""x[g, k] = 1 iff group g is on device k: what formulations over devices share."""

from __future__ import annotations

import numpy as np

from problems import throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers.formulations._contract import contract
from solvers.formulations._loads import Loads, Slots
from solvers.formulations._symmetry import canonical, leaders, successors
from solvers.model import Builder


class ByDevice:
    """Adds placement, loads, memory and symmetry rows; parameters as of ``assign.build``.

    Attributes
    ----------
    contracted : Contracted
    builder : Builder
    x : int64 array, shape (G, K)
        Columns of the placement variables.
    """

    def __init__(self, instance: Instance, symmetry: bool, upper: float, scale: float) -> None:
        self.instance, self.symmetry = instance, symmetry
        self.contracted, self.builder = contract(instance), Builder()
        supported = self.contracted.supported
        G, K = supported.shape
        builder = self.builder
        self.x = x = builder.variables("x", (G, K), upper=supported.astype(float), integer=True)
        builder.add(builder.rows("place", (G,), lower=1.0, upper=1.0)[:, None], x, 1.0)
        devices = np.arange(K)
        apart, one = ~np.eye(K, dtype=bool), np.ones(K)
        slots = Slots(devices, instance.wire, apart, devices, devices, one, ~apart & apart)
        rules = throughput.rules_of(instance)
        self.loads = Loads(builder, instance, rules, self.contracted, slots, x, scale, upper)
        self.order = leaders(instance)
        for j, k in successors(instance.device_class) if symmetry else ():
            # Group i of the order may open device k only after an earlier one opened device j.
            rows = builder.rows(f"symmetry {k}", (len(self.order),), upper=0.0)
            builder.add(rows, x[self.order, k], 1.0)
            later, earlier = np.tril_indices(len(self.order), -1)
            builder.add(rows[later], x[self.order[earlier], j], -1.0)

    def read(self, solution: np.ndarray) -> Answer:
        """The answer of a solution, shape (N,)."""
        return Answer(solution[self.x].argmax(axis=1)[self.instance.group].astype(np.int64))

    def encode(self, answer: Answer) -> tuple[np.ndarray, np.ndarray] | None:
        """A solution with all variables of this part set, and the device of every group in it.

        None where the answer is not valid. Like devices are relabelled under `symmetry`.
        """
        instance = self.instance
        if not throughput.is_valid(instance, answer.device):
            return None
        placed = answer.device[np.unique(instance.group, return_index=True)[1]]
        if self.symmetry:
            placed = canonical(self.order, placed, instance.device_class)
        solution = np.zeros(self.builder.width)
        solution[self.x[np.arange(len(placed)), placed]] = 1.0
        self.loads.fill(solution)
        self.loads.set_period(solution, throughput.loads(instance, placed[instance.group]))
        return solution, placed
