"""Exact methods of `latency`, contention none and ports, against brute force and one another."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bench
from problems import latency
from problems.answer import Answer
from problems.checker import check
from problems.files import FileError
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.catalogue import load
from solvers.formulations import disjunctive
from solvers.formulations._windows import serial
from tests.brute_force import optimum
from tests.solvers.runs import agrees, run
from tests.solvers.tiny import arguments
from tests.tiny import instance

SEEDS = range(3000, 3210)
PACKS = 6


def tiny(seed):
    """A tiny instance of either contention; None where a group runs nowhere."""
    given = arguments("latency", seed)
    given["rules"]["contention"] = ("none", "ports", "ports")[seed % 3]
    if seed % 2:  # then transfers have to be
        given["unsupported"] = 0.6
    try:
        return from_bundle(random_bundle(seed, **given))
    except FileError as error:
        if "on no device" not in str(error):
            raise
        return None


def cases(seeds=SEEDS):
    return [(seed, case) for seed in seeds if (case := tiny(seed)) is not None]


def contended(case):
    return case.rules.contention == "ports"


def test_the_instances_cover_what_matters():
    mine = cases()
    assert len(mine) >= 200
    values = {seed: optimum(case).objective for seed, case in mine}
    for ports in (False, True):
        some = [(seed, case) for seed, case in mine if contended(case) == ports]
        assert len(some) >= 60
        assert sum(values[seed] is None for seed, _ in some) >= 5
        for what in (
            lambda case: case.staged,
            lambda case: not case.staged,
            lambda case: case.unlimited.any(),
            lambda case: case.group.max() + 1 < case.n,
            lambda case: len(case.shared_bytes) > 0 and math.isfinite(case.memory[0]),
            lambda case: not math.isfinite(case.time.max()),
            lambda case: len(set(case.device_class.tolist())) < case.K,
        ):
            assert sum(bool(what(case)) for _, case in some) >= 9
    assert sum(
        optimum(case).answer.send is not None
        for seed, case in mine
        if contended(case) and values[seed] is not None
    ) >= 5, "ports never make a difference"  # fmt: skip


@pytest.mark.parametrize("pack", range(PACKS))
def test_all_equal_brute_force(pack):
    for i, (seed, case) in enumerate(cases()[pack::PACKS]):
        best = optimum(case)
        # A known optimum narrows all windows, and may not be cut off.
        start = best.answer if i % 4 == 3 else None
        for name in ("intervals", "disjunctive@highs", "disjunctive@scip"):
            ran = run(name, case, symmetry=i % 3 > 0, start=start)
            assert agrees(ran, best.objective), (name, seed, best.objective, ran)


def random_answers(case, seed):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        device = rng.integers(0, case.K, int(case.group.max()) + 1)[case.group]
        bare = Answer.of(device)
        if latency.is_valid(case, bare):
            yield bare
            yield latency.complete(case, latency.answer_of(case, device, np.arange(case.n)))


@pytest.mark.parametrize("symmetry", [True, False])
def test_every_answer_encodes_at_its_makespan_and_reads_back(symmetry):
    encoded = 0
    for seed, case in cases(range(4000, 4120)):
        scale = 0.1 * serial(case)
        model = disjunctive.build(case, symmetry=symmetry, upper=math.inf, scale=scale)
        assert len(set(model.column_names())) == len(model.cost)
        for answer in random_answers(case, seed):
            x = model.encode(answer)
            value = latency.makespan(case, answer)
            assert model.violation(x) < 1e-9, seed
            assert math.isclose(model.cost @ x * scale, value, rel_tol=1e-9, abs_tol=1e-12)
            again = model.read(x)
            assert check(case, again).valid
            assert latency.makespan(case, again) <= value * (1 + 1e-9)
            encoded += 1
    assert encoded >= 200


def test_what_is_not_valid_is_not_encoded():
    case = from_bundle(random_bundle(1, problem="latency", rules={"contention": "ports"}))
    model = disjunctive.build(case, symmetry=True, upper=math.inf, scale=1.0)
    assert model.encode(Answer.of(np.zeros(case.n), [range(case.n), [0]])) is None


def test_too_many_open_pairs_are_refused():
    wide = from_bundle(random_bundle(1, n=210, density=0.0, problem="latency"))
    reason = load("disjunctive@highs").refusal(wide)
    assert "takes 20000 pairs" in reason
    assert "not 21945" in reason
    many = {"n": 60, "devices": 4, "hosts": 0, "density": 0.2, "problem": "latency"}
    free, ports = (
        load("disjunctive@highs").refusal(
            from_bundle(random_bundle(1, **many, rules={"contention": contention}))
        )
        for contention in ("none", "ports")
    )
    assert free is None
    assert "transfers at ports" in ports
    large = from_bundle(random_bundle(1, n=2001, density=0.001, problem="latency"))
    assert "2000 nodes at most" in load("disjunctive@scip").refusal(large)
    throughput = from_bundle(random_bundle(1))
    assert "is for latency" in load("disjunctive@highs").refusal(throughput)


@pytest.mark.parametrize("topology", ["staged", "direct"])
def test_larger_instances_with_ports_agree(topology):
    case = from_bundle(
        random_bundle(
            7, n=11, devices=3, hosts=1, like=True, topology=topology, density=0.2, tight=1.5,
            unsupported=0.3, groups=1, problem="latency", rules={"contention": "ports"},
        )
    )  # fmt: skip
    found = [run(name, case) for name in ("intervals", "disjunctive@highs", "disjunctive@scip")]
    assert {ran.claim for ran in found} == {"optimal"}
    values = [ran.objective for ran in found]
    assert max(values) <= min(values) * (1 + 1e-6)


@pytest.mark.parametrize("id", ["moe:block/server-tight-384m/latency",
                                "clip:block/duo-eth1g/latency",
                                "gnmt:block/quad-eth1g/latency"])  # fmt: skip
def test_both_prove_the_tiny_ones_of_the_library(id):
    case = bench.load(id)
    first, second = run("intervals", case), run("disjunctive@highs", case)
    assert (first.claim, second.claim) == ("optimal", "optimal")
    assert math.isclose(first.objective, second.objective, rel_tol=1e-6)


@pytest.mark.parametrize("delay", [[1, 2, 3, 1], {(0, 1): 2.0, (0, 2): 1.0, (1, 2): 3.0}])
@pytest.mark.parametrize("into_one", [True, False])
def test_each_port_serves_one_at_a_time(delay, into_one):
    """Four transfers that have to be, into one port or out of one; without it all is faster."""
    here, there = (0, 2) if into_one else (2, 0)
    at = [here, 1, here, 1, there, there, there, there]
    at = at if into_one else [there, there, there, there, 2, 1, 2, 1]
    K = 4 if isinstance(delay, list) else 3
    times = [[1 + v % 3 if k == at[v] else None for k in range(K)] for v in range(8)]
    edges = [(v, v + 4) for v in range(4)]
    traits = {"payload": [2, 1, 1, 3, 0, 0, 0, 0], "delay": delay}
    case = instance(times, edges, rules={"contention": "ports"}, **traits)
    free = optimum(instance(times, edges, **traits)).objective
    best = optimum(case).objective
    assert best > free
    for name in ("intervals", "disjunctive@highs", "disjunctive@scip"):
        ran = run(name, case)
        assert agrees(ran, best), (name, best, ran)
