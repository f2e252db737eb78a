"""Which instances tell methods apart."""

from __future__ import annotations

import pandas as pd
import pytest

from bench import bks, discrimination
from bench.leaderboard.board import build
from tests.bench.synthetic import record


def board_of(*values):
    """One instance a mapping of entry -> objective (None: no answer); the bound is 1."""
    records = [
        record(
            entry=entry,
            digest=f"{i}".ljust(64, "0"),
            instance=f"net{i}:block/p/throughput",
            family="net",
            **({"check": "none"} if z is None else {"objective": z}),
        )
        for i, each in enumerate(values)
        for entry, z in each.items()
    ]
    claims = bks.gather(records, {r.digest: 1.0 for r in records}, {})
    return build(records, {d: bks.headline(c.claims) for d, c in claims.items()}, {}, [])


def test_weakest_and_strongest_without_baselines():
    (spread,) = discrimination.spreads(
        board_of({"single": 100.0, "greedy": 4.0, "heft": 2.0, "annealing": 1.25})
    )
    assert (spread.weakest, spread.worst) == ("greedy", pytest.approx(0.75))
    assert (spread.strongest, spread.best) == ("annealing", pytest.approx(0.2))
    assert spread.methods == 3
    assert spread.telling
    assert not spread.trivial


def test_all_at_the_bound_is_trivial_and_no_answer_is_not():
    tied, failed, close = discrimination.spreads(
        board_of(
            {"greedy": 1.0, "heft": 1.0},
            {"greedy": 1.0, "heft": None},
            {"greedy": 1.5, "heft": 1.5},
        )
    )
    assert tied.trivial
    assert not tied.telling
    assert (failed.worst, failed.trivial, failed.telling) == (1.0, False, True)
    assert (close.trivial, close.telling) == (False, False)


def test_one_entry_tells_nothing():
    assert discrimination.spreads(board_of({"single": 3.0, "heft": 1.0})) == []


def test_nothing_to_compare_is_an_empty_table():
    board = board_of({"greedy": 1.0})
    assert discrimination.by_family(discrimination.spreads(board)).empty
    assert "0 instances; all entries tie at the bound on 0." in discrimination.markdown(board)


def test_table_and_page_and_lines():
    board = board_of({"greedy": 1.0, "heft": 1.0}, {"greedy": 2.0, "heft": 1.0})
    (row,) = discrimination.by_family(discrimination.spreads(board)).to_dict("records")
    assert (row["instances"], row["telling"], row["trivial"]) == (2, 1, 1)
    assert row["worst"] == pytest.approx(0.25)
    assert row["spread"] == pytest.approx(0.25)
    page = discrimination.markdown(board)
    assert "| throughput, free | net | 2 | 25.0 % | 0.0 % | 25.0 % | 1 | 1 |" in page
    assert "2 instances; all entries tie at the bound on 1.\n* `net0:block/p/throughput`" in page
    assert len(discrimination.comma_separated(board).splitlines()) == 3


def test_the_command_writes_both_forms(tmp_path, capsys):
    done = discrimination.main(
        ["--records", "results/records/baseline.jsonl", "--output", str(tmp_path)]
    )
    assert done == 0
    assert capsys.readouterr().out == (tmp_path / "discrimination.md").read_text()
    assert len(pd.read_csv(tmp_path / "discrimination.csv")) >= 10
    assert discrimination.main(["--records", str(tmp_path / "none.jsonl")]) == 2
    assert "cannot be read" in capsys.readouterr().err
