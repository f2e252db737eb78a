"""The numbers that a policy reads: finite, of the promised shapes, and blind to units."""

import dataclasses

import numpy as np
import pytest

from heuristics.rl import features
from heuristics.rl.tasks import task_of
from tests.heuristics.rl.tiny import tiny


def _seen(instance):
    task = task_of(instance)
    place = task.starts()[0]
    return task, place, features.seen(task, place, task.measure(place)[1])


@pytest.mark.parametrize("problem", ["chips", "throughput"])
@pytest.mark.parametrize("given", [{}, {"ties": True}, {"n": 1}, {"density": 0.0}], ids=str)
def test_shapes(problem, given):
    task, place, seen = _seen(tiny(3, problem=problem, **given))
    node = features.static(task)
    U, C = task.time.shape
    assert node.shape == (U, len(features.NODE))
    assert seen.unit.shape == (U, len(features.UNIT))
    assert seen.place.shape == (C, len(features.PLACE))
    assert seen.pair.shape == (U, C, len(features.PAIR))
    for array in (node, *seen):
        assert array.dtype == np.float32
        assert np.isfinite(array).all()
        assert np.abs(array).max() <= 10
    assert (seen.pair[..., 0].argmax(axis=1) == place).all()
    assert (seen.pair[..., 0].sum(axis=1) == 1).all()


def test_what_feeds_what_is_seen():
    task, place, seen = _seen(tiny(5))
    for v in range(task.units):
        producers = task.edges[task.edges[:, 1] == v, 0]
        for c in range(task.places):
            share = (place[producers] == c).mean() if len(producers) else 0.0
            assert seen.pair[v, c, 3] == pytest.approx(share)
        elsewhere = (place[producers] != place[v]).mean() if len(producers) else 0.0
        assert seen.unit[v, 4] == pytest.approx(elsewhere, abs=1e-6)


def test_seconds_have_no_scale():
    instance = tiny(4)
    slower = dataclasses.replace(instance, time=instance.time * 8, link_time=instance.link_time * 8)
    first, second = (_seen(each) for each in (instance, slower))
    assert np.allclose(features.static(first[0]), features.static(second[0]), atol=1e-5)
    for a, b in zip(first[2], second[2], strict=True):
        assert np.allclose(a, b, atol=1e-5)


def test_depths():
    task = task_of(tiny(1, density=0.3))
    node = features.static(task)
    for u, v in task.edges:
        assert node[u, 5] < node[v, 5] + 1e-6
        assert node[u, 6] > node[v, 6] - 1e-6


def test_places_that_hold_a_unit():
    instance = tiny(6, problem="throughput", unsupported=0.4)
    task = task_of(instance)
    assert (features.allowed(task) == np.isfinite(task.time)).all()
