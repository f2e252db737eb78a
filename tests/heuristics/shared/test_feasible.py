"""A first fit has as many placements as there are units, at least, and looks at the clock."""

import numpy as np
import pytest

from heuristics.shared import feasible
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.method import Context
from tests.heuristics.samples import of_every_kind


def test_a_first_fit_gets_through_more_units_than_it_has_placements_to_begin_with(monkeypatch):
    for name, most in (("FIRST", 5), ("STEP", 5), ("ALL", 1_000)):
        monkeypatch.setattr(feasible, name, most)
    instance = from_bundle(random_bundle(0, n=60, problem="latency", devices=3, tight=None))
    space = space_.build(instance)
    place = feasible.first_fit(space, Context())
    assert place is not None
    assert place.min() >= 0


def test_pieces_change_nothing(monkeypatch):
    several = [space_.build(instance) for instance in of_every_kind(8, n=14, tight=1.05)]
    whole = [feasible.first_fit(space, Context()) for space in several]
    monkeypatch.setattr(feasible, "SLICE", 3)
    for space, place in zip(several, whole, strict=True):
        again = feasible.first_fit(space, Context())
        assert (again is None) == (place is None)
        assert again is None or np.array_equal(again, place)
    assert sum(place is not None for place in whole) > len(whole) / 2


def test_the_clock_is_looked_at_between_pieces(monkeypatch):
    """After the deadline no more is tried than it takes to place every unit once."""
    tried = []

    def search(space, state, order, devices, choice, at, budget):
        tried.append(budget)
        return feasible._OUT, at

    monkeypatch.setattr(feasible, "_search", search)
    monkeypatch.setattr(feasible, "SLICE", 10)
    instance = from_bundle(random_bundle(0, n=60, problem="latency", devices=3, tight=None))
    space = space_.build(instance)
    assert feasible.first_fit(space, Context(deadline=0.0)) is None
    assert sum(tried) == 2 * len(space.unit_bytes)


def test_calls_are_not_walked_to_where_no_placement_fits(monkeypatch):
    monkeypatch.setattr(feasible, "calls_start", lambda *given, **more: pytest.fail("walked"))
    rules = {"memory": "total"}
    given = {"n": 6, "problem": "calls", "devices": 2, "tight": 0.4}
    instance = from_bundle(random_bundle(0, rules=rules, **given))
    best = Best(instance, Context())
    assert not feasible.baseline(instance, space_.build(instance), Context(), best)


def test_a_walk_under_calls_is_compiled_on_the_rehearsal_instance(monkeypatch):
    walked = []
    monkeypatch.setattr(feasible, "calls_start", lambda *given, **named: walked.append(given))
    for n in (20, 21):
        instance = from_bundle(random_bundle(0, n=n, problem="calls", devices=3, tight=None))
        best = Best(instance, Context())
        assert feasible.baseline(instance, space_.build(instance), Context(), best)
    assert len(walked) == 1
