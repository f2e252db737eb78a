"""Local search on mappings: its running sums are the evaluator's, and tight memory is filled."""

from __future__ import annotations

import numpy as np

from problems import placement, throughput
from problems.checker import check
from solvers import rng as rng_
from solvers.improve_throughput import improve, ranks
from solvers.moves_throughput import blank, fill, may, measure, move, revert
from solvers.start import throughput_start
from solvers.units_throughput import problem_of
from solvers.walk_throughput import anneal, restart, walk
from tests.brute_force import optimum
from tests.solvers.tiny import instances


def fresh(q, device):
    s = blank(q)
    s.device[:] = device
    fill(q, s)
    return s


def same(s, other):
    for name in ("parts", "pins", "away", "home", "held", "readers", "wrong"):
        left, right = getattr(s, name), getattr(other, name)
        assert np.allclose(left, right, rtol=1e-9, atol=1e-9), name


def test_sums_after_moves_are_those_of_the_evaluator():
    rng = np.random.default_rng(5)
    compared = 0
    for seed, instance in instances("throughput", range(2000, 2150)):
        q = problem_of(instance, instance.group)
        G = int(instance.group.max()) + 1
        s = fresh(q, rng.integers(instance.K, size=G))
        for _ in range(12):
            g, k = rng.integers(G), rng.integers(instance.K)
            kept, a = (s.parts.copy(), s.held.copy(), s.wrong.copy()), s.device[g]
            move(q, s, g, k)
            if rng.random() < 0.3:
                revert(q, s, g, a)
                s.parts[:], s.held[:], s.wrong[:] = kept
        same(s, fresh(q, s.device))
        device = s.device[instance.group]
        assert np.allclose(s.held, placement.memory_use(instance, device)), seed
        if np.isfinite(instance.time[np.arange(instance.n), device]).all():
            period = throughput.period(instance, device)
            assert np.isclose(measure(q, s, 1.0)[2], period, rtol=1e-9, atol=1e-15), seed
            assert s.wrong[0] == 0
            compared += 1
    assert compared >= 80


def test_a_walk_keeps_sums_and_chain_and_does_not_depend_on_how_it_is_cut():
    for seed, instance in instances("throughput", range(2000, 2100)):
        start = throughput_start(instance, steps=0)
        if start is None or instance.K == 1:
            continue
        contiguous = instance.rules.contiguous
        units = instance.group
        if contiguous and (units != np.arange(instance.n)).any():
            continue  # units of a chain may be more than groups
        q, first = problem_of(instance, units), np.unique(units, return_index=True)[1]
        hot, ends = 0.05 * throughput.period(instance, start.device), []
        for pieces in ((600,), (1, 99, 500)):
            w = walk(q, rng_.seeded(np.random.default_rng(seed)))
            restart(q, w, start.device[first], ranks(instance, start.device))
            at = 0
            for moves in pieces:
                anneal(q, w, at, moves, hot, 0.99, 10)
                at += moves
            same(w.state, fresh(q, w.state.device))
            assert np.array_equal(w.at[w.state.rank], np.arange(instance.K))
            if contiguous:
                assert throughput.is_contiguous(instance, w.state.device[units])
            assert throughput.is_valid(instance, w.best[units])
            assert np.isclose(w.energy[1], throughput.period(instance, w.best[units]))
            ends.append(w.state.device.copy())
        assert np.array_equal(*ends), seed


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
