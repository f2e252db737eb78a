"""The definitions of the metrics, as golden values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench import metrics


def test_gap_to_bound():
    assert metrics.gap_to_bound(100.0, 80.0) == pytest.approx(0.2)
    assert metrics.gap_to_bound(100.0, 100.0) == 0.0
    assert metrics.gap_to_bound(100.0, 0.0) == 1.0
    assert metrics.gap_to_bound(None, 80.0) == 1.0
    assert metrics.gap_to_bound(0.0, 0.0) == 0.0
    assert metrics.gap_to_bound(1.0, 1.0 + 1e-12) == 0.0  # rounding is no contradiction


def test_a_bound_above_an_answer_is_an_error():
    with pytest.raises(ValueError, match="above"):
        metrics.gap_to_bound(100.0, 100.1)


def test_quality_gap():
    assert metrics.quality_gap(120.0, 100.0) == pytest.approx(0.2)
    assert metrics.quality_gap(90.0, 100.0) == pytest.approx(-0.1)  # a new best
    assert metrics.quality_gap(None, 100.0) == math.inf
    assert metrics.quality_gap(0.0, 0.0) == 0.0
    assert metrics.quality_gap(1.0, 0.0) == math.inf


def test_primal_gap():
    assert metrics.primal_gap(120.0, 100.0) == pytest.approx(1 / 6)
    assert metrics.primal_gap(90.0, 100.0) == pytest.approx(0.1)
    assert metrics.primal_gap(None, 100.0) == 1.0
    assert metrics.primal_gap(0.0, 0.0) == 0.0


def test_primal_integral():
    area = metrics.primal_integral([(2, 200), (5, 120), (9, 100)], 100, 20)
    assert area == pytest.approx(4.1667, abs=5e-5)
    assert area / 20 == pytest.approx(0.20833, abs=5e-6)
    assert metrics.primal_integral([], 100, 20) == 20
    assert metrics.primal_integral([(21, 100)], 100, 20) == 20  # after the limit
    with pytest.raises(ValueError, match="back in time"):
        metrics.primal_integral([(5, 120), (2, 200)], 100, 20)


def test_shifted_geometric_mean():
    assert metrics.shifted_geometric_mean([0.5, 20, 3600], 10) == pytest.approx(94.377, abs=5e-4)
    assert metrics.shifted_geometric_mean([0.5, 20, 3600], 1) == pytest.approx(47.407, abs=5e-4)
    assert metrics.shifted_geometric_mean([0.0, 0.0], 0.01) == pytest.approx(0.0, abs=1e-15)
    assert math.isnan(metrics.shifted_geometric_mean([], 1))
    with pytest.raises(ValueError, match="above"):
        metrics.shifted_geometric_mean([-1.0], 1)


def test_penalized_average():
    times = [12.0, 30.0, None, None]
    assert metrics.penalized_average(times, 60, 2) == 70.5
    assert metrics.penalized_average(times, 60, 10) == 310.5
    assert math.isnan(metrics.penalized_average([], 60))


def test_solved_is_the_first_incumbent_within_the_tolerance_of_the_target():
    trace = [(2.0, 200.0), (5.0, 100.00005), (9.0, 100.0)]
    assert metrics.time_to_target(trace, 100.0) == 5.0
    assert metrics.time_to_target(trace, 100.0, 0.0) == 9.0
    assert metrics.time_to_target(trace, 99.0) is None
    assert metrics.time_to_target(trace, None) is None
    times = [metrics.time_to_target(trace, best) for best in (100.0, 99.0)]
    assert metrics.penalized_average(times, 60, 10) == (5 + 600) / 2


def test_profile_counts_missing_answers_in_the_denominator():
    x, share = metrics.profile([0.0, 0.1, 0.1, math.inf])
    np.testing.assert_array_equal(x, [0.0, 0.1])
    np.testing.assert_array_equal(share, [0.25, 0.75])


def test_performance_profile():
    costs = np.array([[1.0, 2.0], [4.0, 2.0], [3.0, math.inf]])
    (x, share), (_, other) = metrics.performance_profile(costs)
    np.testing.assert_array_equal(x, [1.0, 2.0])
    np.testing.assert_allclose(share, [2 / 3, 1.0])
    np.testing.assert_allclose(other, [1 / 3, 2 / 3])


def test_performance_profile_of_nothing_to_do_and_of_no_answer():
    costs = np.array([[0.0, 0.0], [0.0, 1.0], [math.inf, math.inf]])
    (x, share), (_, other) = metrics.performance_profile(costs)
    np.testing.assert_array_equal(x, [1.0])
    np.testing.assert_allclose(share, [2 / 3])  # of three, whoever answered
    np.testing.assert_allclose(other, [1 / 3])
