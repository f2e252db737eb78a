"""Backends of neutral models: the same optima, reports on the way, starts, threads, logs."""

from __future__ import annotations

import importlib
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from bench.entries import parse_entry
from bench.records import Store
from bench.suite import run_suite
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.backends._outcome import Task
from solvers.catalogue import load, names
from solvers.formulations import assign, prefix
from tests.brute_force import optimum
from tests.solvers.runs import agrees, run
from tests.solvers.tiny import instances

BACKENDS = ("highs", "scip", "cp-sat", "pyomo-highs", "pyomo-cbc")
STREAMING = ("highs", "scip", "cp-sat")
SEEDS = {"highs": 45, "scip": 45, "cp-sat": 75, "pyomo-highs": 20, "pyomo-cbc": 20}
SPOILT = (306, 861, 876)
"""Seeds on which CP-SAT 9.15 "proves" a value above the optimum if left to itself."""


def backend(name):
    module = importlib.import_module(f"solvers.backends.{name.replace('-', '_')}")
    for needed in module.NEEDS:
        pytest.importorskip(needed, reason=f"{name} needs {needed}, of an extra")
    return module


def form(instance):
    return prefix if instance.rules.contiguous else assign


def entry(instance, name):
    return f"{'prefix' if instance.rules.contiguous else 'assign'}@{name}"


def larger(contiguous=True, n=16):
    rules = {"contiguous": contiguous}
    return from_bundle(
        random_bundle(8, n=n, devices=3, hosts=1, like=True, density=0.15, tight=1.5, rules=rules)
    )


class Seen:
    """A task that writes down what the backend reports."""

    def __init__(self, model, **more):
        self.values, self.bounds = [], []
        self.task = Task(
            start=None, seconds=60.0, threads=1, seed=1, gap=0.0, log=False,
            on_solution=lambda x: self.values.append(float(model.cost @ x)),
            on_bound=self.bounds.append,
        )  # fmt: skip
        self.task = replace(self.task, **more)


@pytest.mark.parametrize("name", BACKENDS)
def test_brute_force_agrees(name):
    backend(name)
    for seed, instance in instances("throughput", range(3000, 3000 + SEEDS[name])):
        best = optimum(instance).objective
        ran = run(entry(instance, name), instance, symmetry=seed % 3 > 0)
        assert agrees(ran, best), (name, seed, best, ran)


def test_cp_sat_proves_nothing_above_the_optimum():
    for seed in SPOILT:
        ((_, instance),) = instances("throughput", range(seed, seed + 1))
        ran = run(entry(instance, "cp-sat"), instance, symmetry=seed % 3 > 0)
        assert agrees(ran, optimum(instance).objective), seed


@pytest.mark.parametrize("contiguous", [True, False])
def test_all_agree_on_larger_instances(contiguous):
    instance = larger(contiguous, n=12)
    found = {}
    for name in BACKENDS:
        if all(importlib.util.find_spec(each) for each in load(entry(instance, name)).needs):
            found[name] = run(entry(instance, name), instance)
    assert len(found) >= 4
    assert {ran.claim for ran in found.values()} == {"optimal"}
    values = [ran.objective for ran in found.values()]
    assert max(values) <= min(values) * (1 + 1e-6), found
    for ran in found.values():
        assert max(ran.bounds) <= min(values) * (1 + 1e-9)


@pytest.mark.parametrize("name", STREAMING)
def test_incumbents_and_bounds_come_on_the_way(name):
    instance = larger()
    model = form(instance).build(instance, symmetry=True, upper=np.inf, scale=10.0)
    seen = Seen(model)
    outcome = backend(name).solve(model, seen.task)
    assert outcome.status == "optimal"
    assert len(set(np.round(seen.values, 9))) >= 2
    assert len(set(np.round(seen.bounds, 9))) >= 2
    assert min(seen.values) == pytest.approx(max(seen.bounds), rel=1e-5)


@pytest.mark.parametrize("name", BACKENDS)
def test_an_optimal_start_is_the_first_that_is_reported(name):
    instance = larger(n=10)
    best = run(entry(instance, "highs"), instance)
    model = form(instance).build(instance, symmetry=True, upper=np.inf, scale=10.0)
    seen = Seen(model, start=model.encode(best.answer))
    assert backend(name).solve(model, seen.task).status == "optimal"
    assert seen.values[0] * model.scale == pytest.approx(best.objective, rel=1e-6)


@pytest.mark.parametrize("name", BACKENDS)
def test_no_incumbent_is_an_outcome(name):
    instance = larger(n=60)
    model = form(instance).build(instance, symmetry=True, upper=np.inf, scale=10.0)
    seen = Seen(model, seconds=0.0)
    assert backend(name).solve(model, seen.task).status == "stopped"
    assert all(math.isfinite(bound) is False or bound <= 10 for bound in seen.bounds)


@pytest.mark.parametrize(
    ("name", "says"),
    [("cp-sat", "num_workers: 2"), ("pyomo-cbc", "-threads 2")],
)
def test_threads_arrive(name, says, capfd):
    instance = larger(n=6)
    model = form(instance).build(instance, symmetry=True, upper=np.inf, scale=10.0)
    backend(name).solve(model, Seen(model, threads=2, log=True).task)
    assert says in capfd.readouterr().out


@pytest.mark.parametrize("name", ["highs", "pyomo-highs"])
def test_threads_arrive_at_highs(name, monkeypatch):
    import highspy

    options, real = {}, highspy.Highs.setOptionValue

    def note(self, option, value):
        options[option] = value
        return real(self, option, value)

    monkeypatch.setattr(highspy.Highs, "setOptionValue", note)
    instance = larger(n=6)
    model = form(instance).build(instance, symmetry=True, upper=np.inf, scale=10.0)
    backend(name).solve(model, Seen(model, threads=2).task)
    assert options["threads"] == 2


@pytest.mark.parametrize(
    ("name", "says"),
    [("highs", "HiGHS"), ("scip", "SCIP Status"), ("cp-sat", "CP-SAT solver v"),
     ("pyomo-highs", "Solving report"), ("pyomo-cbc", "CBC MILP Solver")],
)  # fmt: skip
def test_the_log_is_written_unless_it_is_not_wanted(name, says, capfd):
    instance = larger(n=6)
    model = form(instance).build(instance, symmetry=True, upper=np.inf, scale=10.0)
    backend(name).solve(model, Seen(model, log=True).task)
    assert says in capfd.readouterr().out
    backend(name).solve(model, Seen(model, log=False).task)
    assert says not in capfd.readouterr().out


@pytest.mark.parametrize("name", ["highs", "pyomo-highs"])
def test_no_banner_where_no_log_is_wanted(name):
    """In a process of its own: HiGHS greets once a process."""
    backend(name)
    code = (
        "from tests.solvers.test_backends import *\n"
        "instance = larger(n=6)\n"
        "model = form(instance).build(instance, symmetry=True, upper=np.inf, scale=10.0)\n"
        f"backend({name!r}).solve(model, Seen(model).task)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == ""


def test_the_backends_are_the_ones_tested_here():
    assert {name.partition("@")[2] for name in names() if "@" in name} == set(BACKENDS)


@pytest.mark.parametrize("name", ["prefix@highs", "prefix@scip", "prefix@cp-sat"])
def test_the_harness_keeps_the_end_of_the_log(name, tmp_path):
    (record,) = run_suite(
        [larger(n=6)], parse_entry(name), store=Store(tmp_path), time_limit_s=20.0, jobs=1
    )
    assert record.termination == "completed", record.error
    says = {"highs": "Solving report", "scip": "SCIP Status", "cp-sat": "CpSolverResponse"}
    assert says[name.partition("@")[2]] in record.log
