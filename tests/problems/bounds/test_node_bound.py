import pytest

from problems.bounds.node_bound import node
from tests.brute_force import optimum
from tests.tiny import instance


def of(case):
    """The bound, held against the optimum on the way."""
    value = node(case).value
    assert value <= optimum(case).objective
    return pytest.approx(value, rel=1e-12)


def test_the_heaviest_group():
    case = instance([[3, 5], [1, 1], [2, 9]], problem="throughput", colocate={1: "g", 2: "g"})
    assert of(case) == 3
    assert "'a'" in node(case).note


@pytest.mark.parametrize(("overlap", "expected"), [("none", 10), ("half", 6), ("full", 4)])
def test_transfers_that_support_forces(overlap, expected):
    # b on d1 receives a (1 + 1) and sends to c (1 + 3); d0 is a host.
    case = instance(
        [[1, None], [None, 4], [1, None]],
        [(0, 1), (1, 2)],
        problem="throughput",
        rules={"overlap": overlap},
        payload=[1, 3, 0],
        hosts=[0],
        delay=[0, 1],
    )
    assert of(case) == expected


def test_a_payload_is_sent_and_received_once():
    case = instance(
        [[1, None], [None, 4], [None, 4]],
        [(0, 1), (0, 2)],
        problem="throughput",
        colocate={1: "g", 2: "g"},
        payload=[1, 0, 0],
        delay=[1, 1],
    )
    assert of(case) == 4 + 4 + 2


def test_a_staged_payload_leaves_once_for_two_groups():
    case = instance(
        [[9, None], [None, 1], [None, 1]],
        [(0, 1), (0, 2)],
        problem="throughput",
        payload=[1, 0, 0],
        delay=[1, 1],
    )
    assert of(case) == 9 + 2


def test_transfers_that_memory_forces():
    # Two of 6 bytes do not share 10 bytes.
    traits = {"problem": "throughput", "payload": [6, 6], "memory": [10, 10], "delay": [1, 1]}
    assert of(instance([[1, 1], [2, 2]], [(0, 1)], **traits)) == 2 + 7
    traits["memory"] = [12, 12]
    assert of(instance([[1, 1], [2, 2]], [(0, 1)], **traits)) == 2


def test_direct_wires_take_the_nearest_partner():
    case = instance(
        [[1, 1, None], [None, None, 4]],
        [(0, 1)],
        problem="throughput",
        delay={(0, 1): 1.0, (0, 2): 5.0, (1, 2): 3.0},
    )
    assert of(case) == 4 + 3


def test_a_host_pays_nothing():
    case = instance([[5, None], [None, 1]], [(0, 1)], problem="throughput", hosts=[0], delay=[0, 1])
    assert of(case) == 5


def test_split_phases_take_transfers_by_their_producer():
    case = instance(
        [[4, None], [None, 1], [3, None]],
        [(0, 1), (1, 2)],
        problem="throughput",
        rules={"split_phases": True, "overlap": "half"},
        backward=[2],
        colocate={0: "g", 2: "g"},
        payload=[1, 1, 0],
        delay=[4, 4],
    )
    # d0 forward: max(4, 5 out + 5 in) ; backward: max(3, 0)
    assert of(case) == 10 + 3
