"""The study of symmetry: its instances are what it says, and its page what its rows say."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from bench import symmetry_study
from bench.symmetry_study import Row, instances, markdown, pairs


def _row(devices, symmetry, proved, seconds, bound=2.0, objective=2.0):
    return Row(
        "net:operator", "latency", 9, devices, 1, 2.0, 1, "intervals", symmetry, proved, seconds,
        objective, bound,
    )  # fmt: skip


ROWS = [
    _row(4, True, True, 1.0), _row(4, False, True, 4.0),
    _row(8, True, True, 2.0), _row(8, False, False, 10.0, bound=1.0),
]  # fmt: skip


@pytest.mark.parametrize("problem", ["throughput", "latency"])
def test_all_devices_are_alike(problem):
    cases = list(instances(problem))
    assert {case.K for case in cases} == set(symmetry_study.DEVICES)
    assert all(not case.device_class.any() for case in cases)
    assert len({case.digest for case in cases}) == len(cases)
    assert np.bincount([case.K for case in cases])[[4, 8, 16]].tolist() == [len(cases) // 3] * 3


def test_only_proofs_are_compared():
    page = markdown(ROWS, 10.0, 2)
    assert "| latency | `intervals` | 4 | 1 | 1 | 1 | 1 | 4.00 |" in page
    assert "| latency | `intervals` | 8 | 1 | 1 | 0 | 0 | - |" in page
    assert "| 2.00 s | open, 100.00 % left |" in page
    assert "| net:operator | latency | 9 | 1 | 2 | 0 |" in page


def test_a_bound_above_the_other_answer_is_no_result():
    with pytest.raises(ValueError, match="a bound above an answer"):
        pairs([_row(4, True, True, 1.0, bound=3.0, objective=3.0), _row(4, False, True, 1.0)])


def test_rows_are_read_off_the_records():
    case = next(instances("latency"))

    def record(objective, bound, termination="completed", symmetry=True):
        return SimpleNamespace(
            objective=objective, claimed_bound=bound, termination=termination, entry="intervals",
            options={"symmetry": symmetry}, wall_s=1.5, time_limit_s=10.0,
        )  # fmt: skip

    records = [record(2.0, 2.0), record(2.0, 1.0), record(None, None, "time-limit", False)]
    found = symmetry_study.rows(case, records)
    assert [row.proved for row in found] == [True, False, False]
    assert [row.seconds for row in found] == [1.5, 10.0, 10.0]
    assert [row.gap for row in found] == [0.0, 1.0, math.inf]


def test_a_small_study_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(symmetry_study, "DEVICES", (2,))
    monkeypatch.setattr(symmetry_study, "NODES", 4)
    monkeypatch.setattr(symmetry_study, "GENERATED", (1,))
    monkeypatch.setattr(symmetry_study, "CAPTURED", {"throughput": (), "latency": ()})
    monkeypatch.setattr(symmetry_study, "ENTRIES", {"throughput": ("stages",)})
    arguments = ["--store", str(tmp_path / "runs"), "--output", str(tmp_path), "--save"]
    assert symmetry_study.main(arguments) == 0
    assert (tmp_path / "symmetry.md").read_text() == capsys.readouterr().out
    lines = (tmp_path / "symmetry.csv").read_text().splitlines()
    assert len(lines) == 3
    assert sum(",True," in line for line in lines) == 2  # both are proved
