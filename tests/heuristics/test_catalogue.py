import subprocess
import sys
from pathlib import Path

import pytest

from bench.entries import EntryError, parse_entry
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


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("annealing[hot=1e-9,cold=1]", r"'annealing': option cold=1.0 is above hot=1e-09"),
        ("annealing[cold=0.5]", r"cold=0.5 is above hot=0.0003"),
        ("expert[graph=x]", r"'expert': option graph .* give file="),
    ],
)
def test_options_that_do_not_go_together_are_a_wrong_use(entry, said):
    with pytest.raises(EntryError, match=said):
        parse_entry(entry)
    for fine in ("annealing[hot=1,cold=1]", "expert[graph=x,file=y]"):
        assert parse_entry(fine)
