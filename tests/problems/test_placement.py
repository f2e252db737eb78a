import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.answer import Answer
from problems.checker import check
from problems.generate.random import random_bundle
from problems.placement import is_placeable, memory_use
from problems.resolve import from_bundle
from tests.tiny import instance

PLACEMENT_RULES = {"support", "memory", "colocate"}


def test_a_shared_weight_is_held_once_a_device():
    case = instance(
        [[1, 1]] * 4,
        payload=[1, 2, 3, 4],
        weights=[{"s": 100}, {"s": 100}, {"s": 100}, {"own": 50}],
    )
    assert memory_use(case, np.array([0, 0, 0, 0])).tolist() == [160, 0]
    assert memory_use(case, np.array([0, 0, 1, 1])).tolist() == [103, 157]
    assert memory_use(case, np.array([1, 0, 1, 0])).tolist() == [156, 104]


def test_memory_may_be_full_but_not_more():
    case = instance([[1, 1]] * 2, payload=[5, 6], memory=[11, 10])
    assert is_placeable(case, np.array([0, 0]))
    assert not is_placeable(case, np.array([1, 1]))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 2**32 - 1), st.booleans())
def test_agrees_with_the_checker(seed, draw, tidy):
    case = from_bundle(
        random_bundle(
            seed, devices=3, n=7, tight=1.4, groups=2, tied=3, unsupported=0.15, problem="latency"
        )
    )
    rng = np.random.default_rng(draw)
    device = rng.integers(0, 3, int(case.group.max()) + 1)[case.group]
    if not tidy:
        device = rng.integers(0, 3, case.n)
    broken = {rule for rule, _ in check(case, Answer.of(device)).violations}
    assert is_placeable(case, device) == (not broken & PLACEMENT_RULES)
