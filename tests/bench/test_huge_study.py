"""The study of huge graphs: what it makes of its runs."""

from __future__ import annotations

import pytest

from bench import huge_study, study
from heuristics import catalogue
from tests.bench.synthetic import record

LABEL = {"problem": "latency", "nodes": 100_000, "devices": 64, "bound": 1.0}


@pytest.fixture(scope="module")
def found():
    runs = [
        record(entry="lns", check="none", termination="memory-limit"),
        record(entry="greedy", objective=4.0, peak_bytes=2**30, trace=[(0.5, 4.0)]),
        record(entry="multilevel", objective=2.0, peak_bytes=3 * 2**30),
    ]
    return huge_study.rows(study.outcomes(runs, {"d" * 64: LABEL}))


def test_the_best_come_first_and_those_without_an_answer_last(found):
    assert found["entry"].tolist() == ["multilevel", "greedy", "lns"]
    assert found["gap"].tolist()[:2] == [0.5, 0.75]


def test_the_page_says_what_the_rows_say(found, tmp_path):
    page = huge_study.markdown(found, 30)
    assert "# 100,000 nodes on 64 devices" in page
    assert "2 of 3 methods have an answer (`lns` not); the best one is `multilevel`" in page
    assert "the most that any took is 3.00 GiB" in page
    assert "| latency | lns | memory-limit |  | 0.5 s | 0.00 GiB |  |" in page
    huge_study.draw(found, tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()
    dead = found.assign(objective=float("nan"))
    assert "no method found an answer" in huge_study.markdown(dead, 30)


def test_its_methods_exist():
    assert set(huge_study.ENTRIES) <= set(catalogue.names())
