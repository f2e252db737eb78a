"""Claims and the headline that follows from them."""

from __future__ import annotations

import msgspec
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
    assert head.closed_by == "exact"
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
    assert not bks.headline(bks.claims_of(loose)).closed_by
    better = record(entry="greedy", objective=9.0)
    assert bks.conflicts([loose, better]) == {}


@pytest.mark.parametrize(
    ("bound", "kind"),
    [
        (bks.Claim("bound", 3.0, "theoretical", verified_by="recomputation"), "recomputed"),
        (bks.Claim("bound", 3.0, "joint-lp", version=1), "searched"),
    ],
)
def test_a_checked_answer_refutes_a_bound_and_not_the_other_way_round(bound, kind):
    lower = bks.Claim("bound", 1.5, "theoretical", verified_by="recomputation")
    answer = bks.Claim("answer", 2.0, "greedy", verified_by="checker")
    head = bks.headline([answer, bound, lower])
    assert (head.status, head.objective, head.bound, head.refuted) == ("best", 2.0, 1.5, (bound,))
    assert kind in bks.refutation("net", bound, 2.0, "greedy")
    # Rounding is forgiven, and no more: such bounds are rounded down.
    near = msgspec.structs.replace(bound, value=2.0 * (1 + 1e-7))
    assert bks.headline([answer, near]).refuted == (near,)
    met = msgspec.structs.replace(bound, value=2.0 * (1 + 1e-12))
    assert bks.headline([answer, met]).refuted == ()


def test_a_searched_bound_counts_and_is_called_so():
    answer = bks.Claim("answer", 2.0, "greedy", verified_by="checker")
    found = bks.Claim("bound", 2.0, "joint-lp", limit_s=3.0, version=1)
    head = bks.headline([answer, found])
    assert (head.status, head.bound, head.bound_kind) == ("best", 2.0, "searched")
    assert head.closed_by == "joint-lp (searched)"
    same = bks.Claim("bound", 2.0, "theoretical", verified_by="recomputation")
    head = bks.headline([answer, found, same])
    assert (head.status, head.bound_kind, head.closed_by) == ("optimal", "recomputed", "")


def test_bounds_of_the_suite_are_not_read_from_the_claims_on_file():
    forged = [
        bks.Claim("answer", 2.0, "greedy", verified_by="checker"),
        bks.Claim("bound", 2.0, "theoretical", verified_by="recomputation"),
        bks.Claim("bound", 2.0, "joint-lp", version=1),
    ]
    earlier = {"d" * 64: bks.Claims("placebench-claims/1", "d" * 64, "net", forged)}
    found = bks.Claim("bound", 1.5, "joint-lp", version=1)
    now = bks.gather([], {"d" * 64: 1.0}, earlier, {"d" * 64: found})["d" * 64]
    head = bks.headline(now.claims)
    assert (head.status, head.bound, head.bound_by) == ("best", 1.5, "joint-lp")


def test_a_refuted_proof_neither_hides_a_sound_one_nor_is_forgotten(tmp_path):
    lie = record(entry="exact", objective=3.0, claim="optimal")
    sound = record(entry="exact", objective=2.0, claimed_bound=1.8, seed=1)
    digest = "d" * 64
    bks.save(bks.gather([lie, sound], {}), tmp_path)
    head = bks.headline(bks.gather([], {}, bks.load(tmp_path))[digest].claims)
    assert (head.objective, head.proved, head.proved_by) == (2.0, 1.8, "exact")
    assert [(c.by, c.value) for c in head.refuted] == [("exact", 3.0)]
    # Whatever is ranked later: an entry that ever claimed a false proof is in conflict.
    assert set(bks.conflicts([record(entry="greedy")], {digest: head})) == {"exact"}


def test_an_answer_on_file_refutes_a_proof_too():
    head = bks.headline([bks.Claim("answer", 1.0, "elsewhere", verified_by="checker")])
    proof = record(entry="exact", objective=2.0, claim="optimal")
    assert bks.conflicts([proof]) == {}
    assert bks.conflicts([proof], {proof.digest: head}) == {"exact": {proof.instance}}


def test_infeasible_is_refuted_by_any_answer():
    never = record(entry="never", check="none", claim="infeasible")
    assert bks.conflicts([never, record(objective=2.0)]) == {"never": {never.instance}}
