"""Levels: what is contracted, and that an answer of parts is one of their nodes."""

import math

import numpy as np
import pytest

from heuristics.levels import schedule
from heuristics.levels.hierarchy import hierarchy
from heuristics.levels.matching import Level, coarser, quotient
from heuristics.multilevel import _down
from heuristics.shared.best import objective
from problems import latency, throughput
from problems.answer import Answer
from tests.heuristics.samples import samples


def _parts(case, seed, coarsest=2):
    return hierarchy(case, coarsest, np.random.default_rng(seed), lambda: math.inf)


@pytest.mark.parametrize("problem", ["throughput", "latency"])
def test_parts_keep_groups_orders_and_devices(problem):
    contracted = 0
    for seed, case in samples(60, n=12, problem=problem):
        ordered = problem == "latency" or case.rules.contiguous
        for part in _parts(case, seed):
            contracted += 1
            assert sorted(set(part.tolist())) == list(range(int(part.max()) + 1))
            able = np.isfinite(case.time)
            for p in range(int(part.max()) + 1):
                assert able[part == p].all(axis=0).any()
            if problem == "throughput":
                assert all(len(set(part[case.group == g])) == 1 for g in set(case.group.tolist()))
            if ordered:
                edges = case.edges if problem == "latency" else throughput.order_edges(case)
                assert (part[edges[:, 0]] <= part[edges[:, 1]]).all() or _acyclic(part, edges)
    assert contracted > 20


def _acyclic(part, edges):
    # Under `contiguous` the order of backward nodes runs against their numbers.
    pairs = {(int(a), int(b)) for a, b in part[edges] if a != b}
    left = set(range(int(part.max()) + 1))
    while left:
        free = {p for p in left if not any(b == p and a in left for a, b in pairs)}
        if not free:
            return False
        left -= free
    return True


def test_a_schedule_of_parts_is_no_earlier_than_that_of_their_nodes():
    held = 0
    for seed, case in samples(60, n=12, problem="latency"):
        rng = np.random.default_rng(seed)
        for part in _parts(case, seed):
            small = schedule.coarse(case, part)
            answer = latency.dispatch(small, rng.integers(0, case.K, small.n))
            coarse = objective(small, answer)
            if coarse == math.inf:
                continue
            place = schedule.sequence_of(small, answer)
            sequence = np.argsort(place[part], kind="stable")
            fine = latency.answer_of(case, answer.device[part], sequence)
            assert objective(case, fine) <= coarse * (1 + 1e-12)
            first = np.unique(part, return_index=True)[1]
            back = _down(small, fine, first, np.arange(small.n), part)
            assert objective(small, back) == pytest.approx(coarse)
            held += 1
    assert held > 20


def _level(n, pairs, work=None):
    pairs = np.array(pairs, np.int64).reshape(-1, 2)
    return Level(
        pairs, pairs, np.ones(len(pairs)), np.ones(n) if work is None else np.array(work, float),
        np.zeros(n), np.zeros(n, np.int64),
    )  # fmt: skip


def test_only_edges_without_a_second_path_are_contracted():
    rng = np.random.default_rng(0)
    # 0 -> 1 -> 2 and 0 -> 2: 0 with 2 would close a cycle.
    for _ in range(8):
        number = coarser(_level(3, [(0, 1), (0, 2), (1, 2)]), True, 9, 9, rng)
        assert number[0] != number[2]
        assert number.max() == 1


def test_neither_work_nor_kind_is_exceeded():
    rng = np.random.default_rng(0)
    chain = [(0, 1), (1, 2), (2, 3)]
    assert coarser(_level(4, chain, [3, 1, 1, 3]), True, 3, 9, rng).tolist() in (
        [0, 1, 1, 2], [0, 0, 1, 1],
    )  # fmt: skip
    apart = _level(4, chain)._replace(kind=np.array([0, 1, 0, 1]))
    assert coarser(apart, True, 9, 9, rng).max() == 3


def test_layers_stay_as_wide_as_asked_for():
    rng = np.random.default_rng(0)
    ladder = [(a, b) for a in range(8) for b in range(8, 16)]
    wide = coarser(_level(16, ladder), True, 9, 9, rng, layer=4)
    assert np.bincount(wide).tolist() == [2] * 8
    assert coarser(_level(16, ladder), True, 9, 9, rng, layer=8).max() == 15
    small = quotient(_level(16, ladder), wide)
    assert small.work.sum() == 16
    assert len(small.pairs) == 16
    assert small.traffic.sum() == len(ladder)


def test_an_order_of_parts_follows_their_first_nodes():
    case = next(c for _, c in samples(40, n=12, problem="latency") if c.K > 1)
    part = np.arange(case.n)
    answer = latency.dispatch(case, np.zeros(case.n, np.int64))
    same = _down(case, answer, part, part, part)
    assert isinstance(same, Answer)
    assert [each.tolist() for each in same.order] == [each.tolist() for each in answer.order]
