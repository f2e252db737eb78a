import numpy as np
import pytest

from problems.bounds.destructive import destructive
from problems.bounds.propagation import case_of, propagate
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from tests.brute_force import optimum
from tests.tiny import instance


def fork(delay, **traits):
    """a before b and c, both before d, on two alike devices."""
    return instance(
        [[1, 1], [4, 4], [3, 3], [1, 1]],
        [(0, 1), (0, 2), (1, 3), (2, 3)],
        delay={(0, 1): delay},
        **traits,
    )


def test_a_transfer_that_does_not_fit_keeps_nodes_together():
    # Two transfers of 4 on the way of c alone make 1 + 4 + 3 + 4 + 1: more than one by one, 9.
    case = case_of(fork(4.0))
    assert len(np.unique(propagate(case, 9.5).cluster)) == 1
    assert propagate(case, 8.9) is None
    assert destructive(case.instance).value == pytest.approx(9, rel=2e-3)
    assert destructive(case.instance).value <= 9


def test_a_short_transfer_leaves_the_choice():
    case = case_of(fork(0.5))  # 1 + 4 + 1 with c elsewhere in 1 + 0.5 + 3 + 0.5 + 1
    left = propagate(case, 6.1)
    assert left is not None
    assert len(np.unique(left.cluster)) > 1


def test_a_device_that_takes_too_long_is_ruled_out():
    case = case_of(instance([[1, 9], [2, 8]], [(0, 1)], delay=[0.5, 0.5]))
    left = propagate(case, 5.0)
    assert left.allowed.tolist() == [[True, False], [True, False]]
    assert propagate(case, 2.9) is None


def test_the_load_of_all_producers_comes_before():
    # Nine nodes of 1 second on three alike devices before one more.
    case = case_of(
        instance(
            [[1] * 3] * 10, [(v, 9) for v in range(9)], delay={(0, 1): 0.0, (1, 2): 0, (0, 2): 0}
        )
    )
    assert propagate(case, 3.9) is None
    assert propagate(case, 4.1).head[9].min() == pytest.approx(3, rel=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_the_optimum_is_never_refuted(seed):
    case = from_bundle(
        random_bundle(
            seed, n=5, devices=2 + seed % 2, problem="latency", like=seed % 3 < 2,
            topology=("staged", "direct")[seed % 2], groups=seed % 3, hosts=seed // 2 % 2,
            unlimited=seed % 5 == 0, tight=(None, 1.3)[seed // 4 % 2], density=0.6,
        )
    )  # fmt: skip
    best, answer = optimum(case)
    if best is None:
        return
    left = propagate(case_of(case), best)
    assert left is not None
    for v in range(case.n):
        assert left.allowed[left.cluster[v], case.device_class[answer.device[v]]]
        together = left.cluster == left.cluster[v]
        assert len(set(np.asarray(answer.device)[together])) == 1
