"""What prices mappings besides the program: minimum cuts, and walks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from problems import mixture, throughput
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.mixtures._chain import chain
from solvers.mixtures._columns import Columns, by_part
from solvers.mixtures._fill import fill
from solvers.mixtures._generate import fits
from solvers.mixtures._local import Local
from solvers.mixtures._pricing import Pricing
from solvers.mixtures._room import Room
from solvers.objective import value

MIXTURE = {"replicate": "mixture"}


def every(instance, pricing, room=None):
    """All mappings that keep every rule by themselves, and are in the room."""
    G = len(pricing.member)
    devices = [np.array(place)[instance.group] for place in np.ndindex(*(instance.K,) * G)]
    return [d for d in devices if throughput.is_valid(instance, d) and fits(pricing, room, d)]


def least(instance, devices, weights):
    """Their least weighted load in seconds."""
    return min(float((weights * mixture.engine_loads(instance, d)).sum()) for d in devices)


@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize("overlap", ["none", "half", "full"])
@pytest.mark.parametrize("topology", ["staged", "direct"])
def test_the_cut_is_the_least_weighted_load_onto_two_devices(topology, overlap, contiguous):
    rules = MIXTURE | {"overlap": overlap, "contiguous": contiguous}
    rng = np.random.default_rng(7)
    for seed in range(8):
        bundle = random_bundle(
            seed, n=8, devices=2, rules=rules, topology=topology, hosts=seed % 2, density=0.4,
        )  # fmt: skip
        instance = from_bundle(bundle)
        pricing = Pricing(instance, 3.0, 0, 1)
        assert pricing.cut is not None
        weights = rng.random((pricing.engines // 2, 2)) * (rng.random() < 0.8)
        devices = every(instance, pricing)
        found = pricing.least(weights, None, 60.0)
        if not devices:
            assert math.isinf(found.bound)
            continue
        best = least(instance, devices, weights) / 3.0
        assert found.bound <= best * (1 + 1e-12)
        assert found.bound == pytest.approx(best, rel=1e-9, abs=1e-12)
        assert any(np.array_equal(found.device, d) for d in devices)
        loads = mixture.engine_loads(instance, found.device)
        assert float((weights * loads).sum()) / 3.0 == pytest.approx(best, rel=1e-9, abs=1e-12)


def test_there_is_no_cut_where_memory_binds_or_devices_are_more():
    for given in ({"devices": 3}, {"devices": 2, "tight": 1.5}):
        instance = from_bundle(random_bundle(1, n=6, rules=MIXTURE, **given))
        assert Pricing(instance, 1.0, 0, 1).cut is None


@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize("overlap", ["none", "half", "full"])
@pytest.mark.parametrize("tied", [0, 2])
def test_walks_find_the_least_weighted_load_of_tiny_instances(overlap, contiguous, tied):
    rules = MIXTURE | {"overlap": overlap, "contiguous": contiguous}
    rng = np.random.default_rng(3)
    for seed in range(4):
        topology = ("staged", "direct")[seed % 2]
        bundle = random_bundle(
            seed, n=6, devices=3, rules=rules, topology=topology, tight=2.2, tied=tied
        )
        instance = from_bundle(bundle)
        pricing = Pricing(instance, 1.0, 0, 1)
        local = Local(instance, pricing.member, seed=0)
        alone = every(instance, pricing)
        assert alone
        # Beside what one mapping holds: the rest of the memory is small.
        held = np.zeros(pricing.contracted.supported.shape, bool)
        held[np.arange(len(held)), alone[0][pricing.member]] = True
        barred = (rng.random(held.shape) < 0.2) & ~held
        for room in (None, Room(held, barred)):
            weights = rng.random((pricing.engines // 3, 3))
            fine = every(instance, pricing, room)
            pairs = (None, None) if room is None else (room.held, room.barred)
            loads = []
            for start in alone[:: max(1, len(alone) // 5)]:  # along a chain, one may be stuck
                found = local.least(weights, start, *pairs, lambda: 60.0)
                if found is None:  # along a chain, not even into the room
                    assert contiguous
                    continue
                assert any(np.array_equal(found, d) for d in fine)
                loads.append(float((weights * mixture.engine_loads(instance, found)).sum()))
            best = least(instance, fine, weights)
            if not loads:
                continue
            assert min(loads) >= best * (1 - 1e-9)
            if not contiguous:  # walks along a chain seldom change the order of devices
                assert min(loads) == pytest.approx(best, rel=1e-9)


def test_weights_of_engines_are_those_of_their_parts():
    one = by_part(np.array([[1.0, 2.0]]))
    assert one.tolist() == [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    assert by_part(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[1, 3, 3], [2, 4, 4]]
    three = by_part(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert three.tolist() == [[1, 3, 5], [2, 4, 6]]


@pytest.mark.parametrize("seed", range(4))
def test_filled_mixtures_fit_and_are_no_worse_than_what_they_grow_from(seed):
    instance = from_bundle(random_bundle(seed, n=8, devices=3, rules=MIXTURE, tight=2.0))
    pricing = Pricing(instance, 1.0, 0, 1)
    local = Local(instance, pricing.member, seed=0)
    devices = every(instance, pricing)
    first = min(devices, key=lambda d: throughput.period(instance, d))
    taken = []
    columns = Columns(instance, 1.0)
    line = chain(instance, lambda: 60.0, line=True) if seed % 2 else None
    fill(pricing, local, columns, [first], line, seed > 1, lambda: 60.0, taken.append)
    values = [value(instance, answer) for answer in taken]
    assert None not in values
    assert min(values) <= throughput.period(instance, first) * (1 + 1e-9)
