"""Records as tables, and back."""

from __future__ import annotations

import json
import math

import msgspec
import pandas as pd
import pytest

import bench
from bench import bks, table
from bench.records import Record
from tests.bench.synthetic import bounds, comparison, record

RUNS = [
    record(trace=[(0.5, 3.0), (1.0, 2.0)], options={"restarts": 4}, memory_limit_bytes=2**40),
    record(entry="broken", check="invalid", violations=[("memory", "too much")]),
    record(entry="silent", check="none", termination="crash", signal="SIGSEGV"),
]


def known(records, bound=0.0):
    claims = bks.gather(records, {r.digest: bound for r in records})
    return {digest: bks.headline(each.claims) for digest, each in claims.items()}


def test_one_row_a_run_with_every_field():
    found = bench.frame(RUNS)
    renamed = {"objective_s", "claimed_objective_s", "claimed_bound_s"}
    missing = set(Record.__struct_fields__) - set(found.columns)
    assert missing == {"format", *(name.removesuffix("_s") for name in renamed)}
    assert renamed <= set(found.columns)
    first, second, third = found.to_dict("records")
    assert (first["objective_s"], json.loads(first["options"])) == (2.0, {"restarts": 4})
    assert first["trace"] == [[0.5, 3.0], [1.0, 2.0]]
    assert first["memory_limit_bytes"] == 2**40
    assert pd.isna(second["memory_limit_bytes"])
    assert math.isnan(second["objective_s"])
    assert second["violations"] == [["memory", "too much"]]
    assert third["reason"] == "crash (SIGSEGV)"
    assert "gap_bound" not in found


def test_metrics_come_with_what_is_known():
    found = bench.frame(RUNS, known(RUNS, 1.0))
    assert found.gap_bound.tolist() == [0.5, 1.0, 1.0]
    assert found.primal_gap.tolist() == [0.0, 1.0, 1.0]
    assert found.bound_kind.tolist() == ["recomputed"] * 3
    assert found.best_known_s.tolist() == [2.0] * 3
    # (gap 1 until 0.5, then 1/3 until 1.0) of 10 s.
    assert found.integral[0] == pytest.approx((0.5 + 0.5 / 3) / 10)


@pytest.mark.parametrize("with_known", [False, True])
def test_parquet_keeps_types_and_lists(tmp_path, with_known):
    path = tmp_path / "runs.parquet"
    table.write(path, RUNS, known(RUNS) if with_known else None)
    back = pd.read_parquet(path)
    expected = bench.frame(RUNS, known(RUNS) if with_known else None)
    assert list(back.columns) == list(expected.columns)
    plain = [name for name in expected if name not in ("violations", "trace", "bounds")]
    pd.testing.assert_frame_equal(back[plain], expected[plain], check_dtype=False)
    assert [tuple(pair) for pair in back.trace[0]] == RUNS[0].trace
    assert back.objective_s.dtype == "float64"


def test_csv_is_one_line_a_run(tmp_path):
    path = tmp_path / "runs.csv"
    table.write(path, RUNS)
    back = pd.read_csv(path)
    assert json.loads(back.trace[0]) == [[0.5, 3.0], [1.0, 2.0]]
    assert back.objective_s[0] == 2.0
    assert len(path.read_text().splitlines()) == len(RUNS) + 1


def test_json_lines_are_the_records_themselves(tmp_path):
    path = tmp_path / "runs.jsonl"
    table.write(path, RUNS)
    lines = path.read_bytes().splitlines()
    assert [msgspec.json.decode(line, type=Record) for line in lines] == RUNS


def test_other_ends_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.parquet, \.csv, \.jsonl"):
        table.write(tmp_path / "runs.xlsx", RUNS)


def test_nothing_is_a_table_too():
    assert len(bench.frame([])) == 0
    assert "objective_s" in bench.frame([], {})


def test_means_of_the_table_are_those_of_the_leaderboard():
    records = comparison()
    claims = bks.gather(records, bounds())
    heads = {digest: bks.headline(each.claims) for digest, each in claims.items()}
    means = bench.frame(records, heads).groupby("entry").primal_gap.mean()
    assert means["single"] == pytest.approx(2 / 3)
