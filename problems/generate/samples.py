"""Random instances of every kind, over all rules: for tests and conformance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from problems.files import FileError
from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle

# What to draw of each kind, next to its problem; smaller where brute force takes long.
KINDS: tuple[dict[str, Any], ...] = (
    {"problem": "throughput"},
    {"problem": "latency"},
    {"problem": "latency", "rules": {"contention": "ports"}, "n": 5},
    {"problem": "calls", "n": 5},
    {"problem": "chips"},
)


def sample(seed: int, n: int = 6, devices: int = 3, **given: Any) -> Instance | None:
    """One instance with traits drawn by `seed`, `n` nodes and `devices` devices at most.

    None where the traits contradict each other (a group that no device supports).
    """
    rng = np.random.default_rng(seed)
    problem = given.pop("problem", ("throughput", "latency")[seed % 2])
    rules: dict[str, Any] = {
        "memory": ("total", "weights", "ignored")[rng.integers(3)],
        "colocate_tied": bool(rng.integers(2)),
    }
    if problem == "throughput":
        rules["contiguous"] = bool(rng.integers(2))
        rules["overlap"] = ("none", "half", "full")[rng.integers(3)]
        rules["split_phases"] = bool(rng.integers(2))
    if problem == "chips":
        rules["overlap"] = ("none", "half", "full")[rng.integers(3)]
        rules["through_traffic"] = bool(rng.integers(2))
    if problem == "calls":
        slots = (None, 1, 2, 3)[rng.integers(4)]
        rules |= {} if slots is None else {"slots": slots}
    rules |= given.pop("rules", {})
    traits: dict[str, Any] = {
        "n": int(rng.integers(1, n + 1)),
        "devices": int(rng.integers(1, devices + 1)),
        "topology": ("staged", "direct")[rng.integers(2)],
        "density": float(rng.choice([0.0, 0.3, 0.6])),
        "hosts": int(rng.integers(0, 3)),
        "unlimited": problem == "latency" and bool(rng.integers(2)),
        "tight": (None, 1.1, 1.6)[rng.integers(3)],
        "like": bool(rng.integers(2)),
        "groups": int(rng.integers(0, 3)),
        "tied": int(rng.integers(0, 3)),
        "training": bool(rng.integers(2)),
        "unsupported": float(rng.choice([0.0, 0.3])),
        "ties": bool(rng.integers(2)),
    }
    if problem == "calls":
        traits["topology"] = "staged"
    try:
        return from_bundle(random_bundle(seed, problem=problem, rules=rules, **traits | given))
    except FileError as error:
        if "on no device" not in str(error):
            raise
        return None


def samples(count: int, **given: Any) -> Iterator[tuple[int, Instance]]:
    """`count` instances with their seeds."""
    seed = 0
    while count:
        seed += 1
        instance = sample(seed, **given)
        if instance is not None:
            count -= 1
            yield seed, instance


def of_every_kind(count: int, **given: Any) -> Iterator[Instance]:
    """`count` instances of each of :data:`KINDS`."""
    for kind in KINDS:
        for _, instance in samples(count, **kind | given):
            yield instance
