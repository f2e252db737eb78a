"""Throughput by four formulations: each equals brute force, and all agree on the library."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from problems import throughput
from problems.catalogue import Library
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers import objective
from solvers.backends import highs
from solvers.catalogue import load
from solvers.cpsat import _units, stages
from solvers.formulations import convex
from solvers.formulations._contract import contract
from solvers.formulations._positions import windows
from solvers.method import Context
from solvers.mip import pair
from tests import tiny as by_hand
from tests.brute_force import optimum
from tests.solvers.runs import agrees, run
from tests.solvers.tiny import instances

SEEDS = range(2000, 2120)
PACKS = 6
SMALL = [
    "alexnet:operator/server/throughput[contiguous]",
    "dlrm:operator/duo-shm/throughput",
    "inceptionv3:block/quad-eth1g/throughput",
    "resnet18:operator/edge/throughput[contiguous]",
    "resnet50:block/server/throughput[contiguous]",
    "unet:operator/edge/throughput",
    "vgg16:operator/server/throughput[contiguous]",
]
"""All of n < 50 but two that take some solver longer than seconds, and one of n = 68."""


@pytest.mark.parametrize("pack", range(PACKS))
def test_equals_brute_force(pack):
    for seed, instance in instances("throughput", SEEDS)[pack::PACKS]:
        best = optimum(instance).objective
        chain = instance.rules.contiguous
        others = ("convex@highs", "prefix@highs")[: 1 + (seed % 4 == 0)] if chain else ()
        for name in ("stages", *others):
            ran = run(name, instance, symmetry=seed % 3 > 0)
            assert agrees(ran, best), (name, seed, best, ran)


@pytest.mark.parametrize("name", SMALL)
def test_formulations_agree_on_the_library(name):
    instance = Library().load(name)
    chain = instance.rules.contiguous
    entries = ["prefix@highs", "stages"] if chain else ["assign@highs", "stages"]
    if chain and instance.n < 20:  # beyond, the published form takes its time
        entries.append("convex@highs")
    found = {entry: run(entry, instance) for entry in entries}
    assert {ran.claim for ran in found.values()} == {"optimal"}
    values = [ran.objective for ran in found.values()]
    assert max(values) <= min(values) * (1 + 1e-6), dict(zip(found, values, strict=True))


def crossed():
    """Two chains whose best halves {a, d} and {b, c} are convex, and no chain of devices."""
    return by_hand.instance(
        [[5, 5], [4, 4], [3, 3], [2, 2]],
        [(0, 1), (2, 3)],
        problem="throughput",
        rules={"contiguous": True},
        payload=[0, 0, 0, 0],
        delay=[0, 0],
    )


def published():
    """The published form, whose devices need not form a chain."""
    return pair(
        "published@highs",
        SimpleNamespace(
            PROBLEMS=convex.PROBLEMS,
            SOURCE=convex.SOURCE,
            __doc__=convex.__doc__,
            refuses=convex.refuses,
            build=partial(convex.build, chain=False),
        ),
        highs,
    )


def test_convex_sets_alone_are_a_relaxation_that_claims_nothing_wrong():
    instance = crossed()
    assert optimum(instance).objective == 8
    assert run("convex@highs", instance).objective == 8
    claims, bounds = [], []
    context = Context(on_claim=lambda *claim: claims.append(claim), on_bound=bounds.append)
    answer = published().run(instance, context)
    assert throughput.period(instance, answer.device) >= 8
    assert claims[-1][0] == "feasible"
    assert max(bounds) == pytest.approx(7, rel=1e-5)


@pytest.mark.parametrize("pack", range(2))
def test_the_published_form_bounds_and_never_claims_a_wrong_optimum(pack):
    for seed, instance in instances("throughput", range(3000, 3040))[pack::2]:
        if not instance.rules.contiguous:
            continue
        best = optimum(instance).objective
        claims, bounds = [], [0.0]
        context = Context(on_claim=lambda *c: claims.append(c), on_bound=bounds.append)  # noqa: B023
        answer = published().run(instance, context)
        if best is None:
            assert answer is None, seed
            continue
        assert max(bounds) <= best * (1 + 1e-9), seed
        assert claims[-1][0] != "infeasible", seed
        if claims[-1][0] == "optimal":
            value = throughput.period(instance, answer.device)
            assert math.isclose(value, best, rel_tol=1e-6), seed


def test_coarse_units_cost_proofs_and_not_honesty(monkeypatch):
    monkeypatch.setattr(_units, "PRECISION", 0)
    seen = set()
    for seed, instance in instances("throughput", range(100, 160)):
        best = optimum(instance).objective
        ran = run("stages", instance)
        seen.add(ran.claim)
        if best is None:
            assert ran.claim == "infeasible", seed
            continue
        assert all(bound <= best * (1 + 1e-12) for bound in ran.bounds), seed
        if ran.claim == "optimal":
            assert math.isclose(ran.objective, best, rel_tol=1e-6), seed
    assert "feasible" in seen


@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("topology", ["staged", "direct"])
@pytest.mark.parametrize("contiguous", [True, False])
def test_the_hint_is_a_solution(contiguous, topology, symmetry):
    from ortools.sat.python import cp_model

    for like in (True, False):
        instance = from_bundle(
            random_bundle(
                4, n=14, devices=4, hosts=1, like=like, topology=topology, density=0.2, tight=2.0,
                tied=3, groups=2, rules={"contiguous": contiguous, "overlap": "full"},
            )
        )  # fmt: skip
        answer = objective.starting(instance)
        value = objective.value(instance, answer)
        program = stages.build(instance, value, cp_model.CpModel(), symmetry=symmetry)
        program.hint(answer)
        solver = cp_model.CpSolver()
        solver.parameters.fix_variables_to_their_hinted_value = True
        assert solver.solve(program.model) == cp_model.OPTIMAL
        assert solver.objective_value * program.unit == pytest.approx(value, rel=1e-5)


def test_work_before_and_after_a_group_decides_its_positions():
    chain = by_hand.instance(
        [[1, 2]] * 4,
        [(0, 1), (1, 2), (2, 3)],
        problem="throughput",
        rules={"contiguous": True},
        delay=[0, 0],
    )
    c, ample = contract(chain), np.full(2, np.inf)
    first, last = windows(c, 3.2, 2, ample)
    assert first.tolist() == [0, 0, 0, 1]  # either device holds three at most
    assert last.tolist() == [0, 1, 1, 1]
    assert [each.tolist() for each in windows(c, math.inf, 2, ample)] == [[0] * 4, [1] * 4]


def test_bytes_before_and_after_a_group_decide_its_positions():
    chain = by_hand.instance(
        [[1, 1]] * 4,
        [(0, 1), (1, 2), (2, 3)],
        problem="throughput",
        rules={"contiguous": True},
        payload=[1, 1, 2, 2],
        memory=[2, 4],
        delay=[0, 0],
    )
    first, last = windows(contract(chain), math.inf, 2, chain.memory)
    assert first.tolist() == [0, 0, 0, 1]
    assert last.tolist() == [0, 0, 1, 1]


def test_what_would_not_fit_is_refused():
    large = SimpleNamespace(
        n=10**6, K=64, staged=False, problem="throughput", id="x",
        rules=from_bundle(random_bundle(1)).rules,
    )  # fmt: skip
    assert "literals" in stages.refuses(large)
    assert load("stages").refusal(from_bundle(random_bundle(1))) is None
    assert np.isfinite(stages.LARGEST)
