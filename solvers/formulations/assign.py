"""`throughput`, free placement: the assignment MILP of Tarnawski et al. 2020, by groups."""

from __future__ import annotations

import numpy as np

from problems import throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers.formulations._contract import contract
from solvers.formulations._loads import Loads, Slots
from solvers.formulations._symmetry import canonical, leaders, successors
from solvers.model import Builder, Model

PROBLEMS = ("throughput",)
SOURCE = "Tarnawski et al. 2020 (arXiv 2006.16423); aggregated transfers: this suite"


def refuses(instance: Instance) -> str | None:
    """Why the formulation cannot take the instance, or None."""
    if throughput.rules_of(instance).contiguous:
        return "assign places freely: a contiguous instance is for prefix"
    return None


def build(instance: Instance, *, symmetry: bool, upper: float, scale: float) -> Model:
    """x[g, k] = 1 iff group g is on device k.

    Parameters
    ----------
    symmetry : bool
        Order like devices by first use along the heaviest groups.
    upper : float
        Known upper bound on the objective in seconds; inf without one.
    scale : float
        Seconds a unit.
    """
    c = contract(instance)
    G, K = c.supported.shape
    builder = Builder()
    x = builder.variables("x", (G, K), upper=c.supported.astype(float), integer=True)
    builder.add(builder.rows("place", (G,), lower=1.0, upper=1.0)[:, None], x, 1.0)
    devices = np.arange(K)
    slots = Slots(devices, instance.wire, ~np.eye(K, dtype=bool), devices, devices, np.ones(K))
    rules = throughput.rules_of(instance)
    loads = Loads(builder, instance, rules, c, slots, x, scale, upper)
    order = leaders(instance)
    if symmetry:
        for j, k in successors(instance.device_class):
            # Group i of the order may open device k only after an earlier one opened device j.
            rows = builder.rows(f"symmetry {k}", (len(order),), upper=0.0)
            builder.add(rows, x[order, k], 1.0)
            later, earlier = np.tril_indices(len(order), -1)
            builder.add(rows[later], x[order[earlier], j], -1.0)
    member = np.unique(instance.group, return_index=True)[1]

    def read(solution: np.ndarray) -> Answer:
        return Answer(solution[x].argmax(axis=1)[instance.group].astype(np.int64))

    def encode(answer: Answer) -> np.ndarray | None:
        if not throughput.is_valid(instance, answer.device):
            return None
        placed = answer.device[member]
        if symmetry:
            placed = canonical(order, placed, instance.device_class)
        solution = np.zeros(builder.width)
        solution[x[np.arange(G), placed]] = 1.0
        loads.fill(solution)
        loads.set_period(solution, throughput.loads(instance, placed[instance.group]))
        return solution

    return builder.build(scale, read, encode)
