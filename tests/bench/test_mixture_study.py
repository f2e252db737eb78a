"""What the study of mixtures makes of its rows."""

from __future__ import annotations

import csv
import io

import pytest

from bench import mixture_study
from bench.mixture_study import Row


def _row(name, family, mixture, single, copies, bound):
    return Row(name, family, "tiny", 10, 2, mixture, single, copies, bound)


ROWS = [
    _row("a", "one", 2.0, 4.0, 6.0, 2.0),
    _row("b", "one", 2.0, 2.0, None, 1.0),
    _row("c", "two", None, 3.0, None, 1.0),
]


def test_gains_are_those_of_the_best_mixture():
    assert [row.best for row in ROWS] == [2.0, 2.0, 3.0]  # a single mapping is a mixture
    assert [mixture_study.gain(row, row.single) for row in ROWS] == [2.0, 1.0, 1.0]
    assert [mixture_study.gain(row, row.copies) for row in ROWS] == [3.0, None, None]
    assert mixture_study.mean([2.0, 1.0]) == pytest.approx(2**0.5)
    assert mixture_study.mean([None]) is None


def test_proved_is_an_answer_that_meets_its_bound():
    assert [row.proved for row in ROWS] == [True, False, False]


def test_tables_say_what_is_known_and_what_is_not():
    text = mixture_study.as_markdown(ROWS, 10.0)
    assert "Proved optimal, tiny: 1 of 3." in text
    assert "| one | 2 | 1.414 | 3.000 |" in text
    assert "| two | 1 | 1.000 | - |" in text
    table = list(csv.DictReader(io.StringIO(mixture_study.as_csv(ROWS))))
    assert [each["proved"] for each in table] == ["1", "0", "0"]
    assert table[2]["mixture_s"] == ""
