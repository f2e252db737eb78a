"""Finding exact methods: by convention, and without importing what is not asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from solvers.catalogue import formulations, load, names, natives

ROOT = Path(__file__).parents[2]


def test_every_entry_loads_and_says_what_it_is():
    for name in names():
        entry = load(name)
        assert entry.name == name
        assert entry.kind in ("exact", "heuristic")
        assert entry.summary
        assert entry.source
        if "@" in name:
            assert entry.kind == "exact"
            assert entry.needs
            assert set(entry.options) == {"symmetry", "gap"}
        assert load(name) is entry


def test_every_problem_has_exact_entries_of_both_kinds():
    for problem in ("throughput", "latency", "calls"):
        mine = [name for name in names() if problem in load(name).problems]
        assert {"@" in name for name in mine} == {True, False}, problem
    assert "chips" in load("hops").problems
    assert set(natives()) < set(names())
    for name in natives():
        assert "ortools" in load(name).needs
        assert {"symmetry", "gap"} <= set(load(name).options)
    assert {name.partition("@")[0] for name in names() if "@" in name} == set(formulations())


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(KeyError, match="prefix@highs"):
        load("prefix@nothing")


def test_names_and_load_import_no_solver():
    code = (
        "import sys; from solvers.catalogue import load, names; [load(n) for n in names()];"
        "print(sorted({m.split('.')[0] for m in sys.modules}"
        " & {'highspy', 'pyscipopt', 'pyomo', 'ortools'}))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"
