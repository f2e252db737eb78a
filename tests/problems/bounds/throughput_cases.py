"""Tiny random throughput instances over all rules, with their optima, for the tests of bounds."""

from __future__ import annotations

from functools import cache
from itertools import product

from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle
from tests.brute_force import Optimum, optimum

COMBINATIONS = list(
    product((False, True), ("none", "half", "full"), (False, True), ("total", "weights"))
)
CASES = range(4 * len(COMBINATIONS))


@cache
def solved(seed: int) -> tuple[Instance, Optimum]:
    """Instance number `seed` and its optimum; rules, topology and traits take turns."""
    contiguous, overlap, split, memory = COMBINATIONS[seed % len(COMBINATIONS)]
    i = seed // len(COMBINATIONS) + seed
    devices = 2 + i % 2
    rules = {"contiguous": contiguous, "overlap": overlap, "split_phases": split, "memory": memory}
    case = from_bundle(
        random_bundle(
            seed,
            n=(5, 7, 6, 7)[i % 4],
            devices=devices,
            rules=rules,
            topology=("staged", "staged", "direct")[i // 2 % 3],
            density=(0.25, 0.5)[i // 5 % 2],
            hosts=(0, 1, 0, 2)[i // 3 % 4],
            tight=(None, 1.0, None, 1.4)[i // 2 % 4],
            like=i // 7 % 2 == 0,
            groups=(0, 1, 2)[i // 4 % 3],
            tied=i % 3,
            training=split or i // 3 % 3 == 0,
            unsupported=(0.0, 0.25)[i // 6 % 2],
            ties=i // 11 % 3 == 0,
            uneven=i // 13 % 2 == 0,
        )
    )
    return case, optimum(case)
