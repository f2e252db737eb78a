"""Cheap lower bounds, one after the other, as far as the limit allows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

# Imported for the bounds' entries in the registry.
from problems.bounds import theoretical  # noqa: F401
from problems.bounds.local_polytope import LARGEST_LP
from problems.bounds.registry import REGISTRY
from problems.instance import Instance

SHARE = 0.1
"""Of the limit that one bound may take, by its estimate."""


def _polytope(instance: Instance) -> float:
    size = len(np.unique(instance.device_class)) * (instance.n + 2 * instance.m)
    return 3.0 * math.pow(size / LARGEST_LP, 1.5)


def _cuts(instance: Instance) -> float:
    return min(1.5, 2e-6 * instance.n * (instance.n + instance.m))


SECONDS: dict[str, Callable[[Instance], float]] = {
    "critical-path": lambda instance: 4e-6 * instance.n,
    "node": lambda instance: 2e-5 * instance.n,
    "head-tail": lambda instance: 1e-5 * instance.n,
    "load-lp": lambda instance: min(2e-4 * instance.n, 0.5 + 4e-5 * instance.n),
    "head-tail-load": lambda instance: 2e-4 * instance.n,
    "schedule": lambda instance: 8e-4 * instance.n,
    "chain": lambda instance: 0.02 + 5e-7 * instance.n**2,
    "local-polytope": _polytope,
    "node-cut": _cuts,
}
"""Seconds that each cheap bound takes, measured; others are computed last, within :data:`OTHER`."""
OTHER = 1.0


def names(instance: Instance, limit: float) -> list[str]:
    """Bounds that the limit in seconds allows, quickest first."""
    seconds = {
        name: SECONDS[name](instance) if name in SECONDS else OTHER
        for name, each in REGISTRY.items()
        if each.effort == "cheap" and each.valid_for(instance) is None
    }
    chosen = [name for name, taken in seconds.items() if taken <= SHARE * limit]
    return sorted(chosen, key=lambda name: (seconds[name], name))
