"""Classification, and series that stay small."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.frames import Failed, Ready
from bench.outcome import Outcome, Series, classify

READY = Ready(0.0, 0.0)


def outcome(**fields):
    answers = fields.pop("answers", 0)
    result = Outcome(ready=READY, **fields)
    for i in range(answers):
        result.answers.add((float(i), b""))
    return result


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (outcome(done=True, answers=1), ("completed", "")),
        (outcome(done=True), ("no-answer", "")),
        (outcome(struck="time", exit=-15, answers=1), ("time-limit", "SIGTERM")),
        (outcome(struck="time", exit=-9), ("time-limit", "SIGKILL")),
        (outcome(struck="memory", exit=-9), ("memory-limit", "SIGKILL")),
        (outcome(failed=Failed("Traceback"), answers=1), ("error", "")),
        (outcome(failed=Failed("MemoryError", memory=True)), ("memory-limit", "")),
        (outcome(exit=-11), ("crash", "SIGSEGV")),
        (outcome(exit=-6), ("crash", "SIGABRT")),
        (outcome(exit=-6, log="what():  std::bad_alloc\n"), ("memory-limit", "SIGABRT")),
        (outcome(exit=1, log="Traceback\nMemoryError\n"), ("memory-limit", "")),
        (outcome(exit=-34), ("crash", "SIGRTMIN")),
        (outcome(exit=-63), ("crash", "signal 63")),
        (outcome(exit=3, answers=1), ("crash", "")),
        # After a limit struck, whatever else happened is its doing.
        (outcome(struck="time", exit=-11), ("time-limit", "SIGSEGV")),
        (outcome(struck="time", done=True, exit=0), ("time-limit", "")),
    ],
)
def test_classification(what, expected):
    termination, signal, _ = classify(what)
    assert (termination, signal) == expected


def test_what_happens_before_the_clock_says_so():
    assert classify(Outcome(struck="load", exit=-9))[0] == "error"
    assert classify(Outcome(exit=-11)) == ("crash", "SIGSEGV", "while loading: ended by SIGSEGV")
    assert classify(Outcome(failed=Failed("x\ny\n")))[2] == "while loading: x\ny\n"


@given(st.integers(0, 500), st.integers(2, 20))
def test_series_keep_first_and_last_in_order(count, most):
    series: Series[int] = Series(most)
    for i in range(count):
        series.add(i)
    kept = list(series)
    assert len(kept) <= most + 1
    assert kept == sorted(set(kept))
    if count <= most:
        assert kept == list(range(count))
    if count:
        assert (kept[0], kept[-1], series.last) == (0, count - 1, count - 1)
    assert series.count == count


def test_series_are_bounded_in_bytes():
    series: Series[int] = Series(1000, total_bytes=100)
    for i in range(500):
        series.add(i, 10)
    assert len(list(series)) <= 11
    assert list(series)[-1] == 499


def test_bounds_only_improve_and_are_numbers():
    result = Outcome()
    for t, value in enumerate([1.0, float("nan"), 0.5, float("inf"), 2.0]):
        result.add_bound(float(t), value)
    assert list(result.bounds) == [(0.0, 1.0), (4.0, 2.0)]
    assert result.best_bound == 2.0
