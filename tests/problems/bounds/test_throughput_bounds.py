"""What holds for every bound of throughput: none above an optimum, each sometimes the best."""

import math
from functools import cache

import pytest

from problems.bounds.registry import REGISTRY
from problems.bounds.theoretical import theoretical  # noqa: F401 - for the entries
from tests.problems.bounds.throughput_cases import CASES, COMBINATIONS, solved

SIMPLE = ("load-lp", "node")
# Bound -> on how many of some instances it is above the simple ones, at least.
STRONGER = {
    "node-cut": 25,
    "block": 25,
    "block-position": 15,
    "local-polytope": 10,
    "set-partition": 25,
}
SOME = CASES[:60]
# Set partition is stopped nearly always, and proves what it has proved. The others end alone, on a
# busy machine as well: within 0.5 s there, block-position was above on 13 instances, not 18.
SECONDS = dict.fromkeys(STRONGER, 5.0) | {"set-partition": 0.5}
PACKS = 4


@cache
def bounded(name, seed):
    return REGISTRY[name](solved(seed)[0], SECONDS[name])


@pytest.mark.parametrize("pack", range(PACKS))
@pytest.mark.parametrize("name", sorted(STRONGER))
def test_is_at_most_the_optimum(name, pack):
    entry = REGISTRY[name]
    taken = 0
    cases = SOME if name == "set-partition" else CASES
    for seed in cases[pack::PACKS]:
        case, best = solved(seed)
        if entry.valid_for(case) is not None:
            continue
        found = bounded(name, seed)
        taken += 1
        assert math.isfinite(found.value)
        assert found.value >= 0
        assert found.note
        if best.objective is not None:
            assert found.value <= best.objective, (seed, found, best.objective)
    assert taken


@pytest.mark.parametrize("name", sorted(STRONGER))
def test_is_often_above_the_simple_bounds(name):
    entry, above = REGISTRY[name], 0
    for seed in SOME:
        case, best = solved(seed)
        if best.objective is None or entry.valid_for(case) is not None:
            continue
        simple = max(REGISTRY[each](case).value for each in SIMPLE)
        above += bounded(name, seed).value > simple * (1 + 1e-3)
    print(f"{name}: above on {above} of {len(SOME)} instances")
    assert above >= STRONGER[name]


def test_cases_cover_the_rules():
    assert len({solved(seed)[0].rules for seed in CASES}) == len(COMBINATIONS)
    assert sum(solved(seed)[1].objective is None for seed in CASES) >= 3
