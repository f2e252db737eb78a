"""What may be claimed of answers and bounds."""

from __future__ import annotations

import numpy as np
import pytest

from problems.answer import Answer
from solvers.keeper import Keeper
from solvers.method import Context


class Log:
    """A keeper over answers whose one number is their value, negative where not valid."""

    def __init__(self, slack=0.0):
        self.answers, self.bounds, self.claims = [], [], []
        context = Context(
            on_answer=lambda a: self.answers.append(float(a.device[0])),
            on_bound=self.bounds.append,
            on_claim=lambda *claim: self.claims.append(claim),
        )
        self.keeper = Keeper(context, lambda a: None if a.device[0] < 0 else float(a.device[0]),
                             slack)  # fmt: skip

    def take(self, *values):
        for value in values:
            self.keeper.take(Answer(np.array([value])))


def test_only_valid_improvements_are_reported():
    log = Log()
    log.take(7, 9, -1, 5, 5)
    assert log.answers == [7, 5]
    assert log.keeper.dropped == 1


def test_bounds_rise_and_are_lowered_by_the_slack_until_they_meet_the_answer():
    log = Log(slack=1e-3)
    log.take(10)
    for bound in (-np.inf, 4.0, 3.0, 10 * (1 + 1e-8), np.nan):
        log.keeper.bound_by(bound)
    assert log.bounds == [pytest.approx(3.996), 10.0]


def test_optimal_needs_a_bound_that_meets_a_checked_answer():
    log = Log()
    log.take(10)
    log.keeper.bound_by(9.0)
    log.keeper.conclude("optimal", "solver")
    log.keeper.conclude("optimal", "solver", gap=0.2)
    log.keeper.bound_by(10.0)
    log.keeper.conclude("optimal", "solver")
    assert [claim[0] for claim in log.claims] == ["feasible", "optimal", "optimal"]
    assert "does not hold" in log.claims[0][2]


def test_contradictions_are_said_and_never_claimed_optimal():
    log = Log()
    log.take(10)
    log.keeper.bound_by(11.0)
    log.keeper.conclude("optimal", "solver")
    assert log.bounds == []
    assert log.claims[-1][0] == "feasible"
    assert "above a checked answer" in log.claims[-1][2]
    other = Log()
    other.take(10)
    other.keeper.conclude("infeasible", "solver")
    assert other.claims[-1][0] == "feasible"
    assert "infeasible" in other.claims[-1][2]


def test_no_incumbent():
    log = Log()
    log.keeper.bound_by(3.0)
    log.keeper.conclude("stopped", "solver")
    log.take(-1)
    log.keeper.conclude("infeasible", "solver")
    clean = Log()
    clean.keeper.conclude("infeasible", "solver")
    assert [claim[0] for claim in log.claims] == ["bound", "bound"]
    assert "dropped" in log.claims[-1][2]
    assert clean.claims[-1][0] == "infeasible"


def test_an_answer_below_a_bound_is_remembered():
    log = Log()
    log.take(12)
    log.keeper.bound_by(10.0)
    log.take(9)
    log.keeper.bound_by(8.0)
    log.keeper.conclude("optimal", "the solver says so")
    claim, value, note = log.claims[-1]
    assert (claim, value) == ("feasible", 9.0)
    assert "bound 10 s above a checked answer of 9 s" in note
