"""Rows of runs and their averages over seeds."""

from __future__ import annotations

import math

import pytest

from bench import bks, results
from tests.bench.synthetic import record


def known(bound=1.0, objective=2.0):
    return {"d" * 64: bks.Headline("best", objective, "x", bound, None, "")}


def test_a_run_without_a_valid_answer_counts_fully():
    runs = results.frame([record(check="invalid", violations=[("memory", "too much")])], known())
    row = runs.iloc[0]
    assert math.isnan(row.objective)
    assert (row.gap_bound, row.primal_gap, row.integral, row.time_s) == (1.0, 1.0, 1.0, 10.0)
    assert row.gap_best == math.inf
    assert row.reason == "invalid (memory): too much"


def test_seeds_are_averaged_per_instance_first():
    good = [record(seed=0, objective=2.0), record(seed=1, objective=4.0)]
    runs = results.frame([*good, record(seed=2, check="none")], known())
    row = results.per_instance(runs).iloc[0]
    assert (row.runs, row.answered, row.invalid) == (3, 2, 0)
    assert row.objective == 3.0
    assert row.primal_gap == pytest.approx((0 + 0.5 + 1) / 3)
    assert row.gap_bound == pytest.approx((0.5 + 0.75 + 1) / 3)
    assert row.gap_best == math.inf


def test_the_newest_of_two_equal_runs_counts():
    old = record(objective=4.0, date="2026-01-01T00:00:00+00:00")
    new = record(objective=3.0, date="2026-02-01T00:00:00+00:00", options={"a": 1})
    for order in ([old, new], [new, old]):
        assert results.frame(order, known()).objective.tolist() == [3.0]


def test_the_trace_gives_the_integral():
    runs = results.frame([record(objective=2.0, trace=[(5.0, 2.0)])], known())
    assert runs.integral[0] == pytest.approx(0.5)


def test_a_trace_counts_for_no_more_than_the_answer_on_file():
    runs = results.frame([record(objective=4.0, trace=[(1.0, 2.0), (5.0, 2.0)])], known())
    honest = results.frame([record(objective=4.0, trace=[(1.0, 4.0)])], known())
    assert runs.integral[0] == pytest.approx(honest.integral[0])
    assert results.trace(record(check="invalid", trace=[(1.0, 2.0)])) == []


def test_a_bound_above_a_checked_answer_names_both():
    with pytest.raises(ValueError, match=r"net:block.*bound 3.0 above.*2.0 of greedy"):
        results.frame([record()], known(bound=3.0))


@pytest.mark.parametrize(
    ("instance", "section"),
    [
        ("a:block/p/throughput", "throughput, free"),
        ("a:block/p/throughput[overlap=full]", "throughput, free"),
        ("a:block/p/throughput[contiguous,overlap=full]", "throughput, contiguous"),
    ],
)
def test_sections(instance, section):
    assert results.section_of(record(instance=instance)) == section


def test_reasons():
    crash = record(check="none", termination="crash", signal="SIGSEGV")
    assert results.reason(crash) == "crash (SIGSEGV)"
    error = record(check="none", termination="error", error="Traceback\n  x\nValueError: bad\n")
    assert results.reason(error) == "error: ValueError: bad"
    late = record(check="none", termination="time-limit")
    assert results.reason(late) == "no answer (time-limit)"
    new = record(
        check="none", termination="error", error="while loading: ValueError: bad worse\nTraceback\n"
    )
    assert results.reason(new) == "error: while loading: ValueError: bad worse"
    memory = record(check="none", termination="memory-limit", error="MemoryError")
    assert results.reason(memory) == "memory-limit: MemoryError"
    answered = record(termination="crash", signal="SIGSEGV", error="ended by SIGSEGV")
    assert results.reason(answered) == "crash (SIGSEGV); after an answer"
    assert results.reason(record()) == results.reason(record(termination="time-limit")) == ""
    runs = results.frame([answered], known())
    assert runs.reason[0] == "crash (SIGSEGV); after an answer"
    evil = record(check="none", termination="error", error="E: \x1b[31mred\x1b]0;t\x07\r\u202e\nx")
    assert results.reason(evil) == "error: E: red"
    assert [results.failed(r) for r in (crash, error, late)] == [True, True, False]
