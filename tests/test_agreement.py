"""Methods and bounds against brute force on tiny random instances of every rule combination.

No bound is above the optimum, no method is under it, every answer is valid by the checker, and an
exact method finds the optimum or, where there is no answer, none. Adding a method, a bound or a
rule needs no change here but a line in :data:`CASES`.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import math
import os
import time
from functools import cache
from typing import Any, NamedTuple

import pytest

from problems.answer import Answer
from problems.bounds.registry import REGISTRY as BOUNDS
from problems.bounds.theoretical import theoretical
from problems.checker import check
from problems.generate.random import random_bundle
from problems.instance import Instance
from problems.resolve import from_bundle
from solvers.method import Context, Method
from tests.brute_force import Optimum, optimum

HEURISTIC_SECONDS = 0.02
EXACT_SECONDS = 20.0
SEARCH_SECONDS = 1.0
# Each method takes every so many of the instances that it can solve, from its own offset, so that
# all instances are taken by some: exact methods start a solver a run, and heuristics are many and
# held against brute force in tests/heuristics as well. AGREEMENT_STRIDE=1 takes all.
# So do the bounds that search, all of them together. Primes: a multiple of 2 or 3 would meet the
# same values of the rules again and again.
STRIDES = {"exact": 5, "heuristic": 7, "search": 5}
PACKS = 12
SIZES = {"throughput": (5, 6, 7, 4), "latency": (5, 6, 4), "calls": (4, 5, 4), "chips": (5, 6, 7)}
MIXED = (4, 5, 3)
"""Nodes of mixtures: their optimum takes a program for each way of filling the memories."""
PORTS = (5, 4)
"""Nodes where ports are shared: their optimum takes a schedule for each order of the transfers."""


class Case(NamedTuple):
    """One combination: its name, and the arguments of :func:`random_bundle`."""

    name: str
    arguments: dict[str, Any]


def _cases() -> list[Case]:
    """Every combination of the rules and topologies; other traits are spread over them evenly."""
    result: list[Case] = []

    def add(**arguments: Any) -> None:
        i = len(result)
        problem, rules = arguments["problem"], arguments["rules"]
        K = 2 + i % 2
        sizes = (
            MIXED if "replicate" in rules else PORTS if "contention" in rules else SIZES[problem]
        )
        traits: dict[str, Any] = {
            "n": sizes[i % len(sizes)],
            "devices": K,
            "hosts": min((0, 1, 2)[i // 2 % 3], K),
            "density": (0.25, 0.5, 0.8)[i // 3 % 3],
            "tight": (None, 0.8, 1.1, 1.6, None)[i % 5],
            "like": i // 5 % 2 == 1,
            "groups": (0, 1, 0, 2)[i // 4 % 4],
            "tied": (0, 2, 1)[i // 7 % 3],
            "training": bool(rules.get("split_phases")) or i // 6 % 2 == 1,
            "unsupported": (0.0, 0.25)[i // 8 % 2],
            "ties": i // 9 % 3 == 2,
            "uneven": i // 2 % 3 == 1,
            "unlimited": problem == "latency" and i // 2 % 4 == 3,
        }
        label = ",".join(k if v is True else f"{k}={v}" for k, v in rules.items() if v)
        name = f"{i}-{problem}-{arguments['topology']}-{label}"
        result.append(Case(name, {**traits, **arguments, "seed": i}))

    memories, both = ("total", "weights", "ignored"), (False, True)
    for topology, contiguous, overlap, split, memory, tied in itertools.product(
        ("staged", "direct"), both, ("none", "half", "full"), both, memories, both
    ):
        rules = {"contiguous": contiguous, "overlap": overlap, "split_phases": split}
        rules |= {"memory": memory, "colocate_tied": tied}
        add(problem="throughput", topology=topology, rules=rules)
    for topology, memory, tied, _ in itertools.product(
        ("staged", "direct"), memories, both, range(6)
    ):
        rules = {"memory": memory, "colocate_tied": tied}
        add(problem="latency", topology=topology, rules=rules)
    for topology, memory, tied, _ in itertools.product(
        ("staged", "direct"), memories, both, range(4)
    ):
        rules = {"memory": memory, "colocate_tied": tied, "contention": "ports"}
        add(problem="latency", topology=topology, rules=rules)
    for slots, memory, tied, _ in itertools.product((1, 2, 3, None), memories, both, range(3)):
        rules = {"memory": memory, "colocate_tied": tied}
        rules |= {} if slots is None else {"slots": slots}
        add(problem="calls", topology="staged", rules=rules)
    for overlap, through, memory, tied, _ in itertools.product(
        ("none", "half", "full"), both, memories, both, range(2)
    ):
        rules = {"overlap": overlap, "through_traffic": through}
        rules |= {"memory": memory, "colocate_tied": tied}
        add(problem="chips", topology="direct", rules=rules)
    for topology, contiguous, overlap, memory, tied in itertools.product(
        ("staged", "direct"), both, ("none", "half", "full"), memories, both
    ):
        rules = {"contiguous": contiguous, "overlap": overlap, "replicate": "mixture"}
        rules |= {"memory": memory, "colocate_tied": tied}
        add(problem="throughput", topology=topology, rules=rules)
    return result


CASES = _cases()


@cache
def solved(case: int) -> tuple[Instance, Optimum]:
    instance = from_bundle(random_bundle(**CASES[case].arguments))
    return instance, optimum(instance)


@cache
def cheap_bound(case: int) -> float:
    return theoretical(solved(case)[0]).value


@cache
def registered() -> list[Method]:
    """Every method of the catalogues that this environment can load."""
    methods: list[Method] = []
    for package in ("solvers", "heuristics"):
        if importlib.util.find_spec(f"{package}.catalogue") is None:
            continue
        catalogue = importlib.import_module(f"{package}.catalogue")
        methods += [catalogue.load(name) for name in catalogue.names()]
    return methods


def test_cases_cover_the_rules():
    """The sweep is what it says: 300 instances, all combinations, feasible and infeasible ones."""
    instances = [solved(case) for case in range(len(CASES))]
    assert len(instances) >= 300
    assert len({instance.digest for instance, _ in instances}) == len(instances)
    combinations = {(i.problem, i.rules, i.staged) for i, _ in instances}
    infeasible = sum(best.objective is None for _, best in instances)
    assert len(combinations) == 144 + 72 + 12 + 12 + 24 + 36
    print(f"{len(instances)} instances, {len(combinations)} rule combinations, "
          f"{infeasible} infeasible")  # fmt: skip
    for problem in SIZES:
        mine = [(i, best) for i, best in instances if i.problem == problem]
        assert sum(best.objective is None for _, best in mine) >= 3
        assert sum(i.memory.min() < math.inf for i, _ in mine) >= 20
        assert sum(len(i.shared_bytes) > 0 for i, _ in mine) >= 10
        assert sum(i.group.max() + 1 < i.n for i, _ in mine) >= 10
        assert sum(i.phase.max() > 0 for i, _ in mine) >= 10
        if problem == "chips":  # all alike, and in an order
            continue
        assert sum(not math.isfinite(i.time.max()) for i, _ in mine) >= 10
        assert sum(len(set(i.device_class.tolist())) < i.K for i, _ in mine) >= 10
        for hosts in (0, 1, 2):
            assert sum(i.host.sum() == hosts for i, _ in mine) >= 5
    assert sum(i.unlimited.any() for i, _ in instances) >= 10


@pytest.mark.parametrize("pack", range(PACKS))
def test_no_bound_is_above_the_optimum(pack):
    stride = int(os.environ.get("AGREEMENT_STRIDE", STRIDES["search"]))
    for case in range(pack, len(CASES), PACKS):
        instance, best = solved(case)
        effort = "cheap" if case % stride else "search"
        found = theoretical(instance, effort=effort, seconds=SEARCH_SECONDS)
        told = {b.name for b in found.bounds} | {name for name, _ in found.refused}
        assert told | set(found.left_out) == set(BOUNDS)
        assert not (effort == "search" and found.left_out)
        assert found.value == max((b.value for b in found.bounds), default=0.0)
        for each in found.bounds:
            assert math.isfinite(each.value)
            assert each.value >= 0
            if best.objective is not None:
                assert each.value <= best.objective, (CASES[case].name, each)


@pytest.mark.parametrize("entry", registered(), ids=lambda entry: entry.name)
def test_method_agrees_with_the_optimum(entry):
    exact = entry.kind == "exact"
    able = [c for c in range(len(CASES)) if entry.refusal(solved(c)[0]) is None]
    assert able, f"{entry.name} refuses every tiny instance"
    stride = int(os.environ.get("AGREEMENT_STRIDE", STRIDES[entry.kind]))
    alike = [method.name for method in registered() if method.kind == entry.kind]
    able = able[alike.index(entry.name) % stride :: stride]
    reached = 0
    for i, case in enumerate(able):
        instance, best = solved(case)
        # A known optimum and bound may not cut the optimum off.
        answer, reports = _run(entry, case, informed=exact and i % 3 == 2)
        where = f"{entry.name} on {CASES[case].name}"
        if best.objective is None:
            assert answer is None or not check(instance, answer).valid, where
            assert not exact or answer is None, where
            assert not exact or reports.claims[-1:] == ["infeasible"], (where, reports.claims)
            continue
        assert "infeasible" not in reports.claims, where
        for each in [*reports.answers, *([] if answer is None else [answer])]:
            verdict = check(instance, each)
            assert verdict.valid, (where, verdict)
            assert verdict.objective >= best.objective * (1 - 1e-12), (where, best)
        for value in reports.bounds:
            assert value <= best.objective * (1 + 1e-6) + 1e-12, (where, value, best)
        if exact:
            assert answer is not None, (where, best)
            objective = check(instance, answer).objective
            assert math.isclose(objective, best.objective, rel_tol=1e-6, abs_tol=1e-9), (
                f"{where}: {objective} against the optimum {best.objective}"
            )
        elif answer is not None:
            reached += check(instance, answer).objective <= best.objective * (1 + 1e-9)
    print(f"{entry.name}: {len(able)} instances" + ("" if exact else f", optimal on {reached}"))


class Reports(NamedTuple):
    """What a method handed over while it ran."""

    answers: list[Answer]
    bounds: list[float]
    claims: list[str]


def _run(entry: Method, case: int, informed: bool) -> tuple[Answer | None, Reports]:
    instance, best = solved(case)
    reports = Reports([], [], [])
    limit = EXACT_SECONDS if entry.kind == "exact" else HEURISTIC_SECONDS
    context = Context(
        seed=case,
        deadline=time.monotonic() + limit,
        start=best.answer if informed else None,
        bound=cheap_bound(case) if informed else 0.0,
        on_answer=reports.answers.append,
        on_bound=reports.bounds.append,
        on_claim=lambda claim, objective, note: reports.claims.append(claim),
    )
    return entry.run(instance, context), reports
