"""The enumeration itself, held against one without any cuts."""

import math
from dataclasses import replace
from itertools import permutations, product

import pytest

from problems import latency
from problems.answer import Answer
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from tests.brute_force import optimum


def everything(instance):
    """All mappings with, for latency, the orders that all permutations of the nodes give."""
    for device in product(range(instance.K), repeat=instance.n):
        if instance.problem == "throughput":
            yield Answer.of(device)
            continue
        for nodes in permutations(range(instance.n)):
            yield Answer.of(device, [[v for v in nodes if device[v] == k] for k in range(2)])


@pytest.mark.parametrize("problem", ["throughput", "latency"])
@pytest.mark.parametrize("seed", range(6))
def test_cuts_lose_nothing(problem, seed):
    instance = from_bundle(
        random_bundle(
            seed,
            n=4,
            problem=problem,
            topology=("staged", "direct")[seed % 2],
            hosts=seed % 3,
            tight=(None, 1.0, 1.3)[seed % 3],
            unlimited=problem == "latency" and seed in (1, 4),
            groups=seed % 2,
            unsupported=0.2,
            ties=seed >= 3,
            rules={"contiguous": seed == 2} if problem == "throughput" else {},
        )
    )
    values = [check(instance, answer).objective for answer in everything(instance)]
    expected = min((value for value in values if value is not None), default=None)
    best = optimum(instance)
    assert (best.objective is None) == (expected is None)
    if expected is not None:
        assert math.isclose(best.objective, expected, rel_tol=1e-12, abs_tol=1e-12)
        assert check(instance, best.answer).objective == best.objective


def served_everyhow(instance):
    """All mappings, node orders by permutations, and all orders at all ports."""
    for device in product(range(instance.K), repeat=instance.n):
        full = latency.complete(instance, Answer.of(device))
        ports = [list(permutations(each.tolist())) for each in [*full.send, *full.receive]]
        for nodes in permutations(range(instance.n)):
            order = [[v for v in nodes if device[v] == k] for k in range(instance.K)]
            for lists in product(*ports):
                send, receive = lists[: instance.K], lists[instance.K :]
                yield Answer.of(device, order, send=send, receive=receive)


@pytest.mark.parametrize("seed", range(6))
def test_cuts_lose_nothing_under_ports(seed):
    instance = from_bundle(
        random_bundle(
            seed + 20,
            n=4,
            problem="latency",
            rules={"contention": "ports"},
            topology=("staged", "direct")[seed % 2],
            hosts=seed // 2 % 2,
            unlimited=seed == 1,
            unsupported=0.5,
            density=0.8,
            ties=seed >= 4,
        )
    )
    values = [check(instance, answer).objective for answer in served_everyhow(instance)]
    expected = min(value for value in values if value is not None)
    best = optimum(instance)
    assert math.isclose(best.objective, expected, rel_tol=1e-12, abs_tol=1e-12)
    assert check(instance, best.answer).objective == best.objective


def test_first_come_first_served_is_not_always_optimal():
    late = contended = 0
    for seed in range(60):
        case = {"n": 5 + seed % 2, "devices": 2 + seed % 2, "problem": "latency", "density": 0.5}
        case |= {"topology": ("staged", "direct")[seed // 2 % 2], "unsupported": 0.6}
        instance, free = (
            from_bundle(random_bundle(seed, **case, rules={"contention": contention}))
            for contention in ("ports", "none")
        )
        best = optimum(instance)
        contended += optimum(free).objective < best.objective * (1 - 1e-9)
        served = replace(best.answer, send=None, receive=None)
        late += latency.makespan(instance, served) > best.objective * (1 + 1e-9)
    assert contended >= 3, "ports change nothing here"
    assert late >= 2, "first come, first served is always best here"
