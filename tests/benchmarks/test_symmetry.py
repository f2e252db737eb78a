"""Symmetry rows of like devices beside none: the ratio is pytest-benchmark's, in one run."""

from __future__ import annotations

import pytest

from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.catalogue import load
from solvers.method import Context

CASES = {"prefix@highs": True, "assign@highs": False, "stages": True}
"""Entry, and whether it is given a contiguous instance."""


@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_proof_on_like_devices(benchmark, name, symmetry):
    rules = {"contiguous": CASES[name]}
    bundle = random_bundle(3, n=14, devices=4, hosts=0, like=True, density=0.15, rules=rules)
    instance = from_bundle(bundle)
    claims = []
    context = Context(seed=1, on_claim=lambda *claim: claims.append(claim[0]))
    benchmark.group = f"prove 14 nodes x 4 like devices, {name}"
    entry = load(name)
    benchmark.pedantic(
        entry.run, (instance, context), {"symmetry": symmetry}, rounds=3, warmup_rounds=1
    )
    assert set(claims) == {"optimal"}
