import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.answer import Answer
from problems.checker import check
from problems.generate.random import random_bundle
from problems.latency import (
    answer_of,
    delays,
    dispatch,
    is_valid,
    makespan,
    rules_of,
    sequence_of,
    starts,
    upward_rank,
)
from problems.resolve import from_bundle
from tests.tiny import instance

# a -> c, b -> c, b -> d
FORK = {"times": [[2, 4], [3, 1], [5, 5], [1, 1]], "edges": [(0, 2), (1, 2), (1, 3)]}


def fork(**traits):
    return instance(FORK["times"], FORK["edges"], payload=[1, 2, 0, 0], **traits)


def test_earliest_starts_by_hand():
    case = fork(delay=[0.5, 1.0])
    # b on d1 until 1, its data on d0 at 1 + 2.5 + 3; a on d0 until 2.
    answer = Answer.of([0, 1, 0, 1], [[0, 2], [1, 3]])
    assert starts(case, answer).tolist() == [0, 0, 6.5, 1]
    assert makespan(case, answer) == 11.5
    waiting = Answer.of([0, 0, 0, 0], [[1, 3, 0, 2], []])
    assert starts(case, waiting).tolist() == [4, 0, 6, 3]


def test_transfers_by_topology():
    assert delays(fork(delay=[0.5, 1.0]), 1).tolist() == [[0, 5.5], [5.5, 0]]
    assert delays(fork(hosts=[0], delay=[0, 1.0]), 1).tolist() == [[0, 3], [3, 0]]
    assert delays(fork(delay={(0, 1): 4.0}), 1).tolist() == [[0, 6], [6, 0]]


def test_an_unlimited_device_runs_all_at_once():
    case = fork(unlimited=[0], delay=[0, 0])
    # Its order carries no meaning, not even one against the edges.
    answer = Answer.of([0, 0, 0, 0], [[3, 2, 1, 0], []])
    assert starts(case, answer).tolist() == [0, 0, 3, 3]
    assert check(case, answer).objective == makespan(case, answer) == 8


@pytest.mark.parametrize(
    "order",
    [
        [[2, 0], [1, 3]],  # against an edge
        [[0], [1, 3]],  # one missing
        [[0, 2, 0], [1, 3]],  # one twice
        [[0, 2, 1], [3]],  # one elsewhere
        [[0, 2], [1, 3, 3]],
        [[0, 2], [1, 4]],
        [[0, 2], [1, -1]],
        [[0, 2]],
        [],
    ],
)
def test_impossible_orders(order):
    case = fork(delay=[0, 0])
    answer = Answer.of([0, 1, 0, 1], order)
    assert sequence_of(case, answer) is None
    assert makespan(case, answer) == np.inf
    assert not is_valid(case, answer)
    assert not check(case, answer).valid


def test_two_orders_can_wait_for_each_other():
    # a -> b, c -> d; d before a on d0, b before c on d1.
    case = instance([[1, 1]] * 4, [(0, 1), (2, 3)], delay=[0, 0])
    device = [0, 1, 1, 0]
    assert is_valid(case, Answer.of(device, [[0, 3], [1, 2]]))
    knot = Answer.of(device, [[3, 0], [1, 2]])
    assert not is_valid(case, knot)
    assert [rule for rule, _ in check(case, knot).violations] == ["order"]


def test_dispatch_goes_by_upward_rank():
    case = fork(delay=[0, 0])
    device = np.array([0, 0, 0, 0])
    assert upward_rank(case, device).tolist() == [7, 8, 5, 1]
    assert [each.tolist() for each in dispatch(case, device).order] == [[1, 0, 2, 3], []]
    apart = np.array([0, 1, 0, 0])
    assert upward_rank(case, apart).tolist() == [7, 1 + 4 + 5, 5, 1]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_dispatch_and_any_topological_sequence_are_valid(seed, draw, ties, direct):
    case = from_bundle(
        random_bundle(
            seed, n=9, devices=3, problem="latency", ties=ties, unlimited=seed % 2 == 0,
            topology="direct" if direct else "staged",
        )
    )  # fmt: skip
    rng = np.random.default_rng(draw)
    device = rng.integers(0, 3, case.n)
    for answer in (dispatch(case, device), answer_of(case, device, np.arange(case.n))):
        assert is_valid(case, answer)
        verdict = check(case, answer)
        assert verdict.valid
        assert verdict.objective == pytest.approx(makespan(case, answer), rel=1e-12)
    bare = Answer.of(device)
    assert check(case, bare).objective == check(case, dispatch(case, device)).objective
    assert makespan(case, bare) == makespan(case, dispatch(case, device))


def test_another_problem_is_refused():
    with pytest.raises(ValueError, match="is a throughput instance, not latency"):
        rules_of(instance([[1]], problem="throughput"))
