"""The enumeration itself, held against one without any cuts."""

import math
from itertools import permutations, product

import pytest

from problems.answer import Answer
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from tests.brute_force import optimum


def everything(instance):
    """All mappings with, for latency, the orders that all permutations of the nodes give."""
    for device in product(range(instance.K), repeat=instance.n):
        if instance.problem == "throughput":
            yield Answer.of(device)
            continue
        for nodes in permutations(range(instance.n)):
            yield Answer.of(device, [[v for v in nodes if device[v] == k] for k in range(2)])


@pytest.mark.parametrize("problem", ["throughput", "latency"])
@pytest.mark.parametrize("seed", range(6))
def test_cuts_lose_nothing(problem, seed):
    instance = from_bundle(
        random_bundle(
            seed,
            n=4,
            problem=problem,
            topology=("staged", "direct")[seed % 2],
            hosts=seed % 3,
            tight=(None, 1.0, 1.3)[seed % 3],
            unlimited=problem == "latency" and seed in (1, 4),
            groups=seed % 2,
            unsupported=0.2,
            ties=seed >= 3,
            rules={"contiguous": seed == 2} if problem == "throughput" else {},
        )
    )
    values = [check(instance, answer).objective for answer in everything(instance)]
    expected = min((value for value in values if value is not None), default=None)
    best = optimum(instance)
    assert (best.objective is None) == (expected is None)
    if expected is not None:
        assert math.isclose(best.objective, expected, rel_tol=1e-12, abs_tol=1e-12)
        assert check(instance, best.answer).objective == best.objective
