"""CP-SAT proves nothing wrong on native models, even in finer units than they use."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from problems.cp_sat import keep_sound
from solvers import catalogue, objective
from solvers.cpsat import _calls, _chips, _pipeline, _schedule
from tests.brute_force import optimum
from tests.solvers.tiny import calls_instances, instances

SPOILT = 41
"""A seed whose model without heads and tails CP-SAT 9.15 calls infeasible if left to itself."""


def nothing(instance):
    return np.where(np.isfinite(instance.time), 0.0, math.inf)


def solved(program):
    """A solved CP-SAT solver and its status."""
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    keep_sound(solver.parameters)
    solver.parameters.num_workers = 1
    return solver, solver.solve(program.model) == cp_model.OPTIMAL


def test_a_model_in_fine_units_is_not_called_infeasible(monkeypatch):
    from ortools.sat.python import cp_model

    ((_, instance),) = calls_instances(range(SPOILT, SPOILT + 1))
    best = optimum(instance).objective
    monkeypatch.setattr(_calls, "BITS", 40)
    monkeypatch.setattr(_calls, "heads", nothing)
    monkeypatch.setattr(_calls, "tails", nothing)
    program = _calls.build(instance, best, cp_model.CpModel(), symmetry=True)
    solver, proved = solved(program)
    assert proved
    assert objective.value(instance, program.read(solver.value)) == best


@pytest.mark.parametrize(
    ("problem", "module"),
    [
        ("throughput", _pipeline),
        ("latency", _schedule),
        ("calls", _calls),
        ("chips", _chips),
    ],
)
def test_models_read_as_answers_that_are_worth_their_bound(problem, module):
    from ortools.sat.python import cp_model

    seeds = range(700, 730)
    cases = calls_instances(seeds) if problem == "calls" else instances(problem, seeds)
    proofs = 0
    for seed, instance in cases:
        best = optimum(instance).objective
        for upper in (math.inf, best):
            if not upper:  # no answer, or one that takes no time
                continue
            program = module.build(instance, upper, cp_model.CpModel(), symmetry=seed % 2 > 0)
            solver, proved = solved(program)
            assert proved == (best is not None), seed
            if best is None:
                continue
            found = objective.value(instance, program.read(solver.value))
            bound = solver.best_objective_bound * program.unit
            assert bound <= best * (1 + 1e-12), seed
            if upper == best and best > 0:
                assert bound >= best * (1 - 1e-6), seed
                assert found == pytest.approx(best, rel=1e-6), seed
                proofs += 1
    assert proofs >= 15


@pytest.mark.parametrize("name", catalogue.natives())
def test_native_formulations_are_built_in_one_way(name):
    build = catalogue.native(name).build
    given = inspect.signature(build).parameters
    assert list(given)[:3] == ["instance", "upper", "model"]
    assert given["symmetry"].kind is inspect.Parameter.KEYWORD_ONLY
