"""A first fit has as many placements as there are units, at least."""

from heuristics.shared import feasible
from heuristics.shared import space as space_
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.method import Context


def test_a_first_fit_gets_through_more_units_than_it_has_placements_to_begin_with(monkeypatch):
    for name, most in (("FIRST", 5), ("STEP", 5), ("ALL", 1_000)):
        monkeypatch.setattr(feasible, name, most)
    instance = from_bundle(random_bundle(0, n=60, problem="latency", devices=3, tight=None))
    space = space_.build(instance)
    place = feasible.first_fit(space, Context())
    assert place is not None
    assert place.min() >= 0
