"""Limits, warm starts and odd ends of exact runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from problems import latency, throughput
from problems.answer import Answer
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.catalogue import load, names, natives
from solvers.method import Context, Unsupported
from tests.solvers.runs import run

# Every formulation by one backend, every backend by one formulation, and what stands alone.
NAMES = [
    name
    for name in names()
    if load(name).kind == "exact"
    and (name.startswith("prefix@") or name.partition("@")[2] in ("", "highs"))
]


def instance_for(name, n, **more):
    """An instance that the entry takes."""
    entry = load(name)
    for rules in ({}, {"contiguous": True}, {"replicate": "mixture"}):
        given = {"problem": entry.problems[0], "rules": rules, **more}
        instance = from_bundle(random_bundle(3, n=n, devices=3, **given))
        if entry.refusal(instance) is None:
            return instance
    raise AssertionError(f"{name} refuses what it is for")


@pytest.mark.parametrize("name", NAMES)
def test_no_time_at_all_still_gives_the_starting_answer(name):
    ran = run(name, instance_for(name, 40, density=0.1), seconds=-1.0)
    assert ran.answer is not None
    assert ran.claim in ("feasible", "optimal")


# Pyomo runs the solver of @highs and builds this model slowly; its limit of 0 s is tested above.
@pytest.mark.parametrize("name", [name for name in NAMES if "pyomo" not in name])
def test_a_short_limit_is_kept_and_not_called_optimal(name):
    # Chips may have no placement where memory is tight, and none is easy to find.
    tight = {} if "chips" in load(name).problems else {"tight": 1.3}
    ran = run(name, instance_for(name, 120, density=0.05, **tight), seconds=1.0)
    assert ran.answer is not None
    assert len(ran.reports) >= 1
    assert ran.claim == "feasible"


@pytest.mark.parametrize("name", NAMES)
def test_a_warm_start_is_used(name):
    instance = instance_for(name, 5)
    best = run(name, instance)
    warm = run(name, instance, start=best.answer)
    assert warm.objective == best.objective
    assert len(warm.reports) == 1  # nothing better can follow
    assert warm.claim == "optimal"


@pytest.mark.parametrize("name", NAMES)
def test_an_invalid_warm_start_is_passed_over(name):
    instance = instance_for(name, 5)
    memory = np.array([0.0, np.inf, np.inf])
    if instance.problem == "chips":  # its first chip is always used
        memory = np.full(3, instance.node_bytes.sum() - 1.0)
    instance = replace(instance, memory=memory)
    start = Answer.of(np.zeros(5, int))
    assert not check(instance, start).valid
    ran = run(name, instance, start=start)  # checks every report
    assert ran.claim == "optimal"


@pytest.mark.parametrize("name", ["prefix@highs", "assign@highs", "calls@highs", *natives()])
def test_two_threads_after_one(name):
    instance = instance_for(name, 9)
    assert run(name, instance, threads=1).objective == pytest.approx(
        run(name, instance, threads=2).objective, rel=1e-6
    )


@pytest.mark.parametrize("name", ["prefix@highs", "assign@scip", "calls@highs", *natives()])
def test_a_gap_may_be_left_open_but_the_claim_stays_within_it(name):
    instance = instance_for(name, 12, density=0.2)
    best, loose = run(name, instance), run(name, instance, gap=0.2)
    assert loose.objective <= best.objective * 1.25 + 1e-12
    assert loose.bounds[-1] <= best.objective * (1 + 1e-6)


def test_refused_rules_raise_with_the_way_out():
    contiguous = from_bundle(random_bundle(1, rules={"contiguous": True}))
    with pytest.raises(Unsupported, match="prefix"):
        load("assign@highs").run(contiguous, Context())
    free = from_bundle(random_bundle(1))
    with pytest.raises(Unsupported, match="assign"):
        load("prefix@highs").run(free, Context())


def test_a_negative_gap_is_refused():
    instance = from_bundle(random_bundle(1))
    with pytest.raises(ValueError, match="gap=-1"):
        load("assign@highs").run(instance, Context(), gap=-1.0)


def test_large_memories_are_kept_to_the_byte():
    # Two nodes of 6e11 + 1 bytes against 1.2e12 + 1: one byte too many for a tolerance of 1e-6.
    instance = from_bundle(random_bundle(1, n=2, devices=2, hosts=0, like=True, density=1.0))
    tight = replace(
        instance,
        node_bytes=np.array([6 * 10**11 + 1, 6 * 10**11 + 1]),
        memory=np.array([1.2e12 + 1, 1.2e12 + 1]),
    )
    assert not throughput.is_valid(tight, np.zeros(2, int))
    for name in ("assign@highs", "assign@scip"):
        ran = run(name, tight)
        assert ran.answer is None or throughput.is_valid(tight, ran.answer.device)
    late = from_bundle(random_bundle(1, n=2, problem="latency"))
    late = replace(late, node_bytes=tight.node_bytes, memory=tight.memory)
    ran = run("intervals", late)
    assert latency.is_valid(late, ran.answer)
    assert ran.claim == "optimal"
