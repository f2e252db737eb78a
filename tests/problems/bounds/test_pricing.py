from itertools import product

import numpy as np
import pytest

from problems.bounds.column_generation import load_of
from problems.bounds.nets import nets_of
from problems.bounds.pricing import NEAR, Pricing
from tests.problems.bounds.throughput_cases import CASES, solved

FREE = [seed for seed in CASES if not solved(seed)[0].rules.contiguous][:40]


@pytest.mark.parametrize("part", range(4))
def test_is_the_least_over_all_sets_of_a_device(part):
    bound_by_level = bound_by_memory = 0
    for seed in FREE[part::4]:
        nets = nets_of(solved(seed)[0])
        unit = nets.work[0]
        if unit <= 0:
            continue
        rng = np.random.default_rng(seed)
        cover = rng.uniform(-0.2, 1.0, len(nets.time))
        for c in range(len(nets.count)):
            multiplier, level = rng.uniform(0.0, 1.0), rng.uniform(0.5, 2.0)
            least = anything = light = 0.0
            for chosen in product((False, True), repeat=len(nets.time)):
                groups = np.flatnonzero(chosen)
                if not np.isfinite(nets.time[groups, c]).all():
                    continue
                load = load_of(nets, c, groups) / unit
                value = multiplier * load - cover[groups].sum()
                anything = min(anything, value)
                if nets.bytes[groups].sum() > nets.memory[c]:
                    continue
                light = min(light, value)
                if load <= level:
                    least = min(least, value)
            bound_by_level += light < least
            bound_by_memory += anything < light
            low, held = Pricing(nets, unit, c).least(multiplier, cover, level, 10.0)
            assert low <= least, seed
            assert low >= least - NEAR - 1e-4, seed
            found = multiplier * load_of(nets, c, held) / unit - cover[held].sum()
            assert found <= least + NEAR + 1e-4, seed
    assert bound_by_level >= 3
    assert bound_by_memory >= 1
