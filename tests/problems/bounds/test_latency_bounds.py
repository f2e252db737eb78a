"""Every bound of latency against optima by enumeration, and the use of each."""

import pytest

from problems.bounds.registry import REGISTRY
from problems.bounds.theoretical import theoretical
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from tests.brute_force import optimum

BOUNDS = sorted(name for name, entry in REGISTRY.items() if "latency" in entry.problems)
PLAIN = ("critical-path", "load-lp")


def case_of(seed):
    return from_bundle(
        random_bundle(
            seed,
            n=3 + seed % 4 if seed % 2 else 3 + seed % 3,
            density=(0.4, 0.8)[seed // 3 % 2],
            devices=2 + seed % 2,
            problem="latency",
            topology=("staged", "direct")[seed // 2 % 2],
            hosts=seed // 3 % 2,
            unlimited=seed % 7 == 0,
            like=seed % 5 < 3,
            groups=seed // 4 % 3,
            tied=seed // 5 % 3,
            training=seed % 3 == 0,
            unsupported=(0.0, 0.2)[seed // 2 % 2],
            ties=seed % 11 == 0,
            tight=(None, 1.1, 1.4)[seed // 6 % 3],
            rules={
                "memory": ("total", "weights", "ignored")[seed // 7 % 3],
                "contention": "ports" if seed % 8 == 5 else "none",
            },
        )
    )


@pytest.fixture(scope="module")
def results():
    """Optimum and all bounds of 130 instances that have an answer."""
    found = []
    for seed in range(130):
        case = case_of(seed)
        best = optimum(case).objective
        if best is not None:
            result = theoretical(case, "search", 0.5)
            found.append((case, best, {each.name: each.value for each in result.bounds}))
    assert len(found) > 85
    return found


@pytest.mark.parametrize("name", BOUNDS)
def test_never_above_the_optimum(results, name):
    wrong = [
        (case.id, values[name], best)
        for case, best, values in results
        if values.get(name, 0.0) > best
    ]
    assert not wrong


@pytest.mark.parametrize("name", [name for name in BOUNDS if name not in PLAIN])
def test_adds_to_the_plain_ones(results, name):
    better = sum(
        values.get(name, 0.0) > (1 + 1e-6) * max(values.get(each, 0.0) for each in PLAIN)
        for _, _, values in results
    )
    assert better > 5


def test_the_best_is_often_the_optimum(results):
    met = sum(max(values.values()) >= best * (1 - 1e-6) for _, best, values in results)
    assert met > len(results) / 3
