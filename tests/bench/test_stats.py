"""Tests, ranks and intervals over instances."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench import stats


def test_holm():
    adjusted = stats.holm([0.010, 0.020, 0.030, 0.200])
    assert adjusted == pytest.approx([0.04, 0.06, 0.06, 0.20])
    assert stats.holm([0.200, 0.010, 0.030, 0.020]) == pytest.approx([0.20, 0.04, 0.06, 0.06])
    assert stats.holm([0.9, 0.8]) == [1.0, 1.0]
    assert stats.holm([]) == []


def test_compare_counts_wins_ties_and_losses():
    a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, math.inf, math.inf]
    b = [1.0 + 5e-7, 3.0, 2.0, 5.0, 6.0, 7.0, 1.0, math.inf]
    result = stats.compare(a, b)
    assert (result.wins, result.ties, result.losses) == (4, 2, 2)


def test_compare_gives_the_signed_rank_test():
    a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    b = [1.1, 2.3, 3.5, 4.9, 6.4, 8.0]
    # Six differences of one sign: 2 of the 2**6 assignments are as extreme.
    assert stats.compare(a, b).p == pytest.approx(2 / 2**6)


def test_the_effect_says_who_is_better():
    assert stats.compare([1.0] * 6, [2.0] * 6).effect == -1.0
    assert stats.compare([2.0] * 6, [1.0] * 6).effect == 1.0
    assert stats.compare([1.0] * 6, [1.0] * 6).effect == 0.0
    # Ranks 1 and 2 against one of 3.
    assert stats.compare([1.0, 1.0, 4.0], [1.1, 1.2, 2.0]).effect == pytest.approx(0.0)


def test_no_verdict_under_six_instances_or_without_a_difference():
    assert stats.compare([1.0] * 5, [2.0] * 5).p is None
    assert stats.compare([1.0] * 8, [1.0] * 8).p is None


def test_compare_wants_the_same_instances():
    with pytest.raises(ValueError, match="shapes"):
        stats.compare([1.0], [1.0, 2.0])


def test_ranks_share_places_on_ties_and_put_no_answer_last():
    costs = np.array([[0.2, 0.1, 0.2 + 5e-7, math.inf, math.inf]])
    np.testing.assert_array_equal(stats.ranks(costs), [[2.5, 1, 2.5, 4.5, 4.5]])


def test_positions():
    np.testing.assert_array_equal(stats.positions(np.array([1.5, 3.0, 1.5])), [1, 3, 1])


def test_rank_intervals_tell_apart_what_is_apart_only():
    rng = np.random.default_rng(1)
    noise = rng.uniform(size=(24, 2))
    costs = np.column_stack([noise, 5 + noise[:, 0]])  # two alike, one always worst
    families = ["a"] * 8 + ["b"] * 8 + ["c"] * 8
    intervals = stats.rank_intervals(stats.ranks(costs), families)
    assert intervals is not None
    np.testing.assert_array_equal(intervals, [[1, 2], [1, 2], [3, 3]])
    assert stats.rank_intervals(stats.ranks(costs[:5]), families[:5]) is None


def test_intervals_are_the_same_every_time():
    values = list(np.random.default_rng(2).uniform(size=12))
    families = ["a", "b"] * 6
    first = stats.mean_interval(values, families)
    assert first == stats.mean_interval(values, families)
    assert first is not None
    assert first[0] < np.mean(values) < first[1]
    assert stats.mean_interval(values[:5], families[:5]) is None


def test_resampling_draws_within_each_stratum():
    rows = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    means = stats._resampled_means(rows, ["a"] * 3 + ["b"] * 3, 0, 500)
    # Three of either family in each: from (3 * 0 + 3 * 10) / 6 to (3 * 2 + 3 * 12) / 6.
    assert means.shape == (500, 1)
    assert (means.min(), means.max()) == (5.0, 7.0)
    assert means.mean() == pytest.approx(6.0, abs=0.1)


def test_strata_leave_no_instance_alone():
    found = [list(each) for each in stats.strata(["a", "b", "a", "c", "d", "b"])]
    assert found == [[0, 2], [1, 5], [3, 4]]
    assert [list(each) for each in stats.strata(["a", "a", "b"])] == [[0, 1, 2]]
    assert [list(each) for each in stats.strata(["a", "b", "c"])] == [[0, 1, 2]]
