"""A first valid partition where no runs of an order fit."""

import time

import numpy as np
import pytest

from heuristics import catalogue
from heuristics.chips.units import build_units
from problems import chips
from problems.catalogue import Library
from solvers.method import Context
from solvers.repair import first
from solvers.repair.cuts import any_valid
from solvers.repair.first import even_memory, first_valid
from solvers.repair.problem import build
from solvers.repair.valid import is_valid
from tests.solvers.repair.test_repair import tiny


def test_what_is_found_is_valid_and_more_than_runs_of_an_order():
    beyond = 0
    for seed in range(200):
        case = tiny(seed)
        chip = first_valid(case.problem)
        if chip is not None:
            assert tuple(chip.tolist()) in case.valid
            beyond += any_valid(case.problem) is None
        else:
            assert any_valid(case.problem) is None
    assert beyond >= 3


@pytest.fixture(scope="module")
def parting():
    """A captured network whose cells read the two before them, with little memory a chip."""
    return Library().load("nasnet-large:operator/mcm-36-60m/chips")


def test_a_network_that_no_runs_of_an_order_hold(parting):
    problem = build_units(parting).problem
    assert any_valid(problem) is None
    chip = first_valid(problem)
    assert chip is not None
    assert is_valid(problem, chip)


def test_every_entry_gets_it_without_a_search(parting, monkeypatch):
    monkeypatch.setattr("heuristics.chips.base._search", lambda *_: pytest.fail("a search"))
    answer = catalogue.load("single").run(parting, Context(seed=0))
    assert chips.is_valid(parting, answer.device)


def test_it_ends_at_its_deadline(parting, monkeypatch):
    tried = []
    monkeypatch.setattr(first, "even_memory", lambda *_: tried.append(1))
    assert first_valid(build_units(parting).problem, time.monotonic() - 1) is None
    assert not tried


def test_runs_of_even_memory_count_a_shared_weight_once():
    # Two nodes of 4 bytes that share a weight of 4, and two nodes of 6.
    problem = build(4, [], 2, [4, 4, 6, 6], [20, 20], [(0, 0), (1, 0)], [4])
    assert even_memory(problem, np.arange(4), 2).tolist() == [0, 0, 1, 1]
    assert even_memory(problem, np.arange(4)[::-1], 4).tolist() == [3, 2, 1, 0]
