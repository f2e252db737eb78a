"""Which formulation is exported where none is named, and that every one can be."""

from __future__ import annotations

import pytest

from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers import catalogue
from solvers.exchange.build import native, neutral
from tests.brute_force import optimum

CASES = {
    "prefix": ("throughput", {"contiguous": True}),
    "assign": ("throughput", {}),
    "disjunctive": ("latency", {}),
    "calls": ("calls", {}),
}
NATIVE = {"throughput": "stages", "latency": "intervals", "calls": "slots", "chips": "hops"}


def case(problem, rules):
    return from_bundle(random_bundle(4, n=5, problem=problem, rules=rules))


@pytest.mark.parametrize(("name", "given"), CASES.items())
def test_the_first_formulations_are_these(name, given):
    instance = case(*given)
    assert neutral(instance)[1].formulation == name
    assert native(instance)[1].formulation == NATIVE[given[0]]


@pytest.mark.parametrize("name", catalogue.natives())
def test_every_native_formulation_reads_back_its_own_solution(name):
    from ortools.sat.python import cp_model

    problem = catalogue.native(name).METHOD.problems[0]
    instance = case(problem, {})
    model, stamp = native(instance, name)
    assert stamp.formulation == name
    solver = cp_model.CpSolver()
    assert solver.solve(model.model) == cp_model.OPTIMAL
    answer = model.read(list(solver.response_proto.solution))
    assert solver.objective_value * stamp.unit_s == pytest.approx(
        optimum(instance).objective, rel=1e-6
    )
    assert answer.device.shape == (instance.n,)
