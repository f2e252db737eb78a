"""Tiny random instances over all rules, for the tests of exact methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from problems.files import FileError
from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle


def arguments(problem: str, seed: int) -> dict[str, Any]:
    """Arguments of :func:`random_bundle`, drawn from all rules and traits."""
    rng = np.random.default_rng(seed)
    devices = int(rng.integers(1, 4))

    def pick(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    rules: dict[str, Any] = {"memory": pick("total", "weights", "ignored")}
    rules["colocate_tied"] = pick(True, False, False)
    if problem == "throughput":
        rules |= {
            "contiguous": pick(True, False),
            "overlap": pick("none", "half", "full"),
            "split_phases": pick(True, False),
        }
    if problem == "chips":
        rules |= {"overlap": pick("none", "half", "full"), "through_traffic": pick(True, False)}
    return {
        "n": int(rng.integers(2, 7)),
        "devices": devices,
        "problem": problem,
        "rules": rules,
        "topology": pick("staged", "direct"),
        "hosts": min(int(rng.integers(0, 3)), devices),
        "unlimited": problem == "latency" and pick(True, False),
        "tight": pick(None, None, 0.9, 1.2, 1.6),
        "like": pick(True, False),
        "groups": int(rng.integers(0, 3)),
        "tied": int(rng.integers(0, 3)),
        "training": problem == "throughput" and pick(True, False),
        "unsupported": pick(0.0, 0.3),
        "ties": pick(True, False),
    }


def instances(problem: str, seeds: range, **rules: Any) -> list[tuple[int, Instance]]:
    """The seeds whose bundle resolves (every group runs somewhere), with their instances.

    `rules` overrule those that are drawn.
    """
    result: list[tuple[int, Instance]] = []
    for seed in seeds:
        given = arguments(problem, seed)
        given["rules"] |= rules
        try:
            result.append((seed, from_bundle(random_bundle(seed, **given))))
        except FileError as error:
            if "on no device" not in str(error):
                raise
    return result


def calls_instances(seeds: range) -> list[tuple[int, Instance]]:
    """Instances of `calls`: one or two hosts or none, slots 1 to 3 or without a limit."""
    result: list[tuple[int, Instance]] = []
    for seed in seeds:
        given = arguments("calls", seed)
        rng = np.random.default_rng([seed, 1])
        slots = (1, 2, 3, None)[rng.integers(4)]
        given["rules"] |= {} if slots is None else {"slots": int(slots)}
        given |= {"topology": "staged", "n": min(given["n"], 6 if slots == 1 else 5)}
        given["density"] = (0.3, 0.6)[rng.integers(2)]
        try:
            result.append((seed, from_bundle(random_bundle(seed, **given))))
        except FileError as error:
            if "on no device" not in str(error):
                raise
    return result
