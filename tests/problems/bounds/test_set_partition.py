"""Set partition against every mapping, over all rules; ``SET_PARTITION_SEEDS=20`` takes 2,880.

The bound rests on prices, so that one case here is worth hundreds of programs: see
`test_pricing.py` for these alone.
"""

import math
import os
from itertools import product

import numpy as np
import pytest

from problems import throughput
from problems.bounds.set_partition import set_partition
from problems.generate.random import random_bundle
from problems.resolve import from_bundle

SEEDS = int(os.environ.get("SET_PARTITION_SEEDS", "1"))
SECONDS = 0.3
PACKS = 5
RULES = [
    {"contiguous": c, "overlap": o, "split_phases": s, "memory": m, "colocate_tied": t}
    for o, m, s, c, t in product(
        ("none", "half", "full"), ("total", "weights", "ignored"), *[(False, True)] * 3
    )
]
COMBINATIONS = [(topology, rules) for topology in ("staged", "direct") for rules in RULES]


def case_of(number, seed):
    """Instance `seed` of a combination; its traits are drawn."""
    topology, rules = COMBINATIONS[number]
    rng = np.random.default_rng([number, seed])
    devices = int(rng.integers(2, 4))
    return from_bundle(
        random_bundle(
            1_000 * number + seed,
            n=int(rng.integers(4, 8)),
            devices=devices,
            rules=rules,
            topology=topology,
            density=float(rng.choice([0.25, 0.5])),
            hosts=int(rng.integers(0, 2)),
            tight=[None, None, 1.0, 1.4][rng.integers(4)],
            like=bool(rng.integers(2)),
            groups=int(rng.integers(0, 3)),
            tied=int(rng.integers(0, 3)),
            training=rules["split_phases"] or bool(rng.integers(2)),
            unsupported=float(rng.choice([0.0, 0.25])),
            ties=bool(rng.integers(2)),
            uneven=bool(rng.integers(2)),
        )
    )


def least_period(case):
    """Over all mappings that keep the rules; inf if none does."""
    best = math.inf
    for device in product(range(case.K), repeat=int(case.group.max()) + 1):
        placed = np.array(device)[case.group]
        period = throughput.period(case, placed)
        if period < best and throughput.is_valid(case, placed):
            best = period
    return best


@pytest.mark.parametrize("pack", range(PACKS))
def test_is_at_most_the_least_over_all_mappings(pack):
    searched = tight = 0
    for number in range(pack, len(COMBINATIONS), PACKS):
        for seed in range(SEEDS):
            case = case_of(number, seed)
            if set_partition.valid_for(case) is not None:
                continue
            found, least = set_partition(case, SECONDS), least_period(case)
            assert found.value <= least, (COMBINATIONS[number], seed, found, least)
            searched += "steps" in found.note
            tight += found.value >= 0.999 * least
    print(f"{searched} beyond the cheap bounds, {tight} within 0.1 % of the optimum")
    assert tight
