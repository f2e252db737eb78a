"""From records on file to what is ranked."""

from __future__ import annotations

import pytest

from bench import bks
from bench.leaderboard import gather, words
from bench.records import Store
from problems.files import FileError
from tests.bench.synthetic import bounds, comparison, record


def source(records, folder):
    return gather.Source(Store(folder), records, "there")


def test_an_answer_below_a_bound_is_set_aside_and_named(tmp_path):
    records = comparison()
    wrong = record(
        instance=records[0].instance, digest=records[0].digest, family=records[0].family,
        entry="miracle", objective=0.001,
    )  # fmt: skip
    known = gather.Known(bounds())
    plain = gather.board(source(records, tmp_path), known)
    board = gather.board(source([*records, wrong], tmp_path), known)
    assert board.sections == plain.sections
    (told,) = board.contradictions
    for word in (wrong.instance, "miracle", "0.001", repr(bounds()[wrong.digest])):
        assert word in told
    assert any(told in note for note in words.notes(board))
    assert plain.contradictions == []


def test_a_best_known_below_a_bound_is_set_aside(tmp_path):
    records = comparison()
    digest = records[0].digest
    claim = bks.Claim("answer", 0.001, "miracle", verified_by="checker")
    claims = bks.Claims("placebench-claims/1", digest, records[0].instance, [claim])
    board = gather.board(source(records, tmp_path), gather.Known(bounds(), {}, {digest: claims}))
    assert ["miracle" in each for each in board.contradictions] == [True]
    assert board.sections[1].rows[0].known.objective == pytest.approx(0.01)


def test_nothing_left_is_an_error_that_says_why(tmp_path):
    wrong = record(objective=1.0)
    with pytest.raises(FileError, match="below the bound"):
        gather.board(source([wrong], tmp_path), gather.Known({wrong.digest: 2.0}))
