"""Claims and the headline that follows from them."""

from __future__ import annotations

import pytest

from bench import bks
from tests.bench.synthetic import record


def claims(*records, bound=0.0):
    found = bks.gather(records, {"d" * 64: bound})
    return found["d" * 64].claims


def test_headline_is_the_best_checked_answer_and_the_recomputable_bound():
    head = bks.headline(
        claims(
            record(entry="greedy", objective=3.0),
            record(entry="annealing", objective=2.0),
            record(entry="liar", check="invalid", claimed_objective=0.1),
            bound=1.5,
        )
    )
    assert (head.status, head.objective, head.by, head.bound) == ("best", 2.0, "annealing", 1.5)


def test_optimal_when_the_answer_meets_the_trusted_bound():
    assert bks.headline(claims(record(objective=2.0), bound=2.0)).status == "optimal"
    assert bks.headline(claims(record(check="none", objective=None), bound=2.0)).status == "open"


def test_a_solvers_word_is_kept_apart():
    head = bks.headline(claims(record(entry="exact", objective=2.0, claim="optimal"), bound=1.0))
    assert (head.status, head.bound, head.proved, head.proved_by) == ("best", 1.0, 2.0, "exact")
    assert head.closed_by_claim
    foreign = bks.headline(claims(record(claim="optimal", source="f" * 64), bound=1.0))
    assert foreign.proved is None


def test_a_contradicted_proof_is_dropped_and_named():
    wrong = record(entry="wrong", objective=3.0, claim="optimal")
    better = record(entry="greedy", objective=2.0)
    head = bks.headline(claims(wrong, better, bound=1.0))
    assert head.objective == 2.0
    assert head.proved is None
    assert bks.conflicts([wrong, better]) == {"wrong": {better.instance}}
    assert bks.conflicts([better]) == {}


def test_claims_survive_a_round_trip_and_are_only_surpassed(tmp_path):
    first = bks.gather([record(objective=2.0)], {"d" * 64: 1.0})
    bks.save(first, tmp_path)
    assert bks.load(tmp_path) == first
    worse = bks.gather([record(objective=2.5)], {"d" * 64: 1.0}, bks.load(tmp_path))
    assert worse == first
    better = bks.gather([record(objective=1.8)], {"d" * 64: 1.0}, bks.load(tmp_path))
    assert bks.headline(better["d" * 64].claims).objective == 1.8


def test_no_folder_no_claims(tmp_path):
    assert bks.load(tmp_path / "missing") == {}


def test_optimal_within_a_gap_proves_no_more_than_that():
    loose = record(
        entry="intervals[gap=0.2]", method="intervals", options={"gap": 0.2}, objective=10.0,
        claim="optimal", claimed_objective=10.0, claimed_bound=7.0,
    )  # fmt: skip
    assert bks.claimed_proof(loose) == pytest.approx(8.0, rel=1e-5)
    assert bks.claimed_proof(loose) < 8.0
    assert not bks.headline(bks.claims_of(loose)).closed_by_claim
    better = record(entry="greedy", objective=9.0)
    assert bks.conflicts([loose, better]) == {}


def test_a_bound_above_the_answer_is_a_conflict_and_never_optimal():
    claims = [
        bks.Claim("answer", 2.0, "greedy", verified_by="checker"),
        bks.Claim("bound", 3.0, "theoretical", verified_by="recomputation"),
    ]
    assert bks.headline(claims).status == "conflict"


def test_infeasible_is_refuted_by_any_answer():
    never = record(entry="never", check="none", claim="infeasible")
    assert bks.conflicts([never, record(objective=2.0)]) == {"never": {never.instance}}
