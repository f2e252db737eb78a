"""The champion: it stops at the bound, survives its parts, and says which part did what."""

import math
import time

import numpy as np
import pytest

from bench.warm import tiny_like
from heuristics import catalogue, portfolio
from heuristics.champion import bounds, parts, plan
from heuristics.champion.parts import PARTS
from heuristics.champion.plan import ENDLESS, KINDS, PLANS, TINY
from heuristics.neighbourhoods import calls, latency, throughput
from heuristics.orders import runs
from problems.bounds.theoretical import theoretical
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.method import Context


def instance_of(problem, seed=5, **rules):
    """25 nodes on three devices: more than a tiny instance."""
    bundle = random_bundle(
        seed, problem=problem, n=25, devices=3, topology="staged", hosts=1, density=0.2, rules=rules
    )
    return from_bundle(bundle)


def chain():
    return instance_of("throughput", contiguous=True)


def run(instance, parts="all", **given):
    claims, found, proved = [], [], []
    context = Context(
        on_claim=lambda *claim: claims.append(claim),
        on_answer=found.append,
        on_bound=proved.append,
        **given,
    )
    answer = catalogue.load("portfolio").run(instance, context, parts=parts)
    assert len(claims) == 1
    return answer, claims[0], found, proved


def test_a_proof_ends_the_run_and_is_passed_on():
    instance = chain()
    assert instance.n * instance.K > TINY
    # Longer than a test may take: only the proof can have ended it.
    answer, (claim, value, note), found, proved = run(instance, deadline=time.monotonic() + 1_000)
    assert claim == "optimal"
    assert value == pytest.approx(check(instance, answer).objective, rel=1e-12)
    assert value == pytest.approx(proved[-1], rel=1e-5)
    assert "proved by dp" in note or "meets the bound" in note
    assert "answer by" in note
    values = [check(instance, each).objective for each in found]
    assert values == sorted(values, reverse=True)
    assert proved == sorted(proved)
    assert proved[0] >= theoretical(instance).bounds[-1].value


@pytest.mark.parametrize("problem", ["throughput", "latency", "calls"])
def test_an_answer_that_meets_a_bound_ends_the_run(problem, monkeypatch):
    instance = instance_of(problem)
    known = catalogue.load("greedy").run(instance, Context())
    value = check(instance, known).objective
    monkeypatch.setattr(bounds, "names", lambda instance, limit: [])
    for name in [each for each in PARTS if each != "single"]:
        monkeypatch.setitem(PARTS, name, lambda task: pytest.fail("the run is over"))
    answer, claim, _, _ = run(instance, start=known, bound=value)
    assert check(instance, answer).objective <= value
    assert claim[0] == "optimal"
    assert "it meets the bound of the context" in claim[2]


def test_a_part_that_raises_is_survived_and_named(monkeypatch):
    def broken(task):
        raise RuntimeError("no such wire")

    for name in ("greedy", "dp"):
        monkeypatch.setitem(PARTS, name, broken)
    instance = chain()
    answer, (claim, value, note), _, _ = run(instance, deadline=time.monotonic() + 1.0)
    assert check(instance, answer).objective == pytest.approx(value, rel=1e-12)
    assert claim in ("feasible", "optimal")
    assert "failed: greedy: RuntimeError: no such wire" in note
    assert "failed: dp: RuntimeError: no such wire" in note


def test_every_case_has_a_plan_that_uses_all_time():
    assert set(KINDS) | {"single"} == set(PARTS)
    for problem in ("throughput", "contiguous", "latency", "ports", "calls"):
        rows = [row for row in PLANS if row.problem == problem]
        assert rows[0].places == TINY
        assert (rows[-1].places, rows[-1].limit) == (math.inf, math.inf)
    for row in PLANS:
        assert all(name in KINDS and 0 < share <= 1 for name, share in row.steps)
        # Annealing ends after some rounds here; windows go on.
        assert row.places == TINY or row.steps[-1] == ("lns", 1.0)


def test_the_plan_follows_from_problem_size_and_limit():
    instance = chain()
    assert [name for name, _ in plan.plan(instance, 0.1)] == ["greedy", "dp", "annealing", "lns"]
    assert dict(plan.plan(instance, 10.0))["stages"] == 0.5
    without = [name for name, _ in plan.plan(instance, math.inf)]
    assert "dp" in without
    assert not set(without) & set(ENDLESS)
    exact = [name for name, _ in plan.plan(instance, 10.0, "exact")]
    assert exact == ["bounds", "dp", "stages", "prefix@highs"]
    free = instance_of("throughput")
    assert not {"stages", "assign@highs"} & {name for name, _ in plan.plan(free, 0.4)}
    exact = [name for name, _ in plan.plan(free, 0.4, "exact")]
    assert exact == ["bounds", "stages", "assign@highs"]
    assert {"starts", "sprint", "assign@highs"} < {name for name, _ in plan.plan(free, 1.0)}
    heuristic = [name for name, _ in plan.plan(instance, 10.0, "heuristic")]
    assert heuristic == ["bounds", "greedy", "starts", "lns", "lns"]


def test_bounds_are_chosen_by_the_limit():
    instance = chain()
    every = bounds.names(instance, math.inf)
    assert set(every) == {each.name for each in theoretical(instance).bounds}
    assert bounds.names(instance, 0.01) == every[: len(bounds.names(instance, 0.01))]
    assert len(bounds.names(instance, 0.01)) < len(every)


@pytest.mark.parametrize("problem", ["throughput", "latency", "calls"])
def test_without_a_deadline_the_seed_alone_decides(problem, monkeypatch):
    for each in (throughput, latency, calls):
        monkeypatch.setattr(each, "ROUNDS", 1)
    instance = instance_of(problem)
    first, second = (run(instance, seed=3)[0] for _ in range(2))
    assert np.array_equal(first.device, second.device)
    if first.order is not None:
        assert all(map(np.array_equal, first.order, second.order))
    if first.slot is not None:
        assert np.array_equal(first.slot, second.slot)


def test_with_ports_the_long_walk_goes_out_from_a_list_schedule_as_well(monkeypatch):
    instance = from_bundle(
        random_bundle(80, problem="latency", n=60, devices=4, rules={"contention": "ports"})
    )
    for name in ("bounds", "annealing", "lns"):
        monkeypatch.setitem(PARTS, name, lambda task: None)
    answer = run(instance, deadline=time.monotonic() + 60.0)[0]
    value = check(instance, answer).objective
    alone = {name: catalogue.load(name).run(instance, Context()) for name in ("greedy", "heft")}
    greedy, heft = (check(instance, each).objective for each in alone.values())
    assert heft < greedy  # or the case shows nothing
    assert value <= heft


def test_whole_models_stop_before_the_run_does(monkeypatch):
    ends = []

    class Entry:
        refusal = staticmethod(lambda instance: None)
        run = staticmethod(lambda instance, context: ends.append(context.deadline))

    monkeypatch.setattr(parts.catalogue, "load", lambda name: Entry)
    for name in set(PARTS) - {"single", "assign@highs"}:
        monkeypatch.setitem(PARTS, name, lambda task: None)
    monkeypatch.setattr(plan, "PLANS", [plan.Row("throughput", 1e9, 1e9, (("assign@highs", 1.0),))])
    instance, end = instance_of("throughput"), time.monotonic() + 60.0
    run(instance, deadline=end)
    assert ends == [pytest.approx(end - parts.LATE["highs"], abs=1e-6)]
    run(instance, deadline=time.monotonic() + parts.LATE["highs"] / 2)
    assert len(ends) == 1  # no time for a model


@pytest.mark.parametrize("problem", ["throughput", "latency", "calls"])
def test_large_instances_begin_with_all_of_greedy(monkeypatch, problem):
    taken = []
    for name in set(PARTS) - {"single"}:
        monkeypatch.setitem(
            PARTS, name, lambda task, name=name: taken.append((name, task.context.deadline))
        )
    instance, end = instance_of(problem), time.monotonic() + 60.0
    run(instance, deadline=end)
    assert [each for each in taken if each[0] == "greedy"] != [("greedy", end)]
    taken.clear()
    monkeypatch.setitem(portfolio.LARGE, problem, instance.n * instance.K - 1)
    run(instance, deadline=end)
    assert taken[0] == ("greedy", pytest.approx(end, abs=1e-6))
    assert [name for name, _ in taken].count("greedy") == 1
    taken.clear()
    run(instance, deadline=end, parts="exact")
    assert "greedy" not in dict(taken)


@pytest.mark.parametrize("slots", [None, 1, 2, 3])
def test_the_warm_up_goes_all_the_way_through_runs(monkeypatch, slots):
    passes = []
    true = runs._pass
    monkeypatch.setattr(runs, "_pass", lambda *given: passes.append(1) or true(*given))
    given = {} if slots is None else {"slots": slots}
    run(tiny_like(from_bundle(random_bundle(1, n=30, problem="calls", rules=given))))
    assert passes
