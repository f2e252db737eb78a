import math
from dataclasses import replace

import numpy as np
import pytest

from problems import latency, ports
from problems.answer import Answer
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from tests.tiny import instance

PORTS = {"contention": "ports"}

# a and b on d0, c reads a and d reads b, both on d1; e on d2 reads a as well.
TWO = {"times": [[1, 1, 1], [2, 2, 2], [1, 1, 1], [1, 1, 1], [1, 1, 1]]}
EDGES = [(0, 2), (1, 3), (0, 4)]


def two(**traits):
    return instance(TWO["times"], EDGES, payload=[4, 1, 0, 0, 0], rules=PORTS, **traits)


SPREAD = Answer.of([0, 0, 1, 1, 2], [[0, 1], [2, 3], [4]])


def test_staged_transfers_wait_for_both_ports():
    case = two(delay=[0, 1, 0])
    # From d0: a -> d1 at 1..5, a -> d2 at 5..9, b -> d1 (ready at 3) at 9..10.
    # Into d1: a at 5..10, b at 10..12; into d2: a at 9..13.
    assert latency.starts(case, SPREAD).tolist() == [0, 1, 10, 12, 13]
    assert check(case, SPREAD).objective == latency.makespan(case, SPREAD) == 14


def test_direct_transfers_hold_both_ports_at_once():
    case = two(delay={(0, 1): 1.0, (0, 2): 2.0, (1, 2): 0.0})
    # a -> d1 at 1..6, a -> d2 at 6..12, b -> d1 at 12..14.
    assert latency.starts(case, SPREAD).tolist() == [0, 1, 6, 14, 12]


def test_hosts_have_no_ports():
    staged = two(delay=[0, 1, 0], hosts=[0])
    # No first leg; into d1: a at 1..6, b (there at 3) at 6..8; into d2: a at 1..5.
    assert latency.starts(staged, SPREAD).tolist() == [0, 1, 6, 8, 5]
    direct = two(delay={(0, 1): 1.0, (0, 2): 2.0, (1, 2): 0.0}, hosts=[0])
    # Only the receiving ports: a -> d1 at 1..6, b -> d1 at 6..8, a -> d2 at 1..7.
    assert latency.starts(direct, SPREAD).tolist() == [0, 1, 6, 8, 7]


def test_the_order_at_a_port_matters():
    """First come, first served is not always best: the urgent transfer comes second."""
    case = instance(
        [[1, 1], [1, 1], [1, 1], [9, 9]], [(0, 2), (1, 3)], payload=[5, 1, 0, 0], rules=PORTS,
        delay={(0, 1): 0.0},
    )  # fmt: skip
    served = Answer.of([0, 0, 1, 1], [[0, 1], [3, 2]])
    K = 2
    assert [each.tolist() for each in latency.complete(case, served).send] == [[1, K + 1], []]
    assert latency.makespan(case, served) == 17  # a until 6, b until 7, d at 7..16, c at 16..17
    urgent = replace(served, **_orders(case, served, [K + 1, 1]))
    assert latency.makespan(case, urgent) == 13  # b at 2..3, d at 3..12, a at 3..8, c at 12..13
    assert check(case, urgent).objective == 13


def _orders(case, answer, sent):
    lists = [np.array(sent), np.zeros(0, np.int64)]
    return {"send": tuple(lists), "receive": tuple(lists[::-1])}


@pytest.mark.parametrize(
    "change",
    [
        {"send": None},
        {"receive": None},
        {"order": None},
        {"send": ([1], [], [])},  # not all
        {"send": ([1, 2, 4, 4], [], [])},  # one twice
        {"send": ([1, 2], [4], [])},  # at another port
        {"send": ([1, 2, 10**12], [], [])},
        {"receive": ([], [4, 1, 2], [])},
        {"send": ([1, 2, 4], [])},
    ],
)
def test_wrong_lists_are_refused(change):
    case = two(delay=[1, 1, 1])
    full = latency.complete(case, SPREAD)
    assert [each.tolist() for each in full.send] == [[1, 2, 4], [], []]
    assert check(case, full).valid
    assert latency.is_valid(case, full)
    lists = {k: v and tuple(np.array(each, np.int64) for each in v) for k, v in change.items()}
    wrong = replace(full, **lists)
    assert not latency.is_valid(case, wrong)
    assert latency.makespan(case, wrong) == math.inf
    ((rule, _),) = check(case, wrong).violations
    assert rule in ("order", "shape")


def test_transfers_that_wait_for_each_other():
    # d1 wants b's data first, d0 sends a's first, and holds both ports meanwhile.
    case = instance(
        [[1, 1]] * 4, [(0, 2), (1, 3)], payload=[1, 1, 0, 0], rules=PORTS, delay={(0, 1): 0.0}
    )
    answer = Answer.of([0, 0, 1, 1], [[0, 1], [2, 3]], send=[[1, 3], []], receive=[[], [3, 1]])
    assert not latency.is_valid(case, answer)
    ((rule, what),) = check(case, answer).violations
    assert rule == "order"
    assert "cycle" in what


def test_without_ports_transfers_have_no_order():
    case = instance([[1, 1]] * 2, [(0, 1)], payload=[1, 0], delay=[1, 1])
    answer = Answer.of([0, 1], [[0], [1]], send=[[1], []], receive=[[], [1]])
    assert not latency.is_valid(case, answer)
    assert [rule for rule, _ in check(case, answer).violations] == ["order"]


def test_claimed_starts_wait_for_ports():
    case = two(delay=[0, 1, 0])
    full = latency.complete(case, SPREAD)
    for answer in (SPREAD, full):
        for start, fine in (
            ([0, 1, 10, 12, 13], True),
            ([0, 1, 11, 15, 13], True),
            ([0, 1, 10, 11, 13], False),
            ([0, 2, 10, 11.9, 13], False),
        ):
            verdict = check(case, replace(answer, start=np.array(start, float)))
            assert verdict.valid == fine
            assert fine or verdict.violations[0][0] == "start"
    late = replace(full, start=np.array([1, 2, 10, 12, 13], float))  # all transfers come later
    assert not check(case, late).valid


def random_case(seed):
    return from_bundle(
        random_bundle(
            seed, n=3 + seed % 8, devices=2 + seed % 3, problem="latency", rules=PORTS,
            topology=("staged", "direct")[seed % 2], hosts=seed // 2 % 3, ties=seed % 5 == 0,
            like=seed % 7 == 0, uneven=seed % 3 == 0, unlimited=seed % 4 == 0,
            density=0.2 + 0.2 * (seed % 3),
        )
    )  # fmt: skip


def shuffled(case, answer, rng):
    """The answer with transfers exchanged at random; it may be impossible then."""
    lists = {}
    for name in ("send", "receive"):
        each = [port.copy() for port in getattr(answer, name)]
        for port in each:
            if len(port) > 1 and rng.random() < 0.5:
                i, j = rng.integers(0, len(port), 2)
                port[[i, j]] = port[[j, i]]
        lists[name] = tuple(each)
    return replace(answer, **lists)


@pytest.mark.parametrize("pack", range(4))
def test_checker_and_evaluator_agree(pack):
    counts = {"valid": 0, "invalid": 0, "better": 0}
    for seed in range(pack, 400, 4):
        case, rng = random_case(seed), np.random.default_rng(seed)
        device = rng.integers(0, case.K, case.n)
        for sequence in (np.arange(case.n), None):
            answer = (
                Answer.of(device) if sequence is None else latency.answer_of(case, device, sequence)
            )
            full = latency.complete(case, answer)
            value = latency.makespan(case, answer)
            assert check(case, answer).objective == value
            # First come, first served is the orders that it leads to.
            assert latency.makespan(case, full) == check(case, full).objective == value
            pure = latency.sequence_starts(case, device, latency.sequence_of(case, full))
            assert (latency.starts(case, full) >= pure - 1e-12).all()
            claimed = replace(full, start=latency.starts(case, full))
            assert check(case, claimed).valid
            for _ in range(4):
                other = shuffled(case, full, rng)
                verdict, fine = check(case, other), latency.is_valid(case, other)
                assert verdict.valid == fine
                counts["valid" if fine else "invalid"] += 1
                if fine:
                    assert verdict.objective == latency.makespan(case, other)
                    counts["better"] += verdict.objective < value
    assert min(counts.values()) >= 5, counts


def test_a_cycle_of_nodes_is_no_schedule():
    case = instance([[1, 1]] * 4, [(0, 1), (2, 3)], delay=[0, 0], rules=PORTS)
    knot = Answer.of([0, 1, 1, 0], [[3, 0], [1, 2]])
    assert not latency.is_valid(case, knot)
    assert latency.complete(case, knot) is knot
    assert [rule for rule, _ in check(case, knot).violations] == ["order"]


def test_transfers_are_one_for_each_destination():
    case = two(delay=[1, 1, 1])
    each = ports.transfers(case, np.array([0, 1, 1, 1, 1]))
    assert each.id.tolist() == [1]  # c and e share one, b and d sit together
    assert (each.send.tolist(), each.receive.tolist()) == ([5.0], [5.0])
