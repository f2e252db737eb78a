"""Mappings crossed with the current one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from heuristics.neighbourhoods.mates import MOST, Mates
from heuristics.neighbourhoods.throughput_window import solve
from heuristics.shared import anneal_throughput
from heuristics.shared import rng as rng_
from heuristics.shared import space as space_
from problems import throughput
from tests.heuristics.samples import samples


def test_like_devices_are_renamed_and_no_others():
    mates = Mates(np.array([0, 0, 0, 1]))
    mates.add(1.0, np.array([0, 0, 1, 1, 2, 3]))
    assert mates.aligned(0, np.array([2, 2, 0, 0, 1, 3])).tolist() == [2, 2, 0, 0, 1, 3]
    assert mates.aligned(0, np.array([3, 3, 1, 1, 2, 0])).tolist() == [0, 0, 1, 1, 2, 3]


def test_the_better_of_two_alike_stays_and_no_more_than_some():
    mates = Mates(np.array([0, 0]))
    place = np.array([0] * 10 + [1] * 10)
    mates.add(2.0, place)
    mates.add(3.0, 1 - place)
    assert [value for value, _ in mates.places] == [2.0]
    mates.add(1.0, 1 - place)
    assert [value for value, _ in mates.places] == [1.0]
    mates.add(np.inf, np.zeros(20, int))
    for i in range(2 * MOST):
        other = place.copy()
        other[i] = 1 - other[i]
        mates.add(5.0 - 0.1 * i, other)
    values = [value for value, _ in mates.places]
    assert len(values) == MOST
    assert values == sorted(values)
    assert values[-1] < 5.0


def test_a_window_between_two_mappings_is_the_best_of_all_crossings():
    compared = 0
    rng = np.random.default_rng(5)
    rules = {"split_phases": False, "contiguous": False}
    for seed, instance in samples(160, problem="throughput", rules=rules):
        space = space_.build(instance)
        first = space.unit_node[space.unit_ptr[:-1]]
        tried = [rng.integers(instance.K, size=len(first)) for _ in range(200)]
        valid = [each for each in tried if throughput.is_valid(instance, each[space.unit])][:2]
        if instance.K == 1 or len(valid) < 2 or np.array_equal(*valid):
            continue
        mine, other = valid
        before = throughput.period(instance, mine[space.unit])
        if before == 0.0:
            continue
        run = anneal_throughput.search(space, rng_.seeded(rng))
        anneal_throughput.restart(space, run, mine)
        free = np.flatnonzero(mine != other)
        devices = np.unique(np.concatenate([mine[free], other[free]]))
        place, complete, _ = solve(
            run.problem, run.walk.state, free, devices, other, effort=5.0, seconds=5.0, seed=0
        )
        assert complete, seed
        best = np.inf
        for taken in itertools.product((False, True), repeat=len(free)):
            each = mine.copy()
            each[free[list(taken)]] = other[free[list(taken)]]
            if throughput.is_valid(instance, each[space.unit]):
                best = min(best, throughput.period(instance, each[space.unit]))
        if place is not None:
            assert np.all((place == mine) | (place == other)), seed
        if len(devices) == instance.K:  # no load is left out of what is minimised
            found = mine if place is None else place
            reached = throughput.period(instance, found[space.unit])
            assert reached == pytest.approx(min(best, before), rel=1e-4), seed
            compared += place is not None
    assert compared >= 20
