"""The study of what better bounds close."""

from __future__ import annotations

import msgspec

from bench import bks, bounds, closing_study
from problems.catalogue import Library
from tests.bench.synthetic import record

ENTRIES = [e for e in Library().entries() if e.problem == "latency" and e.tier == "small"][:2]
A, B = (msgspec.structs.replace(each, lower_bound_s=1.0) for each in ENTRIES)


def _claims(entry, z, proved=None):
    run = {"instance": entry.id, "digest": entry.digest, "problem": "latency", "objective": z}
    runs = [record(**run, entry="greedy")]
    if proved is not None:
        runs.append(record(**run, entry="intervals", claimed_bound=proved))
    return bks.gather(runs, {})


def _stored(entry, **values):
    every = [
        bounds.Stored(name.replace("_", "-"), bounds.REGISTRY[name.replace("_", "-")].version,
                      value, 0.1, 9.0 if name == "series" else 0.0)
        for name, value in values.items()
    ]  # fmt: skip
    return {entry.digest: bounds.Line(entry.digest, entry.id, every)}


def _rows(z, proved=None, compute=None, **values):
    single = msgspec.structs.replace(A, best_single_s=100.0)
    store = bounds.Store(_stored(A, **values) if values else {})
    return closing_study.rows([single], store, _claims(A, z, proved), compute or (lambda e: {}))


def test_the_first_stage_that_meets_the_answer_closes_it():
    given = {"critical_path": 2.0, "load_lp": 1.5, "head_tail": 3.0, "series": 3.5}
    assert [row.stage for z in (2.0, 3.0, 3.5, 4.0, 5.0) for row in _rows(z, 4.0, **given)] == [
        0, 1, 2, 3, None,
    ]  # fmt: skip
    (row,) = _rows(4.0, 4.0, **given)
    assert row.bounds == (
        (2.0, "critical-path"), (3.0, "head-tail"), (3.5, "series"), (4.0, "intervals"),
    )  # fmt: skip
    assert [row.gap(i) for i in range(4)] == [0.5, 0.25, 0.125, 0.0]


def test_simple_bounds_that_are_not_on_file_are_computed():
    (row,) = _rows(4.0, compute=lambda entry: {"load-lp": 3.0} if entry.id == A.id else {})
    assert row.bounds[0] == (3.0, "load-lp")
    assert closing_study.simple(Library(), ENTRIES[0]).keys() == {"critical-path", "load-lp"}


def test_without_an_answer_there_is_no_row_and_a_refuted_bound_counts_for_nothing():
    store = bounds.Store(_stored(A, load_lp=2.0))
    assert closing_study.rows([A], store, {}, lambda entry: {}) == []
    (row,) = _rows(4.0, critical_path=2.0, series=9.0)
    assert row.bounds[2] == (2.0, "critical-path")


def test_the_page_counts_what_flips(tmp_path):
    found = _rows(4.0, 4.0, critical_path=2.0) + _rows(2.0, critical_path=2.0)
    page = closing_study.markdown(found)
    assert "show 1 (50 %) to be solved" in page
    assert "So 1 flip from open to closed with the answers as they are, and 0 stay open" in page
    assert "| latency | 2 | 1 | 1 | 1 | 2 | 41.42 % | 41.42 % | 41.42 % | 0.00 % |" in page
    assert "| latency | exact | intervals | 1 |" in page
    lines = closing_study.comma_separated(found).splitlines()
    assert [line.rpartition(",")[2] for line in lines] == ["closed", "exact", "simple"]
    closing_study.draw(found, tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()


def test_the_published_page_is_what_its_rows_say():
    page, table = (
        (closing_study.study.STUDIES / f"closing.{ending}").read_text() for ending in ("md", "csv")
    )
    flips = sum(line.endswith((",cheap", ",searched", ",exact")) for line in table.splitlines())
    assert f"So {flips} flip from open to closed" in page
