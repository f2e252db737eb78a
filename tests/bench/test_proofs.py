"""The study of what is proved."""

from __future__ import annotations

import math

import msgspec
import pytest

from bench import bks, proofs, proofs_text
from problems.bounds import theoretical  # noqa: F401 - fills the registry
from problems.bounds.registry import REGISTRY, Bound
from problems.catalogue import Library
from tests.bench.synthetic import record

ENTRIES = Library().entries()
CONTIGUOUS = next(e for e in ENTRIES if e.rules.get("contiguous") and e.tier == "small")
LATENCY = next(e for e in ENTRIES if e.problem == "latency" and e.tier == "medium")


def run(of, **changes):
    return record(
        instance=of.id,
        digest=of.digest,
        problem=of.problem,
        family=of.family,
        **changes,
    )


def standing(entry, records, bounds):
    claims = bks.gather(records, {entry.digest: 1.0}, {})
    return proofs.standings([entry], {entry.digest: bounds}, claims)[0]


def test_the_largest_bound_counts_whoever_proved_it():
    low = 2 * CONTIGUOUS.lower_bound_s
    answer = run(CONTIGUOUS, objective=4 * low)
    bounds = [Bound("load-lp", low, 0.1), Bound("block", 2 * low, 0.2)]
    found = standing(CONTIGUOUS, [answer], bounds)
    assert (found.plain, found.bound, found.bound_by) == (low, 2 * low, "block")
    assert (found.best, found.gap, found.proved) == (4 * low, 0.5, False)
    proof = run(CONTIGUOUS, entry="dp", objective=4 * low, claim="optimal")
    found = standing(CONTIGUOUS, [answer, proof], bounds)
    assert (found.bound, found.bound_by) == (4 * low, "dp")
    assert found.proved
    assert found.section == "throughput, contiguous"


def test_without_an_answer_nothing_is_proved():
    found = standing(LATENCY, [], [])
    assert (found.best, found.gap, found.proved) == (None, None, False)
    assert found.bound == LATENCY.lower_bound_s
    table = proofs.summary([found])
    assert table.loc[0, ["instances", "answered", "proved"]].tolist() == [1, 0, 0]
    assert math.isnan(table.loc[0, "gap"])


def test_entries_are_held_against_the_best_bound_and_their_own():
    low = CONTIGUOUS.lower_bound_s
    runs = [
        run(CONTIGUOUS, entry="dp", objective=2 * low, claim="optimal", wall_s=1.0),
        run(CONTIGUOUS, entry="prefix@highs", objective=3 * low, claimed_bound=1.5 * low),
        run(CONTIGUOUS, entry="greedy", check="none"),
    ]
    found = standing(CONTIGUOUS, runs, [])
    table = proofs.by_entry(runs, [found]).set_index("entry")
    assert table.loc["dp", ["runs", "answered", "proved"]].tolist() == [1, 1, 1]
    assert table.loc["dp", "gap"] == pytest.approx(0.0)
    assert table.loc["prefix@highs", "gap"] == pytest.approx(0.5)
    assert table.loc["prefix@highs", "own"] == pytest.approx(1.0)
    assert table.loc["greedy", ["runs", "answered"]].tolist() == [1, 0]


def test_gains_are_over_path_and_load():
    bounds = [
        Bound("critical-path", 1.0, 0.1),
        Bound("load-lp", 2.0, 0.1),
        Bound("joint", 3.0, 9.0),
    ]
    table = proofs.gains([LATENCY], {LATENCY.digest: bounds}).set_index("bound")
    assert table["gain"].to_dict() == pytest.approx(
        {"critical-path": 0, "load-lp": 0, "joint": 0.5}
    )
    assert table.loc["joint", ["best", "seconds"]].tolist() == [1, 9.0]


def test_contradictions_name_both_sides():
    good = run(CONTIGUOUS, entry="greedy", objective=2.0)
    wrong = run(CONTIGUOUS, entry="broken", objective=3.0, claim="optimal")
    claims = bks.gather([good], {}, {})
    (line,) = proofs.contradictions([good, wrong], claims, {})
    assert "broken" in line
    assert "greedy" in line
    never = run(CONTIGUOUS, entry="never", check="none", claim="infeasible")
    assert "never" in proofs.contradictions([good, never], claims, {})[0]
    high = {CONTIGUOUS.digest: [Bound("too-high", 2.5, 0.0)]}
    assert "too-high" in proofs.contradictions([good], claims, high)[0]
    assert (
        proofs.contradictions([good], claims, {CONTIGUOUS.digest: [Bound("fine", 2.0, 0.0)]}) == []
    )


def test_a_bound_above_the_answer_proves_nothing_and_is_named():
    z = 2 * LATENCY.lower_bound_s
    answer = run(LATENCY, objective=z)
    found = standing(LATENCY, [answer], [Bound("joint-lp", 2 * z, 0.1)])
    assert (found.conflict, found.proved, found.gap) == (True, False, None)
    assert proofs.summary([found]).loc[0, ["answered", "proved", "within"]].tolist() == [1, 0, 0]
    assert "conflict" in proofs_text.comma_separated([found], [])
    high = msgspec.structs.replace(LATENCY, lower_bound_s=2 * z)
    (line,) = proofs.contradictions([answer], {}, {}, [high])
    assert "the catalogue" in line


def test_a_refuted_proof_is_not_the_entrys_and_old_content_is_another_instance():
    low = CONTIGUOUS.lower_bound_s
    wrong = run(CONTIGUOUS, entry="wrong", objective=4 * low, claim="optimal")
    better = run(CONTIGUOUS, entry="better", objective=2 * low)
    found = standing(CONTIGUOUS, [wrong, better], [])
    table = proofs.by_entry([wrong, better], [found]).set_index("entry")
    assert table.loc["wrong", "proved"] == 0
    old = msgspec.structs.replace(better, digest="0" * 64)
    assert proofs.by_entry([old], [found]).empty


def test_the_plain_bounds_exist():
    assert set(proofs.PLAIN) <= set(REGISTRY)


def test_the_page_and_the_table():
    low = CONTIGUOUS.lower_bound_s
    runs = [run(CONTIGUOUS, entry="dp", objective=2 * low, claim="optimal", wall_s=1.0)]
    found = [standing(CONTIGUOUS, runs, [])]
    page = proofs_text.markdown(
        proofs.summary(found), proofs.by_entry(runs, found), proofs.gains([], {}), ["x: y"]
    )
    assert "| throughput, contiguous | small | 1 | 1 | 1 | 0.00 % | 1 |" in page
    assert "1 contradictions" in page
    header, line = proofs_text.comma_separated(found, runs).splitlines()
    assert header.startswith("section,tier,instance")
    assert "dp 10s z" in header
    assert "proven" in line
