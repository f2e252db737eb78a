"""The random generator for compiled code, under the name that heuristics know it by."""

from __future__ import annotations

from solvers.rng import below, seeded, shuffle, uniform

__all__ = ["below", "seeded", "shuffle", "uniform"]
