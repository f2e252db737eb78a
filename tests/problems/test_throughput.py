import numpy as np
import pytest

from problems.throughput import (
    chain,
    is_contiguous,
    is_valid,
    loads,
    order_edges,
    parts,
    period,
    rules_of,
)
from tests.tiny import instance

TIMES = [[1, 10], [2, 20], [4, 40]]


def case(overlap="none", **traits):
    """a -> b, a -> c, b -> c; a and c together, b elsewhere."""
    return instance(
        TIMES,
        [(0, 1), (0, 2), (1, 2)],
        problem="throughput",
        rules={"overlap": overlap, **traits.pop("rules", {})},
        payload=[3, 5, 0],
        **traits,
    )


APART = np.array([0, 1, 0])


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [("none", [5 + 5.5 + 3.5, 20 + 4 + 6]), ("half", [9, 20]), ("full", [5.5, 20])],
)
def test_staged_loads(overlap, expected):
    # Port of d0: 0.5 + bytes; of d1: 1 + bytes. a leaves d0 once although two nodes read it.
    assert loads(case(overlap, delay=[0.5, 1]), APART).tolist() == [expected]
    assert period(case(overlap, delay=[0.5, 1]), APART) == max(expected)


def test_a_host_pays_no_transfer():
    assert loads(case(hosts=[0], delay=[0, 1]), APART).tolist() == [[5, 30]]


def test_direct_loads_pay_every_destination():
    three = instance(
        [[1, 1, 1]] * 4,
        [(0, 1), (0, 2), (0, 3)],
        problem="throughput",
        payload=[3, 0, 0, 0],
        delay={(0, 1): 1.0, (0, 2): 2.0, (1, 2): 4.0},
    )
    # To d1 once (4), to d2 once (5).
    found = parts(three, np.array([0, 1, 1, 2]))[0]
    assert found.tolist() == [[1, 0, 9], [2, 4, 0], [1, 5, 0]]
    # Staged, the producer pays once for both.
    staged = instance(
        [[1, 1, 1]] * 4, [(0, 1), (0, 2), (0, 3)], problem="throughput", payload=[3, 0, 0, 0],
        delay=[1, 2, 3],
    )  # fmt: skip
    assert parts(staged, np.array([0, 1, 1, 2]))[0].tolist() == [[1, 0, 4], [2, 5, 0], [1, 6, 0]]


def test_phases_are_charged_to_the_producer():
    split = case(rules={"split_phases": True}, backward=[2], delay=[0.5, 1])
    assert loads(split, APART).tolist() == [[1 + 3.5 + 5.5, 30], [4, 0]]
    assert period(split, APART) == 30 + 4
    together = case(backward=[2], delay=[0.5, 1])
    assert period(together, APART) == 30


def test_an_unsupported_node_costs_infinity():
    lonely = instance([[1, None]], problem="throughput")
    assert period(lonely, np.array([1])) == np.inf
    assert not is_valid(lonely, np.array([1]))


def test_contiguity_is_a_chain():
    free, bound = case(delay=[0, 0]), case(delay=[0, 0], rules={"contiguous": True})
    assert not is_contiguous(free, APART)
    assert is_valid(free, APART)
    assert not is_valid(bound, APART)
    assert is_valid(bound, np.array([1, 1, 0]))
    assert chain(bound, np.array([1, 1, 0])) == [1, 0]
    assert chain(bound, np.array([1, 1, 1])) is not None


def test_three_convex_sets_can_close_a_cycle():
    # a -> b', b -> c', c -> a' with {a, a'}, {b, b'}, {c, c'}: each convex, no chain.
    ring = instance([[1, 1, 1]] * 6, [(0, 3), (1, 4), (2, 5)], problem="throughput", delay=[0] * 3)
    assert not is_contiguous(ring, np.array([0, 1, 2, 1, 2, 0]))


def test_backward_groups_without_forward_nodes_are_ordered_the_other_way():
    # a -> b -> C -> D -> E; D has no forward partner, C follows b and E follows a.
    training = instance(
        [[1, 1, 1]] * 5,
        [(0, 1), (1, 2), (2, 3), (3, 4)],
        problem="throughput",
        rules={"contiguous": True},
        backward=[2, 3, 4],
        colocate={1: "y", 2: "y", 0: "x", 4: "x"},
        delay=[0] * 3,
    )
    assert order_edges(training).tolist() == [[0, 1], [3, 2], [4, 3]]
    assert is_valid(training, np.array([0, 2, 2, 1, 0]))
    # With a and b together D has to sit there too; b, D and a on three devices have one order.
    assert not is_valid(training, np.array([0, 0, 0, 1, 0]))
    assert chain(training, np.array([0, 2, 2, 1, 0])) == [0, 1, 2]


def test_another_problem_is_refused():
    with pytest.raises(ValueError, match="is a latency instance, not throughput"):
        rules_of(instance([[1]]))
