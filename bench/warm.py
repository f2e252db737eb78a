"""Tiny instances on which methods with compiled parts run once before the clock starts."""

from __future__ import annotations

from functools import cache
from typing import Literal

import msgspec

from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle
from problems.rules import Rules


def tiny_like(instance: Instance) -> Instance:
    """A tiny instance of the same problem, rules and topology."""
    return _tiny(instance.problem, instance.rules, instance.staged)


@cache
def _tiny(problem: str, rules: Rules, staged: bool) -> Instance:
    topology: Literal["staged", "direct"] = "staged" if staged else "direct"
    said = msgspec.to_builtins(rules)
    return from_bundle(random_bundle(0, problem=problem, rules=said, topology=topology))
