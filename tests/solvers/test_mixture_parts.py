"""The least weighted load of like devices against all mappings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from problems import mixture, throughput
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.formulations._contract import contract
from solvers.mixtures import _parts
from solvers.mixtures._parts import parts
from solvers.mixtures._pricing import Pricing
from solvers.mixtures._room import Room

FOREVER = math.inf


def like(seed, **given):
    rules = {"replicate": "mixture"} | given.pop("rules", {})
    given = {"topology": ("staged", "direct")[seed % 2], "n": 6} | given
    return from_bundle(random_bundle(seed, devices=3, hosts=0, like=True, rules=rules, **given))


def loads(instance):
    """Mean parts of a load (computing, receiving, sending) of all valid mappings."""
    G = int(instance.group.max()) + 1
    every = [np.array(place)[instance.group] for place in np.ndindex(*(instance.K,) * G)]
    valid = [device for device in every if throughput.is_valid(instance, device)]
    return valid, [throughput.parts(instance, device).sum(axis=(0, 1)) for device in valid]


@pytest.mark.parametrize("topology", ["staged", "direct"])
@pytest.mark.parametrize("groups", [0, 2])
def test_it_is_that_of_all_mappings(topology, groups):
    rng = np.random.default_rng(4)
    solved = bare = transfers = 0
    for seed in range(30):
        instance = like(
            seed, topology=topology, tight=(0.9, 1.3, 2.0)[seed % 3], groups=groups,
            density=(0.3, 0.6)[seed % 2], rules={"memory": ("total", "weights")[seed // 2 % 2]},
        )  # fmt: skip
        contracted = contract(instance)
        search = parts(instance, contracted)
        if search is None:  # a group reads what comes after it, or fits nowhere
            bare += 1
            assert groups or not contracted.supported.all()
            continue
        weight = rng.random(3)
        bound, device = search.least(weight, lambda: FOREVER)
        valid, each = loads(instance)
        if not valid:
            bare += 1
            assert math.isinf(bound)
            continue
        solved += 1
        best = min(float(weight @ load) for load in each)
        assert bound <= best
        assert bound == pytest.approx(best, rel=1e-9)
        assert any(np.array_equal(device, other) for other in valid)
        mine = throughput.parts(instance, device).sum(axis=(0, 1))
        transfers += mine[1:].any()
        assert float(weight @ mine) == pytest.approx(best, rel=1e-9)
    assert solved > 10
    assert transfers > 5
    assert bare > 0


@pytest.mark.parametrize("limit", ["MOST", "MOST_ALL"])
def test_what_is_cut_short_still_bounds(limit, monkeypatch):
    monkeypatch.setattr(_parts, limit, 12)
    for seed in range(8):
        instance = like(seed, tight=1.5)
        search = parts(instance, contract(instance))
        _, each = loads(instance)
        bound, _ = search.least(np.ones(3), lambda: FOREVER)
        assert bound <= min((float(load.sum()) for load in each), default=math.inf)
        assert search.least(np.ones(3), lambda: 0.0)[0] <= bound


def test_weights_that_several_groups_read_only_make_it_a_bound():
    for seed in range(10):
        instance = like(seed, tight=1.3, tied=3)
        search = parts(instance, contract(instance))
        valid, each = loads(instance)
        bound, device = search.least(np.ones(3), lambda: FOREVER)
        assert bound <= min((float(load.sum()) for load in each), default=math.inf)
        assert device is None or any(np.array_equal(device, other) for other in valid)


def test_it_takes_like_devices_without_a_chain():
    unlike = from_bundle(random_bundle(1, devices=3, hosts=0, rules={"replicate": "mixture"}))
    host = from_bundle(random_bundle(1, devices=3, like=True, rules={"replicate": "mixture"}))
    for instance in (unlike, host, like(1, rules={"contiguous": True})):
        assert parts(instance, contract(instance)) is None


@pytest.mark.parametrize("overlap", ["none", "half", "full"])
def test_the_pricing_asks_it_for_equal_weights_in_an_open_room(overlap, monkeypatch):
    instance = like(2, tight=1.5, rules={"overlap": overlap})
    pricing = Pricing(instance, 2.0, 0, 1)
    assert pricing.parts is not None
    G, engines = len(pricing.member), pricing.engines // 3
    none = np.zeros((G, 3), bool)
    weights = np.repeat(np.random.default_rng(0).random((engines, 1)), 3, axis=1)
    valid, _ = loads(instance)
    best = min(float((weights * mixture.engine_loads(instance, d)).sum()) for d in valid) / 2.0
    for room in (None, Room(none, none)):
        found = pricing.least(weights, room, FOREVER)
        assert found.bound == pytest.approx(best, rel=1e-9)
    monkeypatch.setattr(_parts.Parts, "least", None)  # the program does the rest
    held = none.copy()
    held[0, 0] = True
    assert pricing.least(weights, Room(held, none), FOREVER).bound <= best * (1 + 1e-6)
    weights[0, 0] *= 1.1
    assert pricing.least(weights, None, FOREVER).bound >= best * (1 - 1e-6)
