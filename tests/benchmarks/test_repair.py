"""Valid partitions a second: SAMPLE by rule and size, and what CP-SAT takes for the first one.

``extra_info`` also has the share of random candidates that are valid without repair: drawn evenly
from all chips, and sorted along the order of nodes (which keeps C1 on a path).
"""

import time

import numpy as np
import pytest

from bench.repair_study import CHIPS, network
from solvers.repair.modes import Repair
from solvers.repair.reference import complete
from solvers.repair.valid import is_valid
from solvers.rng import seeded

SAMPLES = 10
CANDIDATES = 1_000
SECONDS = 20.0


@pytest.mark.parametrize("tight", [None, 1.3], ids=["free", "tight"])
@pytest.mark.parametrize("nodes", [500, 2_000, 5_000])
@pytest.mark.parametrize("rule", ["exact", "difference"])
def test_samples(benchmark, rule, nodes, tight):
    problem, rng = network(nodes, tight), np.random.default_rng(1)
    repair, stream, likely = Repair(problem, rule), seeded(rng), np.ones((nodes, CHIPS))
    orders = [rng.permutation(nodes) for _ in range(SAMPLES)]
    by = []

    def go():
        for order in orders:
            by.append(repair.sample(likely, order, stream).by)

    go()  # compiled before the clock
    benchmark.group = f"samples: {nodes:,} nodes x {CHIPS} chips"
    benchmark.pedantic(go, rounds=3)
    evenly = rng.integers(0, CHIPS, (CANDIDATES, nodes))
    benchmark.extra_info |= {
        "samples_per_s": SAMPLES / benchmark.stats.stats.min,
        "by_search": by.count("search") / len(by),
        "valid_unrepaired": np.mean([is_valid(problem, each) for each in evenly]),
        "valid_sorted": np.mean([is_valid(problem, np.sort(each)) for each in evenly]),
    }


@pytest.mark.parametrize("nodes", [50, 500])
def test_first_partition_of_cp_sat(benchmark, nodes):
    """Model and search, within :data:`SECONDS`; larger sizes take minutes to build alone."""
    problem, found = network(nodes, None), []
    worth = np.zeros((nodes, CHIPS))

    def go():
        begin = time.monotonic()
        found.append(complete(problem, worth, SECONDS, first=True))
        return time.monotonic() - begin

    benchmark.group = f"CP-SAT: {nodes:,} nodes x {CHIPS} chips"
    benchmark.pedantic(go, rounds=1)
    benchmark.extra_info["found"] = found[-1] is not None
    assert found[-1] is None or is_valid(problem, found[-1])
