"""Column generation and whole copies by hand, and what is proved on the way."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from problems.answer import Answer
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.catalogue import load
from solvers.method import Context, Unsupported
from solvers.mixtures._columns import Columns
from solvers.mixtures._generate import fits
from solvers.mixtures._pricing import Pricing
from solvers.mixtures._room import Room
from tests import tiny

MIXTURE = {"replicate": "mixture"}


def run(name, instance, seconds=300.0, **options):
    bounds, claims = [], []
    context = Context(
        deadline=time.monotonic() + seconds, on_bound=bounds.append,
        on_claim=lambda claim, value, note: claims.append(claim),
    )  # fmt: skip
    return load(name).run(instance, context, **options), bounds, claims


def test_a_split_graph_and_copies_together_beat_either():
    # Each node is ten times as fast on its own device; moving costs 1 at either end.
    instance = tiny.instance(
        [[1.0, 10.0], [10.0, 1.0], [2.0, 2.0]], [(0, 1), (1, 2)], problem="throughput",
        payload=[0, 0, 0], delay=[1.0, 1.0], rules=MIXTURE,
    )  # fmt: skip
    answer, bounds, claims = run("mixture", instance)
    value = check(instance, answer).objective
    # a on d0, the others on d1: loads 2 and 4 with the transfer. All on d0: 13 and 0. In shares of
    # 13 to 2 both devices are busy for 52 / 15, less than with any two splits (3.5).
    assert value == pytest.approx(52 / 15, rel=1e-9)
    assert bounds[-1] == pytest.approx(52 / 15, rel=1e-6)
    assert claims == ["optimal"]
    copied, _, _ = run("copies", instance)
    assert check(instance, copied).objective == pytest.approx(13 / 2, rel=1e-9)


def test_memory_for_one_mapping_is_not_memory_for_two():
    # Either device holds one node: only one of both mappings, although each fits.
    given = {
        "problem": "throughput", "weights": [{"p": 5}, {"q": 5}], "rules": MIXTURE,
        "delay": [0.0, 0.0],
    }  # fmt: skip
    times = [[1.0, 3.0], [3.0, 4.0]]
    tight = tiny.instance(times, memory=[5, 5], **given)
    answer, bounds, claims = run("mixture", tight)
    assert check(tight, answer).objective == pytest.approx(3.0)
    assert bounds[-1] == pytest.approx(3.0, rel=1e-6)
    assert claims == ["optimal"]
    ample = tiny.instance(times, **given)
    answer, _, claims = run("mixture", ample)
    assert check(ample, answer).objective < 2.5
    assert claims == ["optimal"]


def test_no_room_is_infeasible():
    instance = tiny.instance(
        [[1.0, 1.0]], problem="throughput", memory=[2, 2], weights=[{"p": 5}], rules=MIXTURE
    )
    answer, _, claims = run("mixture", instance)
    assert answer is None
    assert claims == ["infeasible"]
    assert run("copies", instance)[0] is None


def test_other_instances_and_other_methods_are_refused():
    plain = tiny.instance([[1.0, 1.0]], problem="throughput")
    mixed = tiny.instance([[1.0, 1.0]], problem="throughput", rules=MIXTURE)
    for name in ("mixture", "copies"):
        assert "replicate: mixture" in load(name).refusal(plain)
        with pytest.raises(Unsupported, match="replicate: mixture"):
            run(name, plain)
        assert load(name).refusal(mixed) is None
    for name in ("dp", "assign@highs", "stages"):
        assert "replicate: mixture" in load(name).refusal(mixed)


@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize("overlap", ["none", "half", "full"])
@pytest.mark.parametrize("topology", ["staged", "direct"])
def test_pricing_finds_the_mapping_of_least_weighted_load(topology, overlap, contiguous):
    rules = MIXTURE | {"overlap": overlap, "contiguous": contiguous}
    instance = from_bundle(
        random_bundle(5, n=5, devices=3, rules=rules, topology=topology, tight=1.8, tied=2)
    )
    pricing = Pricing(instance, 2.0, 0, 1)
    G, K = pricing.contracted.supported.shape
    rng = np.random.default_rng(1)
    held, barred = rng.random((G, K)) < 0.2, rng.random((G, K)) < 0.15
    barred &= ~held
    for room in (None, Room(held, barred)):
        columns = Columns(instance, 2.0)
        for place in np.ndindex(*(K,) * G):
            device = np.array(place)[instance.group]
            fine = check(instance, Answer(device)).valid and fits(pricing, room, device)
            if fine:
                columns.add(device)
        weights = rng.random(pricing.engines)
        found = pricing.least(weights.reshape(-1, K), room, 300.0)
        if not columns.devices:
            assert math.isinf(found.bound)
            continue
        least = min(float(weights @ load) for load in columns.loads)
        assert found.bound == pytest.approx(least, rel=1e-6)
        assert any(np.array_equal(found.device, each) for each in columns.devices)


@pytest.mark.parametrize("seed", range(6))
def test_symmetry_changes_no_value(seed):
    bundle = random_bundle(
        seed, n=5, devices=4, hosts=seed % 2, like=True, rules=MIXTURE,
        topology=("staged", "direct")[seed % 2],
    )  # fmt: skip
    instance = from_bundle(bundle)
    values = []
    for symmetry in (True, False):
        answer, bounds, claims = run("mixture", instance, symmetry=symmetry)
        values.append(check(instance, answer).objective)
        assert claims == ["optimal"]
        assert bounds[-1] <= values[-1] * (1 + 1e-9)
    assert values[0] == pytest.approx(values[1], rel=2e-6)


def test_stops_in_time_with_a_bound_and_an_answer():
    rules = MIXTURE | {"memory": "weights"}
    instance = from_bundle(random_bundle(3, n=60, devices=4, density=0.1, rules=rules, tight=1.5))
    run("mixture", instance, seconds=0.5)  # compiles
    begin = time.monotonic()
    answer, bounds, _ = run("mixture", instance, seconds=3.0)
    assert time.monotonic() - begin < 60.0  # an ordinary machine needs 4; this says "ends at all"
    relaxed = replace(instance, memory=np.full(instance.K, np.inf))
    assert relaxed.digest != instance.digest
    if answer is not None:
        assert check(instance, answer).objective >= bounds[-1] * (1 - 1e-9)


def test_one_mapping_of_the_plain_problem_is_never_better():
    for seed in range(4):
        instance = from_bundle(random_bundle(seed, n=5, devices=3, tight=1.5, rules=MIXTURE))
        plain = replace(instance, rules=msgspec.structs.replace(instance.rules, replicate="none"))
        single, _, _ = run("assign@highs", plain)
        answer, _, _ = run("mixture", instance)
        if single is None:
            assert answer is None
            continue
        most = check(plain, single).objective
        assert check(instance, answer).objective <= most * (1 + 1e-6)
