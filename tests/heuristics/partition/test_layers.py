from dataclasses import replace

import numpy as np
import pytest

from heuristics.partition.layers import layers, split
from heuristics.shared import space as space_
from tests import tiny

CHAIN = [(v, v + 1) for v in range(7)]


def chain(paths, **given):
    instance = tiny.instance([(1.0, 1.0)] * 8, CHAIN, delay=[0.0, 0.0], **given)
    return replace(instance, paths=paths)


def test_layers_are_numbered_modules_and_what_follows_them():
    paths = ("embed", "a.0.x", "a.0.y.3", "a.0", "a.1.z", "norm", "a.2", "head")
    instance = chain(paths)
    space = space_.build(instance)
    found, count = layers(instance, space)
    assert found.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    assert count == 3
    assert split(instance, space, np.array([1, 0])).tolist() == [1, 1, 1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("paths", [("",) * 8, ("a.0",) * 8, ("model",) * 8, ()])
def test_without_enough_layers_operators_count(paths):
    instance = chain(paths)
    space = space_.build(instance)
    assert split(instance, space, np.array([0, 1])).tolist() == [0] * 4 + [1] * 4


def test_a_chain_stays_a_chain():
    """The last nodes belong to the first layer, but read what the second makes."""
    paths = ("a.0",) * 3 + ("a.1",) * 3 + ("a.0",) * 2
    rules = {"contiguous": True}
    instance = chain(paths, problem="throughput", rules=rules)
    free = chain(paths, problem="throughput")
    assert split(free, space_.build(free), np.arange(2)).tolist() == [0, 0, 0, 1, 1, 1, 0, 0]
    assert split(instance, space_.build(instance), np.arange(2)).tolist() == [0] * 3 + [1] * 5
