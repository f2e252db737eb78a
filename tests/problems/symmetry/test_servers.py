"""Servers that may change places, against all permutations of the devices."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from problems.answer import Answer
from problems.checker import check
from problems.instance import Instance
from problems.symmetry.servers import is_symmetry, server_classes
from tests.tiny import instance

RULES = [("throughput", {}), ("throughput", {"overlap": "full"}), ("latency", {})]


def cluster(
    servers: int, size: int, problem: str = "throughput", rules: dict | None = None, *,
    kinds: list[int] | None = None, times: list[list[float]] | None = None,
) -> Instance:  # fmt: skip
    """Servers of `size` devices: a fast link inside, a slow one between."""
    K = servers * size
    kinds = kinds or [0] * K
    rows = times or [[1.0, 5.0, 9.0], [2.0, 3.0, 1.0], [4.0, 1.0, 2.0]]
    delay = {
        (k, to): 0.25 if k // size == to // size else 1.5 for to in range(K) for k in range(to)
    }
    return instance(
        [[row[kinds[k]] for k in range(K)] for row in rows], [(0, 1), (0, 2)],
        problem=problem, rules=rules or {}, delay=delay,
    )  # fmt: skip


def _symmetries(case: Instance) -> set[tuple[int, ...]]:
    return {p for p in permutations(range(case.K)) if is_symmetry(case, np.array(p))}


def _generated(case: Instance) -> set[tuple[int, ...]]:
    """All that swaps of like devices and of servers make."""
    swaps = []
    for a in range(case.K):
        for b in range(a):
            if case.device_class[a] == case.device_class[b]:
                swaps.append(np.arange(case.K))
                swaps[-1][[a, b]] = b, a
    for rows in server_classes(case):
        for row in rows[1:]:
            swaps.append(np.arange(case.K))
            swaps[-1][rows[0]], swaps[-1][row] = row, rows[0]
    known, new = {tuple(range(case.K))}, [np.arange(case.K)]
    while new:
        each = new.pop()
        for swap in swaps:
            after = tuple(swap[each].tolist())
            if after not in known:
                known.add(after)
                new.append(np.array(after))
    return known


def _value(case: Instance, device: tuple[int, ...], image: np.ndarray | None = None):
    placed = np.array(device) if image is None else image[np.array(device)]
    order = None
    if case.problem == "latency":
        order = [np.flatnonzero(placed == k) for k in range(case.K)]
    return check(case, Answer.of(placed, order)).objective


@pytest.mark.parametrize(("problem", "rules"), RULES)
@pytest.mark.parametrize("kinds", [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 2], [0, 0, 1, 1]])
def test_what_is_found_changes_no_mapping(problem, rules, kinds):
    case = cluster(2, 2, problem, rules, kinds=kinds)
    found = _generated(case)
    every = list(product(range(case.K), repeat=case.n))
    before = [_value(case, device) for device in every]
    for image in permutations(range(case.K)):
        after = [_value(case, device, np.array(image)) for device in every]
        unchanged = np.allclose(after, before, rtol=1e-12, atol=0)
        # With full overlap these transfers hide behind the computing, whatever their link.
        if image in found or not rules:
            assert unchanged == (image in found), image


@pytest.mark.parametrize(
    ("servers", "size", "kinds"),
    [
        (3, 2, [0, 0, 0, 0, 0, 0]), (3, 2, [0, 1, 1, 0, 0, 1]), (2, 3, [0, 1, 2, 2, 1, 0]),
        (2, 3, [0, 0, 1, 1, 0, 0]), (3, 2, [0, 0, 1, 1, 0, 0]), (2, 3, [0, 0, 0, 0, 0, 1]),
    ],
)  # fmt: skip
def test_complete_on_two_levels(servers, size, kinds):
    case = cluster(servers, size, kinds=kinds)
    assert _generated(case) == _symmetries(case)


def test_rows_are_paired_device_by_device():
    assert [each.tolist() for each in server_classes(cluster(2, 2, kinds=[0, 1, 1, 0]))] == [
        [[0, 1], [3, 2]]
    ]
    (rows,) = server_classes(cluster(4, 4))
    assert rows.shape == (4, 4)


def test_none_where_there_are_no_servers():
    assert server_classes(cluster(1, 4)) == []
    assert server_classes(cluster(2, 2, kinds=[0, 0, 0, 1])) == []
    staged = instance([[1.0] * 4], problem="throughput", hosts=[0], delay=[0, 1, 1, 1])
    assert server_classes(staged) == []


def test_a_permutation_is_asked_for():
    with pytest.raises(ValueError, match="not a permutation of 4 devices"):
        is_symmetry(cluster(2, 2), np.array([0, 0, 1, 2]))
