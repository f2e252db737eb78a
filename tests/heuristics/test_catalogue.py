import subprocess
import sys
from pathlib import Path

import pytest

from heuristics import catalogue
from solvers.method import Method


def test_every_entry_loads_under_its_own_name():
    assert {"annealing", "greedy", "heft", "random", "single"} <= set(catalogue.names())
    assert catalogue.names() == sorted(set(catalogue.names()))
    for name in catalogue.names():
        entry = catalogue.load(name)
        assert isinstance(entry, Method)
        assert entry.name == name
        assert entry.kind == "heuristic"
        assert entry.summary


def test_unknown_name_lists_the_valid_ones():
    with pytest.raises(KeyError, match=r"no heuristic 'heff'.*annealing.*heft"):
        catalogue.load("heff")
    with pytest.raises(KeyError):
        catalogue.load("catalogue")


def test_names_imports_no_entry_and_load_only_one():
    code = (
        "import sys; from heuristics import catalogue; catalogue.names();"
        "assert 'numba' not in sys.modules; catalogue.load('single');"
        "mine = [m for m in sys.modules if m.startswith('heuristics.')];"
        "assert 'heuristics.annealing' not in mine and 'heuristics.heft' not in mine, mine"
    )
    root = Path(catalogue.__file__).parents[1]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)
