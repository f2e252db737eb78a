"""`throughput`, free placement: the assignment MILP of Tarnawski et al. 2020, by groups."""

from __future__ import annotations

import numpy as np

from problems import throughput
from problems.answer import Answer
from problems.instance import Instance
from solvers.formulations._by_device import ByDevice
from solvers.model import Model

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
    part = ByDevice(instance, symmetry, upper, scale)

    def encode(answer: Answer) -> np.ndarray | None:
        encoded = part.encode(answer)
        return None if encoded is None else encoded[0]

    return part.builder.build(scale, part.read, encode)
