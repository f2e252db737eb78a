"""The bound that throughput methods start from is never above an optimum, and proves some."""

from __future__ import annotations

import math

from solvers.formulations._floor import floor
from tests.brute_force import optimum
from tests.solvers.tiny import instances


def test_with_all_the_time_it_is_a_bound_and_meets_some_optima():
    met = raised = 0
    for seed, instance in instances("throughput", range(4000, 4150)):
        best = optimum(instance).objective
        if best is None:
            continue
        cheap = floor(instance)
        value = floor(instance, math.inf, best)
        assert cheap <= value <= best * (1 + 1e-9), seed
        assert floor(instance) == value  # a model asks again, without time
        raised += value > cheap * (1 + 1e-6)
        met += value >= best * (1 - 1e-6)
    assert met >= 20
    assert raised >= 10
