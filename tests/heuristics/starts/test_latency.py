"""Starts of schedules are valid, different and best first; a price on memory pays."""

import numpy as np

from heuristics.shared import ranks
from heuristics.shared import space as space_
from heuristics.shared.best import Best, objective
from heuristics.starts.latency import MOST, starts
from problems.builder import Builder
from problems.checker import check
from problems.resolve import from_bundle
from solvers import beam
from solvers.beam import Beams
from solvers.method import Context
from tests.brute_force import optimum
from tests.heuristics.samples import samples


def test_starts_are_valid_different_and_best_first():
    reached = count = 0
    for _, instance in samples(40, problem="latency"):
        context, space = Context(), space_.build(instance)
        best = Best(instance, context)
        found = starts(instance, space, context, best)
        exact = optimum(instance)
        assert bool(found) == (exact.answer is not None)
        if not found:
            continue
        values = [check(instance, answer).objective for answer in found]
        assert all(value is not None for value in values)
        assert values == sorted(set(values))
        assert len(found) <= MOST
        assert best.value <= values[0] * (1 + 1e-12)
        count += 1
        reached += values[0] <= exact.objective * (1 + 1e-9)
    assert reached >= 0.8 * count


def test_a_wide_beam_without_ties_is_exhaustive_for_one_order():
    seen = 0
    for _, instance in samples(
        40, n=5, problem="latency", tight=None, tied=0, groups=0, ties=False
    ):
        space = space_.build(instance)
        order = np.arange(instance.n)
        if len(space.unit_bytes) < instance.n:
            continue
        answer = Beams(instance).search(order, 0.0, 0.0, instance.K**instance.n)
        verdict = check(instance, answer)
        assert verdict.valid
        rank = np.argsort(-ranks.mean_rank(instance, space), kind="stable")
        narrow = Beams(instance).search(rank, 0.0, 0.0, 1)
        assert objective(instance, narrow) < np.inf
        seen += verdict.objective <= optimum(instance).objective * (1 + 1e-2)
    assert seen >= 15


def test_a_beam_in_pieces_is_the_same_and_can_be_stopped(monkeypatch):
    _, instance = next(samples(1, n=12, problem="latency", tight=None))
    order, beams = np.arange(instance.n), Beams(instance)
    whole = beams.search(order, 0.3, 0.0, 4)
    monkeypatch.setattr(beam, "PIECE", 1)
    assert np.array_equal(beams.search(order, 0.3, 0.0, 4).device, whole.device)
    assert beams.search(order, 0.3, 0.0, 4, lambda: True) is None


def test_a_price_leaves_memory_to_those_who_gain_most():
    builder = Builder("short", problem="latency", rules={})
    builder.add_device("cpu", host=True)
    builder.add_device("gpu", memory_bytes=100, link="free")
    builder.add_link("free", latency_s=0.0, bandwidth_Bps=1e12)
    for v, seconds in enumerate((1.1, 1.1, 9.0)):
        builder.add_node(f"v{v}", {"cpu": seconds, "gpu": 1.0}, weights={f"w{v}": 60})
        if v:
            builder.add_edge(f"v{v - 1}", f"v{v}")
    instance = from_bundle(builder.build())
    space, order = space_.build(instance), np.arange(3)
    greedy = Beams(instance).search(order, 0.0, 0.0, 1)
    priced = Beams(instance).search(order, 0.0, 1.0, 1)
    assert greedy.device.tolist() == [1, 0, 0]
    assert priced.device.tolist() == [0, 0, 1]
    best = Best(instance, Context())
    starts(instance, space, Context(), best)
    assert best.value == optimum(instance).objective
