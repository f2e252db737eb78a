"""The calls of a notebook: runs as a frame, a comparison as frames, curves as figures."""

from __future__ import annotations

import math

import pytest

import bench
from bench.runs import Runs
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from tests.bench.synthetic import comparison, record


def test_runs_have_a_frame_with_metrics_and_show_it():
    instance = from_bundle(random_bundle(3, n=9, devices=3, problem="latency"), "mine")
    where = {"instance": "mine", "digest": instance.digest, "problem": "latency"}
    runs = Runs([record(**where, objective=1e9), record(**where, entry="mute", check="none")],
                [instance])  # fmt: skip
    frame = runs.frame()
    assert frame.bound_s[0] > 0  # of an instance that is not in the library
    assert frame.gap_best.tolist() == [0.0, math.inf]
    html = runs._repr_html_()
    assert "<th>gap_bound</th>" in html
    assert "mute" in html
    assert Runs([]).frame().empty


def test_a_report_has_frames_and_shows_the_verdicts():
    records = comparison()
    first, second = ([r for r in records if r.entry.startswith(e)] for e in ("single", "anneal"))
    report = bench.compare(first, second)
    lines, pairs = report.frame(), report.pairs()
    assert set(lines[lines.kind == "section"].verdict) == {"better"}
    assert (lines.low <= lines.ratio).all() or lines.low.isna().any()
    assert len(pairs) == 16
    assert pairs.ratio.tolist() == pytest.approx((pairs.second_s / pairs.first_s).tolist())
    assert "better" in report._repr_html_()


@pytest.mark.parametrize("kind", ["anytime", "best", "bound", "ratio"])
def test_plot_has_a_curve_an_entry(kind):
    records = [r for r in comparison() if r.problem == "latency"]
    figure = bench.plot(records, kind)
    assert {trace.name for trace in figure.data} == {r.entry for r in records}
    assert all(len(trace.x) == len(trace.y) > 1 for trace in figure.data)
    best = next(trace for trace in figure.data if trace.name.startswith("annealing"))
    assert best.y[-1] == (1e-4 if kind == "anytime" else 1.0)


def test_plot_refuses_with_the_valid_choices():
    records = comparison()
    with pytest.raises(ValueError, match="not one of anytime, best, bound, ratio"):
        bench.plot(records, "pie")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"which section.*latency.*throughput"):
        bench.plot(records)
    with pytest.raises(ValueError, match="no section 'x'"):
        bench.plot(records, section="x")
    with pytest.raises(ValueError, match="no records"):
        bench.plot([])
