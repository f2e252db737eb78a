"""Finding exact methods: by convention, and without importing what is not asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from solvers.catalogue import load, names

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
