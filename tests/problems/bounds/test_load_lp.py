from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from problems.bounds import load_lp as module
from problems.bounds.allowed import groups_of
from problems.bounds.load_lp import Multipliers, lagrangian, load_lp
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from tests.brute_force import optimum
from tests.tiny import instance


def test_splits_the_work_by_speed():
    # d0 is three times as fast as d1, which needs 20 seconds for all.
    case = instance([[4, 12], [8 / 3, 8]], problem="throughput")
    assert load_lp(case).value == pytest.approx(20 / 4, rel=1e-11)
    assert load_lp(case).value < 5


def test_sees_memory():
    times, payload = [[1, 9]] * 4, [10] * 4
    case = instance(times, problem="throughput", payload=payload, memory=[20, None])
    # Two of the four at most on d0, the others on d1.
    assert load_lp(case).value == pytest.approx(18, rel=1e-11)
    free = instance(times, problem="throughput", payload=payload)
    assert load_lp(free).value == pytest.approx(36 / 10, rel=1e-11)


def test_a_shared_weight_is_held_once_a_device():
    # Both read 10 bytes, d0 has room for 10: both fit there.
    weights = [{"s": 10}, {"s": 10}]
    case = instance([[1, 9]] * 2, problem="throughput", weights=weights, memory=[10, None])
    assert load_lp(case).value == pytest.approx(18 / 10, rel=1e-11)
    case = instance([[1, 9], [1, 9]], problem="throughput", weights=weights, memory=[5, None])
    assert load_lp(case).value == pytest.approx(18, rel=1e-11)  # neither fits on d0


def test_an_unlimited_device_has_no_load():
    case = instance([[4.0, 2.0], [4.0, 2.0]], unlimited=[0], hosts=[0])
    assert load_lp(case).value == 0
    case = instance([[None, 2.0], [4.0, 2.0]], unlimited=[0], hosts=[0])
    assert load_lp(case).value == pytest.approx(2, rel=1e-11)
    case = instance([[1.0]], unlimited=[0], hosts=[0])
    assert load_lp.valid_for(case) == "every device is unlimited"


def test_phases_apart_cost_more_than_together():
    times = [[1, 9], [9, 1]]
    traits = {"problem": "throughput", "backward": [1]}
    together = load_lp(instance(times, **traits)).value
    apart = load_lp(instance(times, rules={"split_phases": True}, **traits)).value
    assert together == pytest.approx(1, rel=1e-11)
    assert apart == pytest.approx(0.9 + 0.9, rel=1e-11)


def naive(case):
    """The LP once more, row by row."""
    groups = groups_of(case)
    split = case.problem == "throughput" and case.rules.split_phases
    time = groups.time if split else groups.time.sum(axis=0, keepdims=True)
    P, G, K = time.shape
    W = len(groups.shared)
    size = G * K + W * K + P
    rows, upper = [], []
    for k in range(K):
        for f in range(P):
            row = np.zeros(size)
            for g in range(G):
                row[g * K + k] = time[f, g, k] if groups.allowed[g, k] else 0
            row[G * K + W * K + f] = -1
            if not case.unlimited[k]:
                rows.append(row)
                upper.append(0)
        if np.isfinite(case.memory[k]):
            row = np.zeros(size)
            row[k : G * K : K] = groups.bytes
            row[G * K + k : G * K + W * K : K] = [count for count, _ in groups.shared]
            rows.append(row)
            upper.append(case.memory[k])
        for w, (_, readers) in enumerate(groups.shared):
            for g in readers:
                row = np.zeros(size)
                row[g * K + k], row[G * K + w * K + k] = 1, -1
                rows.append(row)
                upper.append(0)
    once = np.zeros((G, size))
    for g in range(G):
        once[g, g * K : (g + 1) * K] = 1
    limits = [(0, 1 if allowed else 0) for allowed in groups.allowed.flat]
    limits += [(0, None)] * (W * K + P)
    cost = np.zeros(size)
    cost[-P:] = 1
    return linprog(cost, A_ub=np.array(rows), b_ub=upper, A_eq=once, b_eq=np.ones(G), bounds=limits)


def random_case(seed, **traits):
    rules = {"split_phases": seed % 3 == 0} if seed % 2 else {}
    return from_bundle(
        random_bundle(
            seed,
            **{
                "n": 7,
                "devices": 3,
                "problem": "throughput" if seed % 2 else "latency",
                "rules": rules,
                "tight": (None, 1.3, 1.6)[seed % 3],
                "tied": 3,
                "groups": seed % 3,
                "training": True,
                "unsupported": 0.2,
                "ties": seed % 5 == 0,
                "unlimited": seed % 4 == 0,
                **traits,
            },
        )
    )


@pytest.mark.parametrize("seed", range(40))
def test_reaches_the_value_of_the_lp(seed):
    case = random_case(seed)
    expected = naive(case)
    if expected.status == 2:
        assert optimum(case).objective is None
        return
    assert load_lp(case).value == pytest.approx(expected.fun, rel=1e-8, abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 500), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 10.0]))
def test_any_multipliers_prove_a_bound(seed, draw, scale):
    case = random_case(seed, n=4, devices=2)
    best = optimum(case).objective
    groups = groups_of(case)
    split = case.problem == "throughput" and case.rules.split_phases
    time = groups.time if split else groups.time.sum(axis=0, keepdims=True)
    rng = np.random.default_rng(draw)
    load = rng.random((len(time), case.K)) * ~case.unlimited
    memory = rng.random(case.K) * scale * np.isfinite(case.memory)
    pi = [rng.random((len(readers), case.K)) * scale for _, readers in groups.shared]
    given_ = Multipliers(load / load.sum(axis=1, keepdims=True), memory, pi)
    value = lagrangian(case, groups, time, given_)
    assert best is None or value <= best


@pytest.mark.parametrize("seed", range(30))
def test_the_lagrangian_is_its_minimum_over_all_choices(seed):
    case = random_case(seed, n=4, devices=2, tied=2, tight=1.5)
    groups = groups_of(case)
    time = groups.time.sum(axis=0, keepdims=True)
    rng = np.random.default_rng(seed)
    load = rng.random((1, 2)) * ~case.unlimited
    pi = [3 * rng.random((len(readers), 2)) for _, readers in groups.shared]
    given_ = Multipliers(load / load.sum(), rng.random(2) / 10, pi)
    least = np.inf
    held = [(True, False), (False, True), (True, True)]
    for device in product(range(2), repeat=len(groups.bytes)):
        if not all(groups.allowed[g, k] for g, k in enumerate(device)):
            continue
        for holds in product(held, repeat=len(groups.shared)):
            value = -(given_.memory * case.memory).sum()
            for g, k in enumerate(device):
                value += given_.load[0, k] * time[0, g, k] + given_.memory[k] * groups.bytes[g]
            for (size, readers), each, rows in zip(groups.shared, holds, pi, strict=True):
                value += size * (given_.memory * each).sum() - (rows * each).sum()
                value += sum(row[device[g]] for g, row in zip(readers, rows, strict=True))
            least = min(least, value)
    found = lagrangian(case, groups, time, given_)
    assert found == pytest.approx(least, rel=1e-9, abs=1e-9)
    assert found <= least


@pytest.mark.parametrize("seed", [1, 4, 7])
def test_large_instances_do_without_the_lp(seed, monkeypatch):
    case = random_case(seed)
    full = load_lp(case)
    monkeypatch.setattr(module, "LARGEST_LP", 0)
    quick = load_lp(case)
    assert quick.note == "closed-form multipliers"
    assert 0 <= quick.value <= full.value


def test_units_do_not_matter():
    times = [[3e-7, 5e-7], [4e-7, 2e-7], [9e-7, 1e-7]]
    payload = [4 * 10**9, 3 * 10**9, 2 * 10**9]
    small = instance(times, problem="throughput", payload=payload, memory=[5 * 10**9, 6 * 10**9])
    big = instance(
        [[t * 1e7 for t in row] for row in times],
        problem="throughput",
        payload=[4, 3, 2],
        memory=[5, 6],
    )
    assert load_lp(small).value * 1e7 == pytest.approx(load_lp(big).value, rel=1e-9)


@pytest.mark.parametrize("seed", range(24))
def test_like_devices_are_one_column_of_the_lp(seed, monkeypatch):
    case = random_case(seed, devices=5, hosts=seed % 3, like=True, unlimited=False)
    expected = naive(case)
    if expected.status == 2:
        return
    groups = groups_of(case)
    columns = module._columns(case, groups, groups.time)
    assert columns[2].tolist() == [1] * (seed % 3) + [5 - seed % 3]
    # Only what the columns count has to be small for the LP to be solved.
    monkeypatch.setattr(module, "LARGEST_LP", len(groups.bytes) * len(columns[2]))
    assert load_lp(case).value == pytest.approx(expected.fun, rel=1e-8, abs=1e-9)
