"""Tiny instances on which methods with compiled parts run once before the clock starts."""

from __future__ import annotations

from functools import cache
from typing import Literal

from problems.compiled import REHEARSAL
from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle
from problems.rules import Rules, given
from problems.single import best_single

NODES, MOST_DEVICES = REHEARSAL, 3
"""Large enough that methods enter the parts that they leave out on the smallest instances, and no
larger than what the champion runs all its parts on (`heuristics.champion.plan.TINY` places); two
devices where the instance has no more, as some parts are for two alone."""


def tiny_like(instance: Instance) -> Instance:
    """A tiny instance of the same problem, rules and topology.

    Its memory is tight where no single device holds the instance: methods go other ways there.
    """
    tight = best_single(instance) is None
    devices = max(2, min(MOST_DEVICES, instance.K))
    return _tiny(instance.problem, instance.rules, instance.staged, tight, devices)


@cache
def _tiny(problem: str, rules: Rules, staged: bool, tight: bool, devices: int) -> Instance:
    topology: Literal["staged", "direct"] = "staged" if staged else "direct"
    bundle = random_bundle(
        0,
        n=NODES,
        devices=devices,
        density=4 / NODES,
        problem=problem,
        rules=given(rules),
        topology=topology,
        tight=1.4 if tight else None,
    )
    return from_bundle(bundle)
