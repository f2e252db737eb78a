"""The chain of least weighted load against all chains."""

from __future__ import annotations

import math

import numpy as np
import pytest

from problems import mixture, throughput
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.mixtures import _chain, _ends, _pieces
from solvers.mixtures._chain import chain
from solvers.mixtures._columns import by_part
from solvers.mixtures._generate import fits
from solvers.mixtures._pricing import Pricing
from solvers.mixtures._room import Room

FOREVER = math.inf


def rooms(rng, shape):
    """No room, one where some pairs are held and some are barred, and a crowded one."""
    yield None
    for share in (0.2, 0.4):
        held = rng.random(shape) < share
        yield Room(held, (rng.random(shape) < share) & ~held)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("overlap", ["none", "half", "full"])
@pytest.mark.parametrize("topology", ["staged", "direct"])
def test_the_least_weighted_load_is_that_of_all_chains(topology, overlap, training):
    rules = {"replicate": "mixture", "contiguous": True, "overlap": overlap}
    rng = np.random.default_rng(11)
    solved = bare = 0
    for seed in range(12):
        bundle = random_bundle(
            seed, n=6, devices=3, rules=rules, topology=topology, hosts=seed % 3, density=0.4,
            tight=(1.5, 2.5, None)[seed % 3], tied=2 * (seed % 2), training=training,
            unsupported=0.1, groups=seed % 2,
        )  # fmt: skip
        instance = from_bundle(bundle)
        pricing = Pricing(instance, 1.0, 0, 1)
        program = chain(instance, lambda: FOREVER)
        assert program is not None
        shape = pricing.contracted.supported.shape
        places = [np.array(place) for place in np.ndindex(*(instance.K,) * shape[0])]
        valid = [d for p in places if throughput.is_valid(instance, d := p[instance.group])]
        for room in rooms(rng, shape):
            weights = rng.random((pricing.engines // 3, 3)) * (rng.random(3) < 0.8)
            inside = [d for d in valid if fits(pricing, room, d)]
            load = [float((weights * mixture.engine_loads(instance, d)).sum()) for d in inside]
            bound, device = program.least(by_part(weights), room, lambda: FOREVER)
            if not inside:
                bare += 1
                assert math.isinf(bound)
                assert device is None
                continue
            solved += 1
            assert any(np.array_equal(device, each) for each in inside)
            mine = float((weights * mixture.engine_loads(instance, device)).sum())
            assert bound <= min(load) * (1 + 1e-12) + 1e-15
            assert bound == pytest.approx(min(load), rel=1e-9, abs=1e-12)
            assert mine == pytest.approx(min(load), rel=1e-9, abs=1e-12)
    assert solved > 8
    assert bare > 0


def test_the_program_gives_up_where_it_would_be_large_or_time_is_up(monkeypatch):
    rules = {"replicate": "mixture", "contiguous": True}
    instance = from_bundle(random_bundle(3, n=6, devices=3, rules=rules))
    program = chain(instance, lambda: FOREVER)
    assert program is not None
    assert program.least(np.ones((3, 3)), None, lambda: 0.0) == (0.0, None)
    assert chain(instance, lambda: 0.0) is None
    free = from_bundle(random_bundle(3, n=6, devices=3, rules={"replicate": "mixture"}))
    assert chain(free, lambda: FOREVER) is None
    for limit in ("MOST_DEVICES", "MOST_ITEMS", "MOST_BYTES", "MOST_INSIDE", "MOST_VISITS"):
        with monkeypatch.context() as patched:
            patched.setattr(_chain, limit, 2)
            if limit == "MOST_VISITS":
                patched.setattr(_pieces, "FIRST", 1)
            assert chain(instance, lambda: FOREVER) is None


@pytest.mark.parametrize("most", [1, 5])
def test_a_search_that_is_cut_short_bounds_and_has_a_mapping(most, monkeypatch):
    monkeypatch.setattr(_ends, "MOST", most)
    rules = {"replicate": "mixture", "contiguous": True}
    rng = np.random.default_rng(5)
    for seed in range(6):
        bundle = random_bundle(seed, n=7, devices=3, rules=rules, topology="direct", tight=2.0)
        instance = from_bundle(bundle)
        weights = rng.random((1, 3))
        program = chain(instance, lambda: FOREVER)
        assert program is not None
        bound, device = program.least(by_part(weights), None, lambda: FOREVER)
        places = [np.array(p)[instance.group] for p in np.ndindex(*(3,) * len(program.item))]
        valid = [d for d in places if throughput.is_valid(instance, d)]
        load = [float((weights * mixture.engine_loads(instance, d)).sum()) for d in valid]
        assert 0 < bound <= min(load)
        assert any(np.array_equal(device, each) for each in valid)


@pytest.mark.parametrize("topology", ["staged", "direct"])
def test_cuts_of_one_order_are_mappings_whatever_the_rule(topology):
    rng = np.random.default_rng(2)
    some = 0
    for seed in range(10):
        rules = {"replicate": "mixture", "contiguous": seed % 3 == 0}
        bundle = random_bundle(
            seed, n=6, devices=3, rules=rules, topology=topology, hosts=seed % 2, tight=1.8,
            tied=2 * (seed % 2), unsupported=0.1,
        )  # fmt: skip
        instance = from_bundle(bundle)
        pricing = Pricing(instance, 1.0, 0, 1)
        line = chain(instance, lambda: FOREVER, line=True)
        assert line is not None
        assert line.ends is None
        for room in rooms(rng, pricing.contracted.supported.shape):
            weights = rng.random((1, 3))
            bound, device = line.least(by_part(weights), room, lambda: FOREVER)
            if device is None:
                assert math.isinf(bound)
                continue
            some += 1
            assert throughput.is_valid(instance, device)
            assert fits(pricing, room, device)
            mine = float((weights * mixture.engine_loads(instance, device)).sum())
            assert mine >= bound * (1 - 1e-9)
            assert topology == "direct" or mine == pytest.approx(bound, rel=1e-9)
    assert some > 10
