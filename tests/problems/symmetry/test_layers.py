"""Blocks that repeat."""

from __future__ import annotations

import numpy as np
import pytest

from problems.symmetry.layers import Repeat, repeats
from tests.tiny import instance


def layers(times: int, *, odd: int | None = None, mask: bool = False):
    """Stem, `times` layers of three nodes with a skip, head; every layer may read a mask."""
    rows: list[list[float]] = [[9.0], [8.0]]
    edges = []
    for i in range(times):
        first = len(rows)
        rows += [[1.0], [2.0 if i != odd else 2.5], [3.0]]
        edges += [(first - 1, first), (first, first + 1), (first + 1, first + 2)]
        edges += [(first - 1, first + 2)]
        if mask:
            edges += [(0, first + 1)]
    rows.append([7.0])
    edges.append((len(rows) - 2, len(rows) - 1))
    return instance(rows, edges, problem="throughput", hosts=[0], delay=[0])


def test_layers_are_found_once_at_their_own_length():
    assert repeats(layers(5)) == [Repeat(2, 3, 5)]
    assert repeats(layers(5, mask=True)) == [Repeat(2, 3, 5)]
    assert repeats(layers(1)) == []


def test_an_odd_layer_parts_the_run():
    # The later run starts with the last node of the odd layer, which is as it should be.
    assert repeats(layers(6, odd=2)) == [Repeat(10, 3, 3), Repeat(2, 3, 2)]


def test_other_edges_are_other_layers():
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (3, 5)]
    case = instance([[1.0], [2.0]] * 3, edges, problem="throughput", hosts=[0], delay=[0])
    assert repeats(case) == [Repeat(0, 2, 2)] or repeats(case) == [Repeat(1, 2, 2)]


@pytest.mark.parametrize("seed", range(40))
def test_against_the_definition_on_random_graphs(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 11))
    edges = [(u, v) for v in range(n) for u in range(max(0, v - 2), v) if rng.random() < 0.6]
    rows = [[float(rng.integers(1, 3))] for _ in range(n)]
    case = instance(rows, edges, problem="throughput", hosts=[0], delay=[0])
    reads = {v: {a for a, b in edges if b == v} for v in range(n)}

    def repeated(v: int, p: int) -> bool:
        ways = [{u: (u + p, u)[bit >> i & 1] for i, u in enumerate(sorted(reads[v]))}
                for bit in range(2 ** len(reads[v]))]  # fmt: skip
        return rows[v] == rows[v + p] and any(
            sorted(way.values()) == sorted(reads[v + p]) for way in ways
        )

    best = 0
    for p in range(1, n):
        for first in range(n):
            length = 0
            while first + length + p < n and repeated(first + length, p):
                length += 1
            if length >= p:
                best = max(best, (length // p + 1) * p)
    found = repeats(case)
    assert max((r.period * r.times for r in found), default=0) == best
    for run in found:
        inner = range(run.first, run.first + run.period * (run.times - 1))
        assert run.times >= 2
        assert all(repeated(v, run.period) for v in inner)
    covered = [v for r in found for v in range(r.first, r.first + r.period * r.times)]
    assert len(covered) == len(set(covered))
