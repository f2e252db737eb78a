"""Small instances for the tests of the policy."""

from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle


def tiny(seed: int = 1, problem: str = "chips", **given) -> Instance:
    traits = {"n": 14, "devices": 3, "density": 0.25} | given
    return from_bundle(random_bundle(seed, problem=problem, **traits))
