"""What a mixture with shared memory begins with: counts of groups, one knapsack, stages."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from problems import mixture, throughput
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.mixtures import _surrogate
from solvers.mixtures._counts import Counts
from solvers.mixtures._stages import Line, spread, stages
from solvers.mixtures._surrogate import surrogate
from solvers.objective import value
from tests import brute_force_mixture, tiny

MIXTURE = {"replicate": "mixture"}
FOREVER = math.inf


def cheapest(cost, weight, number, room):
    """The least cost by trying everything; inf if nothing fits."""
    groups = np.repeat(np.arange(len(number)), number)
    best = math.inf
    for places in itertools.product(range(cost.shape[1]), repeat=len(groups)):
        if weight[groups, places].sum() <= room:
            best = min(best, float(cost[groups, places].sum()))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_one_knapsack_is_solved(seed):
    rng = np.random.default_rng(seed)
    number = rng.integers(1, 4, 3)
    cost, weight = rng.random((3, 3)), rng.random((3, 3)) * (rng.random(3) < 0.7)
    cost[rng.random(cost.shape) < 0.15] = np.inf
    cost[:, 0] = rng.random(3) + 0.5
    room = float(rng.random() * weight.sum())
    best = cheapest(cost, weight, number, room)
    found = surrogate(cost, weight, number, room, FOREVER, lambda: FOREVER)
    if math.isfinite(best):
        assert found == pytest.approx(best, rel=1e-9)
        assert found <= best
        # Levels end where enough is proved.
        some = surrogate(cost, weight, number, room, 0.9 * best, lambda: FOREVER)
        assert some <= best
        assert some >= min(0.9 * best, found) * (1 - 1e-9)


def test_a_knapsack_with_too_many_labels_or_no_time_still_bounds(monkeypatch):
    rng = np.random.default_rng(0)
    cost, weight, number = rng.random((3, 3)), rng.random((3, 3)), np.array([2, 2, 2])
    room = 0.4 * float(number @ weight.min(axis=1)) + 0.6 * float(number @ weight.max(axis=1))
    best = cheapest(cost, weight, number, room)
    assert surrogate(cost, weight, number, room, FOREVER, lambda: 0.0) <= best
    monkeypatch.setattr(_surrogate, "MOST", 1)
    assert surrogate(cost, weight, number, room, FOREVER, lambda: FOREVER) <= best


@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize("overlap", ["none", "half", "full"])
def test_counts_bound_no_more_than_the_best_mixture(overlap, contiguous):
    rules = MIXTURE | {"overlap": overlap, "contiguous": contiguous}
    for seed in range(6):
        bundle = random_bundle(
            seed, n=5, devices=3, rules=rules, hosts=seed % 2, tight=(1.3, 2.0)[seed % 2],
            tied=2 * (seed % 2), groups=seed % 3, unsupported=0.1, ties=seed % 2 == 0,
            topology=("staged", "direct")[seed // 2 % 2],
        )  # fmt: skip
        instance = from_bundle(bundle)
        best, _ = brute_force_mixture.optimum(instance)
        counts = Counts(instance, 2.0)
        bounds = [counts.bound(FOREVER, lambda: FOREVER)]
        counts.solve(bounds[0], FOREVER, 1, 0, bounds.append, lambda answer: None)
        if best is not None:
            assert max(bounds) <= best * (1 + 1e-6)


def test_counts_see_what_fits_nowhere_in_part():
    # Three groups of 6 bytes and a device of 10: it holds one, whatever the shares.
    instance = tiny.instance(
        [[4.0, 1.0]] * 3, problem="throughput", memory=[100, 10], delay=[0.0, 0.0], rules=MIXTURE,
        weights=[{"p": 6}, {"q": 6}, {"r": 6}],
    )  # fmt: skip
    counts = Counts(instance, 1.0)
    assert counts.number.tolist() == [3]
    bound, found = [], []
    knapsack = counts.bound(FOREVER, lambda: FOREVER)
    counts.solve(knapsack, FOREVER, 1, 0, bound.append, found.append)
    assert knapsack == pytest.approx(8.0)  # and 12 - 4 * 10 / 6 in fractions
    assert max(bound) == pytest.approx(8.0)
    assert value(instance, found[-1]) == pytest.approx(8.0)


def test_stages_share_their_devices():
    # A chain of four; each of four like devices holds half of it.
    instance = tiny.instance(
        [[1.0] * 4] * 4, [(0, 1), (1, 2), (2, 3)], problem="throughput", memory=[10] * 4,
        weights=[{f"p{i}": 5} for i in range(4)], delay=[0.0] * 4, payload=[0] * 4, rules=MIXTURE,
    )  # fmt: skip
    best = min(value(instance, answer) for answer in stages(instance, FOREVER))
    assert best == pytest.approx(1.0)
    assert list(stages(instance, -1.0)) == []


@pytest.mark.parametrize("topology", ["staged", "direct"])
def test_what_lies_between_two_places_transfers_what_it_does_on_a_device(topology):
    for seed in range(5):
        bundle = random_bundle(
            seed, n=7, devices=2, hosts=0, topology=topology, rules=MIXTURE, groups=seed % 2
        )
        instance = from_bundle(bundle)
        line = Line(instance, 20)
        if topology == "staged":
            into = out = instance.port[0]
        else:
            into, out = instance.wire[1, 0], instance.wire[0, 1]
        if (line.block[instance.edges[:, 0]] > line.block[instance.edges[:, 1]]).any():
            continue  # a group reads what comes after it
        for i in range(line.B):
            for j in range(i + 1, line.B + 1):
                device = np.where((line.block >= i) & (line.block < j), 0, 1)
                _, receive, send = throughput.parts(instance, device).sum(axis=0)[0]
                assert line.got[into, i, j] == pytest.approx(receive, abs=1e-12)
                assert line.gave[out, i, j] == pytest.approx(send, abs=1e-12)


@pytest.mark.parametrize("contiguous", [False, True])
def test_stages_of_random_instances_are_no_better_than_the_best_mixture(contiguous):
    rules = MIXTURE | {"contiguous": contiguous}
    some = 0
    for seed in range(10):
        bundle = random_bundle(
            seed, n=6, devices=3, rules=rules, tight=2.0, hosts=seed % 2, unsupported=0.1,
            topology=("staged", "direct")[seed % 2],
        )  # fmt: skip
        instance = from_bundle(bundle)
        best, _ = brute_force_mixture.optimum(instance)
        for answer in stages(instance, FOREVER):
            found = value(instance, answer)
            if found is not None:
                some += 1
                assert best is not None
                assert found >= best * (1 - 1e-9)
    assert some > 5


def test_what_devices_hold_spreads_to_its_neighbours():
    # A chain of four on two devices; one holds three groups, one has room for two.
    instance = tiny.instance(
        [[1.0, 1.0]] * 4, [(0, 1), (1, 2), (2, 3)], problem="throughput", memory=[15, 10],
        weights=[{f"p{i}": 5} for i in range(4)], delay=[0.0, 0.0], payload=[0] * 4, rules=MIXTURE,
    )  # fmt: skip
    held = spread(instance, [np.array([0, 0, 1, 1])])
    assert held.T.tolist() == [[True, True, True, False], [False, False, True, True]]
    # Two stretches are left as they are.
    held = spread(instance, [np.array([0, 1, 1, 0])])
    assert held.T.tolist() == [[True, False, False, True], [False, True, True, False]]


def test_what_spreads_fits():
    for seed in range(8):
        instance = from_bundle(
            random_bundle(seed, n=7, devices=3, rules=MIXTURE, tight=1.8, tied=2 * (seed % 2))
        )
        for answer in stages(instance, FOREVER):
            if value(instance, answer) is None:
                continue
            held = spread(instance, mixture.mappings(answer))
            assert (mixture.memory_use(instance, held) <= instance.memory).all()
            assert (held >= mixture.held_by(instance, mixture.mappings(answer))).all()
