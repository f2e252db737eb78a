"""Contracting parts changes nothing for mappings that keep them together."""

import math
from itertools import product

import numpy as np
import pytest

from heuristics.modules import atoms as atoms_
from heuristics.modules import exact
from heuristics.modules.reduced import part_nodes, reduced
from problems import throughput
from solvers.method import Context
from tests.heuristics.samples import samples


def _cases(count):
    """Instances, the first atoms placed by device, the others in parts of one or two."""
    for seed, case in samples(count, n=8, problem="throughput"):
        rng = np.random.default_rng(seed)
        atoms = atoms_.build(case)
        done = int(rng.integers(0, atoms.number))
        where = np.sort(rng.integers(0, case.K, done))  # a chain, or nearly always
        key = case.K + (np.arange(atoms.number) - done) // int(rng.integers(1, 3))
        key[:done] = where
        used, part = np.unique(key, return_inverse=True)
        fixed = np.where(used < case.K, used, -1)
        yield case, part.reshape(-1)[atoms.atom], fixed


def _mappings(case, fixed):
    """Devices of all parts, in every way."""
    choices = [range(case.K) if k < 0 else (int(k),) for k in fixed]
    for choice in product(*choices):
        yield np.array(choice)


def _values(count):
    for case, part, fixed in _cases(count):
        small = reduced(case, part, fixed)
        spread = part_nodes(small, len(fixed))
        yield case, part, fixed, small, spread


def test_loads_and_rules_are_the_same():
    valid = broken = 0
    for case, part, fixed, small, spread in _values(200):
        for choice in _mappings(case, fixed):
            of_group = np.empty(len(fixed), np.int64)
            of_group[small.group[spread]] = choice
            mine, whole = of_group[small.group], choice[part]
            assert throughput.is_valid(small, mine) == throughput.is_valid(case, whole)
            if not throughput.is_valid(case, whole):
                broken += 1
                continue
            valid += 1
            assert throughput.loads(small, mine) == pytest.approx(
                throughput.loads(case, whole), rel=1e-9, abs=1e-12
            )
    assert min(valid, broken) > 200


@pytest.mark.parametrize("backend", exact.BACKENDS)
def test_a_model_finds_the_best_of_all_parts_with_the_rest_fixed(backend):
    pytest.importorskip({"cp-sat": "ortools", "highs": "highspy", "scip": "pyscipopt"}[backend])
    found = 0
    for i, (case, part, fixed, small, spread) in enumerate(_values(60)):
        if backend != "cp-sat" and i % 3:
            continue
        values = [
            throughput.period(case, choice[part])
            for choice in _mappings(case, fixed)
            if throughput.is_valid(case, choice[part])
        ]
        answer = exact.mapping(small, None, backend, 10.0, Context())
        if not values:
            assert answer is None
            continue
        found += 1
        assert answer is not None
        whole = answer.device[spread][part]
        assert throughput.is_valid(case, whole)
        assert throughput.period(case, whole) == pytest.approx(min(values), rel=1e-5, abs=1e-9)
        assert min(values) < math.inf
    assert found > 8


def test_parts_on_a_cycle_are_refused():
    for _, case in samples(60, n=6, problem="throughput", rules={"contiguous": True}):
        order = case.group[throughput.order_edges(case)]
        chains = [(a, b, c) for a, b in order for x, c in order if x == b and len({a, b, c}) == 3]
        if not chains:
            continue
        a, _, c = chains[0]
        part = np.where(np.isin(case.group, [a, c]), 0, 1)
        with pytest.raises(ValueError, match="cycle"):
            reduced(case, part, np.full(2, -1))
        return
    pytest.fail("no instance has a path of three groups")
