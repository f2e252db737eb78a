"""The program over slices against all slices of an order, tried one by one."""

import math
from dataclasses import replace
from itertools import permutations, repeat

import numpy as np
import pytest

from heuristics.orders import ways
from heuristics.orders.linear import depth_first
from heuristics.orders.slicer import Slicer
from heuristics.shared.best import Best
from heuristics.shared.space import topological
from problems.answer import Answer
from problems.checker import check
from solvers.method import Context
from tests.heuristics.samples import samples


def exact(instance):
    """Instances on which a slice and its device tell the load."""
    return ways.is_exact(instance)


def brute_force(instance, space, order, cut):
    """Least objective over all slices, in seconds; inf without valid ones."""
    U, best = len(order), math.inf

    def lay(begin, devices, place):
        nonlocal best
        if begin == U:
            verdict = check(instance, Answer.of(place[space.unit]))
            if verdict.valid:
                best = min(best, verdict.objective)
            return
        if not devices:
            return
        lay(begin, devices[1:], place)
        for end in range(begin + 1, U + 1):
            if cut[end]:
                mine = place.copy()
                mine[order[begin:end]] = devices[0]
                lay(end, devices[1:], mine)

    for devices in permutations(range(instance.K)):
        lay(0, devices, np.zeros(U, np.int64))
    return best


@pytest.mark.parametrize("every", [True, False])
def test_slices_of_one_order_are_the_best(every):
    rng, compared, split, memory, several = np.random.default_rng(0), 0, 0, 0, 0
    # Transfers so cheap that slices pay, or memory so tight that there is no other way.
    cheap = samples(70, n=6, problem="throughput", unsupported=0.0)
    tight = samples(70, n=6, problem="throughput", tight=1.7, density=0.6)
    for scale, (_, instance) in [*zip(repeat(0.05), cheap), *zip(repeat(1.0), tight)]:
        if not exact(instance):
            continue
        instance = replace(instance, link_time=instance.link_time * scale)
        best = Best(instance, Context())
        slicer = Slicer(instance, best)
        space = slicer.space
        keys = rng.random(len(space.unit_bytes))
        order = (topological, depth_first)[compared % 2](space.after_ptr, space.after, keys)
        cut = np.ones(len(order) + 1, bool)
        if not every:
            cut[1:-1] = rng.random(len(order) - 1) < 0.5
        found = slicer.solve(order, cut)
        expected = brute_force(instance, space, order, cut)
        assert found == pytest.approx(expected, rel=1e-9), (instance.rules, order, cut)
        assert best.value == pytest.approx(expected, rel=1e-9)
        if slicer.exact and 0 < expected < math.inf:
            # Under a cap that is hardly above it, too.
            assert slicer.run(order, cut, expected * (1 + 1e-6)) == pytest.approx(expected)
            assert slicer.run(order, cut, expected * (1 - 1e-6)) == math.inf
        compared += 1
        split += instance.rules.split_phases and instance.phase.any()
        memory += math.isfinite(instance.memory.min())
        several += best.answer is not None and len(set(best.answer.device)) > 1
    assert compared >= 60
    assert split >= 5
    assert memory >= 20
    assert several >= 15


def test_devices_that_are_too_unlike_follow_one_sequence(monkeypatch):
    """Slices are then the best of that sequence of devices, any of which may be left out."""
    monkeypatch.setattr(ways, "MOST", 1)
    compared = 0
    for _, instance in samples(40, n=5, problem="throughput", like=False):
        if not exact(instance) or instance.rules.split_phases:
            continue
        slicer = Slicer(instance, Best(instance, Context()))
        units = len(slicer.space.unit_bytes)
        found = slicer.solve(np.arange(units), np.ones(units + 1, bool))
        every = brute_force(instance, slicer.space, np.arange(units), np.ones(units + 1, bool))
        assert found >= every * (1 - 1e-9)
        compared += math.isclose(found, every, rel_tol=1e-9)
    assert compared >= 10


def test_a_run_ends_with_the_clock():
    for _, instance in samples(5, n=30, problem="throughput", tight=None):
        best = Best(instance, Context(deadline=0.0))
        slicer = Slicer(instance, best)
        order = np.arange(len(slicer.space.unit_bytes))
        assert slicer.solve(order, slicer.everywhere) == math.inf
        assert best.answer is None
