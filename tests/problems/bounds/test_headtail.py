import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.bounds.allowed import allowed_times
from problems.bounds.critical_path import critical_path
from problems.bounds.headtail import heads, headtail, tails
from problems.generate.random import random_bundle
from problems.latency import delays, dispatch, starts
from problems.resolve import from_bundle
from tests.tiny import instance

random_instances = st.builds(
    lambda **traits: from_bundle(random_bundle(problem="latency", **traits)),
    seed=st.integers(0, 10_000),
    n=st.integers(1, 12),
    devices=st.integers(2, 4),
    topology=st.sampled_from(["staged", "direct"]),
    hosts=st.integers(0, 2),
    unlimited=st.booleans(),
    like=st.booleans(),
    groups=st.integers(0, 2),
    unsupported=st.sampled_from([0.0, 0.3]),
    ties=st.booleans(),
    uneven=st.booleans(),
    tight=st.sampled_from([None, 2.0]),
)


def test_sees_the_transfer_that_nobody_avoids():
    # a runs on d0 only, b on d1 only; the payload takes 2 + 3 (out) and 4 + 3 (in) seconds.
    case = instance([[1, None], [None, 5]], [(0, 1)], payload=[3, 0], delay=[2, 4])
    assert headtail(case).value == pytest.approx(1 + 5 + 7 + 5, rel=1e-13)
    assert heads(case).tolist() == [[0, math.inf], [math.inf, 13]]
    assert tails(case).tolist() == [[17, math.inf], [math.inf, 0]]


def test_weighs_moving_against_staying():
    # b is faster on d1, but only by less than the wire takes.
    case = instance([[1, 9], [5, 2], [1, 9]], [(0, 1), (1, 2)], delay={(0, 1): 2.0})
    assert headtail(case).value == pytest.approx(1 + 5 + 1, rel=1e-13)
    assert critical_path(case).value == pytest.approx(1 + 2 + 1, rel=1e-13)


def test_the_direction_of_a_wire_counts():
    times = [[1, None, None], [None, 1, None], [None, None, 1]]
    wires = {(0, 1): 2.0, (1, 2): 3.0, (0, 2): 50.0}
    case = instance(times, [(0, 1), (1, 2)], delay=wires)
    assert headtail(case).value == pytest.approx(3 + 5, rel=1e-13)


@settings(max_examples=60, deadline=None)
@given(random_instances)
def test_matches_the_recursion(case):
    time = allowed_times(case)
    head, tail = np.zeros(time.shape), np.zeros(time.shape)
    for u, v in sorted(case.edges.tolist(), key=lambda e: e[1]):
        arrival = (head[u] + time[u])[:, None] + delays(case, u)
        head[v] = np.maximum(head[v], arrival.min(axis=0))
    for u, v in case.edges.tolist()[::-1]:
        rest = delays(case, u) + (time[v] + tail[v])[None, :]
        tail[u] = np.maximum(tail[u], rest.min(axis=1))
    able = np.isfinite(time)
    np.testing.assert_allclose(heads(case)[able], head[able], rtol=1e-12)
    np.testing.assert_allclose(tails(case)[able], tail[able], rtol=1e-12)
    assert np.isinf(heads(case)[~able]).all()
    assert np.isinf(tails(case)[~able]).all()


@settings(max_examples=60, deadline=None)
@given(random_instances, st.integers(0, 2**32 - 1))
def test_no_schedule_is_earlier(case, seed):
    rng = np.random.default_rng(seed)
    allowed = np.isfinite(allowed_times(case))
    first = np.unique(case.group, return_index=True)[1]
    choice = [rng.choice(np.flatnonzero(allowed[v])) for v in first]
    device = np.array(choice)[case.group]
    start = starts(case, dispatch(case, device))
    nodes = np.arange(case.n)
    finish = start + case.time[nodes, device]
    makespan = finish.max()
    assert (start >= heads(case)[nodes, device] * (1 - 1e-12)).all()
    assert (finish + tails(case)[nodes, device] <= makespan * (1 + 1e-12)).all()
    assert critical_path(case).value * (1 - 1e-12) <= headtail(case).value <= makespan
