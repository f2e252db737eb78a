"""Local search on mappings: its running sums are the evaluator's, and tight memory is filled."""

from __future__ import annotations

import numpy as np

from problems import placement, throughput
from problems.checker import check
from solvers.improve_throughput import improve
from solvers.moves_throughput import State, exchange, fill, may, measure, move, problem_of
from solvers.start import throughput_start
from tests.brute_force import optimum
from tests.solvers.tiny import instances


def fresh(q, device):
    P, K, E = len(q.work), q.work.shape[2], len(q.net_phase)
    T = len(q.shared_bytes)
    s = State(
        device.copy(), np.arange(K), np.zeros((P, K, 3)), np.zeros((E, K), np.int32),
        np.zeros(E, np.int64), np.zeros(E, np.int64), np.zeros(K), np.zeros((T, K), np.int32),
        np.zeros(1, np.int64),
    )  # fmt: skip
    fill(q, s)
    return s


def test_sums_after_moves_are_those_of_the_evaluator():
    rng = np.random.default_rng(5)
    compared = 0
    for seed, instance in instances("throughput", range(2000, 2150)):
        q = problem_of(instance, instance.group)
        G = int(instance.group.max()) + 1
        s = fresh(q, rng.integers(instance.K, size=G))
        for _ in range(12):
            if instance.K > 1 and rng.random() < 0.2:
                a, b = rng.choice(instance.K, 2, replace=False)
                exchange(q, s, a, b)
            move(q, s, rng.integers(G), rng.integers(instance.K))
        device = s.device[instance.group]
        assert np.allclose(s.held, placement.memory_use(instance, device)), seed
        if np.isfinite(instance.time[np.arange(instance.n), device]).all():
            period = throughput.period(instance, device)
            assert np.isclose(measure(q, s, 1.0)[2], period, rtol=1e-9, atol=1e-15), seed
            assert s.wrong[0] == 0
            compared += 1
    assert compared >= 80


def test_the_chain_holds_a_group_between_its_neighbours():
    for _, instance in instances("throughput", range(2000, 2100)):
        if instance.rules.contiguous and (instance.group == np.arange(instance.n)).all():
            q = problem_of(instance, instance.group)
            s = fresh(q, np.zeros(instance.n, np.int64))
            for g, k in np.ndindex(instance.n, instance.K):
                followed = (throughput.order_edges(instance)[:, 0] == g).any()
                assert may(q, s, g, k) == (k == 0 or not followed)


def test_it_finds_most_optima_of_tiny_instances_and_nothing_better():
    best = missed = 0
    for seed, instance in instances("throughput", range(2000, 2200)):
        value, answer = optimum(instance).objective, throughput_start(instance)
        if value is None:
            assert answer is None, seed
            continue
        if answer is None:
            missed += 1
            continue
        verdict = check(instance, answer)
        assert verdict.valid, seed
        assert verdict.objective >= value * (1 - 1e-9), seed
        best += verdict.objective <= value * (1 + 1e-9)
    assert missed <= 2
    assert best >= 150


def test_it_repairs_memory():
    repaired = 0
    for seed, instance in instances("throughput", range(2000, 2200)):
        if instance.rules.contiguous or optimum(instance).objective is None:
            continue
        start = np.zeros(instance.n, np.int64)
        if not placement.is_placeable(instance, start):
            answer = improve(instance, instance.group, [start], seed=seed)
            repaired += answer is not None
    assert repaired >= 10
