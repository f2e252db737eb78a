"""Parts of the `chips` heuristics: cuts against all cuts, the walk against the evaluator."""

import math
import time
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest

from heuristics import catalogue
from heuristics.chips import champion, entries, lines, walk
from heuristics.chips.base import place_of
from heuristics.chips.champion import Portfolio
from heuristics.chips.units import build_units
from heuristics.shared.best import Best
from problems import chips
from problems.catalogue import Library
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.cpsat import hops
from solvers.method import Context
from solvers.repair.cuts import reach
from solvers.repair.orders import orders
from solvers.rng import seeded
from tests.brute_force import optimum

NAMES = ("greedy", "random", "annealing", "prefix-cuts", "portfolio")


def sample(seed):
    rules = {"overlap": ("none", "half", "full")[seed % 3], "through_traffic": seed % 4 < 2}
    return from_bundle(
        random_bundle(
            seed, problem="chips", n=5 + seed % 6, devices=2 + seed % 3, density=0.3,
            tight=(None, 1.6)[seed // 3 % 2], groups=seed % 3, rules=rules,
        )
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(24))
def test_cuts_are_the_best_of_all_cuts_of_the_order(seed):
    instance = sample(seed)
    units = build_units(instance)
    U = len(units.nets.time)
    for order in orders(units.problem):
        reaches, best = reach(units.problem, order), np.inf
        for count in range(instance.K):
            for cut in combinations(range(1, U), count):
                ends = [0, *cut, U]
                if any(reaches[a] > b for a, b in pairwise(ends)):
                    continue
                place = np.empty(U, np.int64)
                place[order] = np.searchsorted(cut, np.arange(U), side="right")
                device = place[units.unit]
                if chips.is_valid(instance, device):
                    best = min(best, chips.period(instance, device))
        found = lines.best_cuts(lines.line(units, order), lambda: False)
        assert (found is None) == (best == np.inf)
        if found is not None:
            assert chips.is_valid(instance, found[units.unit])
            assert chips.period(instance, found[units.unit]) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_walk_stays_valid_and_counts_right(seed):
    instance, context = sample(seed), Context(seed=seed)
    units, best = entries.begin(instance, context)
    assert (best.answer is None) == (optimum(instance).objective is None)
    if best.answer is None:
        return
    walker, changed = entries.Walker(units, best, seeded(context.rng)), 0
    p, q, t, w = units.problem, units.nets, walker.partition, walker.walk
    walk.restart(p, q, t, w, place_of(units, best))
    for i in range(40):
        walk.anneal(p, q, t, w, i * 20, 20, 0.3 * best.value, 1.0, 10**6)
        device = t.place[units.unit]
        changed += not np.array_equal(device, best.answer.device)
        assert chips.is_valid(instance, device)
        assert w.energy[1] == pytest.approx(chips.period(instance, device), rel=1e-9)
        assert chips.period(instance, w.best[units.unit]) == pytest.approx(w.energy[2], rel=1e-9)
    assert changed or instance.K == 1 or len(units.nets.time) <= 2 or units.problem.limited


@pytest.mark.parametrize("name", NAMES)
def test_no_entry_is_worse_than_greedy(name):
    few = {"annealing": {"rounds": 1}, "random": {"restarts": 5}}.get(name, {})
    for seed in range(8):
        instance = sample(seed)
        greedy = catalogue.load("greedy").run(instance, Context(seed=1))
        answer = catalogue.load(name).run(instance, Context(seed=2), **few)
        assert (greedy is None) == (answer is None)
        if answer is not None:
            value = Best(instance, Context())
            assert value.offer(greedy)
            assert chips.period(instance, answer.device) <= value.value * (1 + 1e-12)


@cache
def public():
    """The tiny and small public instances of `chips`."""
    library = Library()
    names = [
        each.id
        for each in library.entries()
        if (each.problem, each.split) == ("chips", "public") and each.tier in ("tiny", "small")
    ]
    return {name: library.load(name) for name in names}


def test_there_are_public_instances_that_are_tiny_or_small():
    assert len(public()) >= 5


@pytest.mark.parametrize("name", NAMES)
def test_no_entry_is_worse_than_greedy_on_public_instances(name):
    few = {"annealing": {"rounds": 1}, "random": {"restarts": 3}}.get(name, {})
    for instance in public().values():
        greedy = catalogue.load("greedy").run(instance, Context(seed=1))
        # The portfolio computes bounds that know no end of their own: cut it off.
        until = time.monotonic() + 1.0 if name == "portfolio" else math.inf
        answer = catalogue.load(name).run(instance, Context(seed=2, deadline=until), **few)
        assert chips.is_valid(instance, answer.device)
        worst = chips.period(instance, greedy.device) * (1 + 1e-12)
        assert chips.period(instance, answer.device) <= worst, instance.id


@pytest.mark.parametrize(
    ("seconds", "parts", "runs"), [(2, "all", 0), (2, "exact", 1), (60, "all", 1)]
)
def test_the_portfolio_builds_no_model_that_takes_most_of_its_time(
    seconds, parts, runs, monkeypatch
):
    instance = public()["resnet50:operator/mcm-4-72m/chips"]
    # A model of 0.2 x 10 s.
    monkeypatch.setattr("solvers.cpsat.hops.CLAUSE", 2.0 / hops.clauses(instance))
    monkeypatch.setattr(champion, "annealed", lambda *_, **__: None)
    monkeypatch.setattr(champion.bounds, "names", lambda *_: [])
    called = []

    class Fake:
        refusal = staticmethod(lambda _: None)
        run = staticmethod(lambda *given: called.append(given))

    monkeypatch.setattr(champion.catalogue, "load", lambda _: Fake)
    Portfolio(instance, Context(deadline=time.monotonic() + seconds), parts).run()
    assert len(called) == runs
