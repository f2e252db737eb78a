"""The price of a set against all sets: one that is too high proves what is not so."""

from itertools import product

import numpy as np
import pytest

from problems.bounds.chain_pricing import ChainPricing
from problems.bounds.column_generation import load_of
from problems.bounds.nets import nets_of
from problems.bounds.node_cut import Effort
from problems.bounds.pricing import NEAR, Pricing
from problems.bounds.supposing import supposing
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from tests.problems.bounds.throughput_cases import CASES, solved

FREE = [seed for seed in CASES if not solved(seed)[0].rules.contiguous][:30]
CHAINS = [seed for seed in CASES if solved(seed)[0].rules.contiguous][:10]
TRIALS = 8
LOSS = 1e-3  # what rounding and tolerances may cost, in units


def loads_of(nets, c):
    """Every set of groups, bool array of shape (2^G, G), and its load on a device of class c."""
    sets = np.array(list(product((False, True), repeat=len(nets.time))))
    inside, outside = np.zeros((2, len(sets), len(nets.source)), bool)
    for e, g in zip(nets.pin_net.tolist(), nets.pin.tolist(), strict=True):
        inside[:, e] |= sets[:, g]
        outside[:, e] |= ~sets[:, g]
    source = sets[:, nets.source]
    compute = sets @ np.where(np.isfinite(nets.time[:, c]), nets.time[:, c], 0.0)
    into, out = (~source & inside) @ nets.receive[c], (source & outside) @ nets.send[c]
    return sets, {
        "none": compute + into + out,
        "half": np.maximum(compute, into + out),
        "full": np.maximum(compute, np.maximum(into, out)),
    }[nets.overlap]


def fits(nets, c, sets):
    """Which sets a device of class c can run and hold."""
    runs = ~sets[:, ~np.isfinite(nets.time[:, c])].any(axis=1)
    held = sets @ nets.bytes <= nets.memory[c]
    if not nets.contiguous:
        return runs & held
    # Convex: what lies after a member and before one is a member.
    G = sets.shape[1]
    reach = np.zeros((G, G), bool)
    reach[nets.order[:, 0], nets.order[:, 1]] = True
    for k in range(G):
        reach |= reach[:, k, None] & reach[k]
    between = (sets @ reach) & (sets @ reach.T)
    return runs & held & ~(between & ~sets).any(axis=1)


def multipliers(rng, G, trial):
    """lambda and pi: dense, or as a master program gives them, mostly 0 and with one large one."""
    load = float(rng.choice([0.0, 0.99, 1.0, rng.random()]))
    cover = rng.uniform(-0.2, 1.0, G)
    if trial % 2:
        cover = np.where(rng.random(G) < 0.8, 0.0, cover)
        cover[rng.integers(G)] = rng.uniform(0.0, 2.5)
    return load, cover


@pytest.mark.parametrize(("kind", "seeds"), [(Pricing, FREE), (ChainPricing, CHAINS)])
@pytest.mark.parametrize("part", range(3))
def test_is_the_least_over_all_sets_of_a_device(kind, seeds, part):
    bound_by_level = bound_by_memory = 0
    for seed in seeds[part::3]:
        nets, rng = nets_of(solved(seed)[0]), np.random.default_rng(seed)
        unit = nets.work[0]
        if unit <= 0:
            continue
        for c in range(len(nets.count)):
            price = kind(nets, unit, c)
            sets, loads = loads_of(nets, c)
            loads, runs = loads / unit, fits(nets, c, sets)
            light = ~(sets @ nets.bytes > nets.memory[c])
            for trial in range(TRIALS):
                (multiplier, cover), level = (
                    multipliers(rng, sets.shape[1], trial), rng.uniform(0.5, 2.2)
                )  # fmt: skip
                value = multiplier * loads - sets @ cover
                least = value[runs & (loads <= level)].min()
                bound_by_level += value[runs].min() < least
                bound_by_memory += value[~light].min(initial=0.0) < least
                low, held = price.least(multiplier, cover, level, 10.0)
                assert low <= least, (seed, c, trial)
                assert low >= least - NEAR - LOSS, (seed, c, trial)
                found = multiplier * load_of(nets, c, held) / unit - cover[held].sum()
                assert found <= least + NEAR + LOSS, (seed, c, trial)
    assert bound_by_level >= 3
    assert bound_by_memory >= 1 or kind is ChainPricing


def test_is_not_above_a_set_that_presolve_of_highs_1_16_misses():
    rules = {"memory": "weights"}
    case = from_bundle(
        random_bundle(
            74, n=7, rules=rules, topology="direct", density=0.25, tied=2, unsupported=0.25,
            ties=True, uneven=True,
        )
    )  # fmt: skip
    nets = nets_of(case)
    unit, level = nets.work[0], 1.702
    left, _ = supposing(nets, level * unit, Effort(10**9))
    assert len(left.time) == 6
    cover = np.array([0.0, 0.01, 0.0, 0.0, 0.0, 1.9253841899988084])
    low, _ = Pricing(left, unit, 1).least(0.99, cover, level, 10.0)
    assert low <= 0.99 * load_of(left, 1, np.array([5])) / unit - cover[5]
