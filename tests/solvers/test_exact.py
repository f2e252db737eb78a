"""Every exact entry equals brute force, and says infeasible exactly where nothing is valid."""

from __future__ import annotations

import math
from functools import cache, partial

import pytest

from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.catalogue import load, names
from tests.brute_force import optimum
from tests.solvers.runs import agrees, run
from tests.solvers.tiny import calls_instances, instances

PACKS = 6
THROUGHPUT, LATENCY = range(110), range(80)
TAKEN = 6
BACKENDS = ("highs", "scip", "pyomo-highs")


def form(instance):
    return "prefix" if instance.rules.contiguous else "assign"


@cache
def few(problem):
    """A few instances of at most five nodes, with what brute force says of them."""
    make = calls_instances if problem == "calls" else partial(instances, problem)
    cases = [each for each in make(range(900, 960)) if each[1].n <= 5]
    if problem == "throughput":
        mixtures = instances(problem, range(960, 1000), replicate="mixture", split_phases=False)
        cases += [each for each in mixtures if each[1].n <= 5]
    return [(seed, instance, optimum(instance).objective) for seed, instance in cases]


@pytest.mark.parametrize("name", [name for name in names() if load(name).kind == "exact"])
def test_every_entry_equals_brute_force_on_what_it_takes(name):
    entry = load(name)
    for problem in entry.problems:
        cases = [each for each in few(problem) if entry.refusal(each[1]) is None][:TAKEN]
        assert len(cases) == TAKEN
        for seed, instance, best in cases:
            given = {"symmetry": seed % 3 > 0} if "symmetry" in entry.options else {}
            ran = run(name, instance, **given)
            if name.endswith("@cp-sat") and ran.claim == "feasible":  # proved up to its rounding
                assert math.isclose(ran.objective, best, rel_tol=1e-6), (seed, best, ran)
                assert all(bound <= best * (1 + 1e-9) for bound in ran.bounds), (seed, best, ran)
            else:
                assert agrees(ran, best), (seed, best, ran)


@pytest.mark.parametrize("pack", range(PACKS))
def test_throughput_equals_brute_force(pack):
    for seed, instance in instances("throughput", THROUGHPUT)[pack::PACKS]:
        best = optimum(instance).objective
        # HiGHS takes all instances, the others every third one in turn.
        for backend in {"highs", BACKENDS[seed // PACKS % 3]}:
            name = f"{form(instance)}@{backend}"
            ran = run(name, instance, symmetry=seed % 3 > 0)
            assert agrees(ran, best), (name, seed, best, ran)


@pytest.mark.parametrize("pack", range(2))
def test_latency_equals_brute_force(pack):
    for seed, instance in instances("latency", LATENCY)[pack::2]:
        best = optimum(instance).objective
        ran = run("intervals", instance, symmetry=seed % 3 > 0)
        assert agrees(ran, best), (seed, best, ran)


def test_the_instances_cover_what_matters():
    for problem, seeds in (("throughput", THROUGHPUT), ("latency", LATENCY)):
        mine = [instance for _, instance in instances(problem, seeds)]
        none = sum(optimum(i).objective is None for i in mine)
        assert len(mine) >= len(seeds) * 0.8
        assert 5 <= none <= len(mine) / 2
        assert sum(len(set(i.device_class.tolist())) < i.K for i in mine) >= 10
        assert sum(len(i.shared_bytes) > 0 and math.isfinite(i.memory[0]) for i in mine) >= 10
        assert sum(i.group.max() + 1 < i.n for i in mine) >= 20
        assert sum(not math.isfinite(i.time.max()) for i in mine) >= 10
        if problem == "throughput":
            keys = {
                (i.rules.contiguous, i.rules.overlap, i.rules.split_phases, i.staged) for i in mine
            }
            assert len(keys) == 24
            assert sum(i.phase.max() > 0 for i in mine) >= 20


@pytest.mark.parametrize("topology", ["staged", "direct"])
@pytest.mark.parametrize("contiguous", [True, False])
def test_backends_agree_on_larger_instances(topology, contiguous):
    instance = from_bundle(
        random_bundle(
            8, n=16, devices=3, hosts=1, like=True, topology=topology, density=0.15, tight=1.5,
            tied=2, groups=2, rules={"contiguous": contiguous},
        )
    )  # fmt: skip
    found = {b: run(f"{form(instance)}@{b}", instance) for b in BACKENDS}
    assert {ran.claim for ran in found.values()} == {"optimal"}
    values = [ran.objective for ran in found.values()]
    assert max(values) <= min(values) * (1 + 1e-6), dict(zip(found, values, strict=True))


@pytest.mark.parametrize("name", ["prefix@highs", "assign@highs"])
def test_symmetry_rows_change_no_optimum(name):
    rules = {"contiguous": name.startswith("prefix"), "overlap": "half"}
    instance = from_bundle(
        random_bundle(5, n=12, devices=4, hosts=1, like=True, density=0.2, rules=rules)
    )
    with_, without = (run(name, instance, symmetry=s).objective for s in (True, False))
    assert math.isclose(with_, without, rel_tol=1e-6)


def test_latency_on_a_larger_instance_with_like_devices():
    instance = from_bundle(
        random_bundle(2, n=25, devices=3, hosts=0, like=True, density=0.15, problem="latency")
    )
    with_, without = (run("intervals", instance, symmetry=s) for s in (True, False))
    assert (with_.claim, without.claim) == ("optimal", "optimal")
    assert math.isclose(with_.objective, without.objective, rel_tol=1e-6)


@pytest.mark.parametrize("name", names())
def test_the_wrong_rules_are_refused(name):
    entry = load(name)
    taken = dict.fromkeys(("throughput", "latency", "calls", "chips"), 0)
    for rules in ({"contiguous": True}, {"contiguous": False}, {"replicate": "mixture"}):
        instance = from_bundle(random_bundle(1, rules=rules))
        taken["throughput"] += entry.refusal(instance) is None
    for problem in ("latency", "calls", "chips"):
        instance = from_bundle(random_bundle(1, problem=problem))
        taken[problem] += entry.refusal(instance) is None
    assert {problem for problem, count in taken.items() if count} == set(entry.problems)
    if name.startswith(("prefix@", "assign@")):
        assert taken["throughput"] == 1
