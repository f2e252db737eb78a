"""Whole units: what they round, and that no sum of a model leaves 64 bits."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.cpsat import _calls, _chips, _pipeline, _schedule
from solvers.cpsat._units import PRECISION, unit_of, whole


def test_units_of_times_that_no_integer_holds():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        units = whole(np.array([1.75, np.inf, 1e300, 1e308]), 1e-4, 30_000)
    assert units.tolist() == [17499, 0, 59999, 59999]


@pytest.mark.parametrize("terms", [1, 1_000, 3_000_000, 2**40])
@pytest.mark.parametrize("horizon", [0.0, 1e-320, 1e-12, 1e12])
def test_a_sum_of_as_many_terms_as_there_are_stays_within_64_bits(terms, horizon):
    unit = unit_of(horizon, terms, 44)
    end = int(horizon / unit) + 1
    assert terms * int(whole(np.array(1e30), unit, end)) < 2**61
    if horizon > 1e-300 and terms < 2**18:
        assert terms * unit <= horizon / 2**PRECISION


RULES = {"throughput": {}, "chain": {"contiguous": True}, "latency": {}, "calls": {}, "chips": {}}


@pytest.mark.parametrize("kind", RULES)
def test_a_model_is_valid_where_a_transfer_is_of_another_scale_than_the_operators(kind):
    from ortools.sat.python import cp_model

    problem = "throughput" if kind == "chain" else kind
    case = from_bundle(random_bundle(3, n=20, problem=problem, rules=RULES[kind], devices=3))
    case = replace(case, time=case.time * 1e-12 / case.time.max(), link_time=case.link_time + 1.0)
    build = {"latency": _schedule, "calls": _calls, "chips": _chips}.get(kind, _pipeline).build
    for upper in (2e-11, math.inf):
        program = build(case, upper, cp_model.CpModel(), symmetry=True)
        assert program.model.validate() == ""
