"""The claims of modularity splitting: what is compared with what."""

from __future__ import annotations

import pytest

from bench import claims, claims_text
from problems.catalogue import Library
from tests.bench.synthetic import record

ENTRIES = Library().entries()
FREE = next(e for e in ENTRIES if e.problem == "throughput" and not e.rules.get("contiguous"))
LATENCY = next(e for e in ENTRIES if e.problem == "latency" and e.best_single_s)


def run(of, entry, **changes):
    return record(instance=of.id, digest=of.digest, problem=of.problem, entry=entry, **changes)


def test_a_stopped_exact_model_gives_a_ratio_at_least():
    runs = [
        run(FREE, claims.PLAIN, objective=1.01, wall_s=0.1),
        run(FREE, "assign@highs", objective=1.0, wall_s=60.0, claim="feasible"),
    ]
    (duel,) = claims.duels(runs, ENTRIES, {FREE.digest: 0.9})
    assert not duel.ended
    assert duel.ratio == pytest.approx(600)
    assert duel.loss == pytest.approx(0.01)
    assert duel.best_z == 0.9
    page = claims_text.markdown(
        [duel], [], claims.improvements([], ENTRIES), claims.gains([], {}), 10, 60
    )
    assert ">= 600x" in page
    assert "395 times or more on 1 of 1" in page
    assert "395 times faster than an exact model: seen, on 1 of 1; at least 600 times" in page


def test_a_longer_run_counts_and_is_made_only_where_it_could_tell():
    runs = [
        run(FREE, claims.PLAIN, objective=1.0, wall_s=0.5),
        run(FREE, "assign@highs", objective=1.0, wall_s=60.0, claim="feasible"),
        run(LATENCY, claims.PLAIN, objective=1.0, wall_s=0.1),
        run(LATENCY, "disjunctive@highs", objective=1.0, wall_s=50.0, claim="optimal"),
    ]
    found = claims.duels(runs, ENTRIES, {})
    assert [each.instance for each in claims.undecided(found, 300)] == [FREE.id]
    assert claims.undecided(found, 150) == []
    runs.append(run(FREE, "assign@highs", objective=1.0, wall_s=300.0, claim="feasible"))
    longer = {each.instance: each.ratio for each in claims.duels(runs, ENTRIES, {})}
    assert longer[FREE.id] == pytest.approx(600)


def test_a_proof_is_an_end_and_no_answer_is_no_loss():
    runs = [
        run(LATENCY, claims.PLAIN, objective=2.0, wall_s=1.0),
        run(LATENCY, "disjunctive@highs", objective=2.0, wall_s=5.0, claim="optimal"),
        run(FREE, claims.PLAIN, objective=2.0, wall_s=1.0),
        run(FREE, "assign@highs", check="none", objective=None, wall_s=60.0),
        run(FREE, "prefix@highs", objective=2.0),  # another section's model
    ]
    found = {each.instance: each for each in claims.duels(runs, ENTRIES, {})}
    assert found[LATENCY.id].ended
    assert found[LATENCY.id].loss == 0
    assert found[FREE.id].loss == -1
    page = claims_text.markdown(
        list(found.values()), [], claims.improvements([], ENTRIES), claims.gains([], {}), 10, 60
    )
    assert "below 1 % on 1 of 1" in page


def test_improvements_count_only_pairs():
    runs = [
        run(FREE, claims.SPLITTING, objective=1.0),
        run(FREE, "greedy", objective=2.0),
        run(FREE, "random", objective=1.0),
        run(LATENCY, "greedy", objective=2.0),
    ]
    table = claims.improvements(runs, ENTRIES).set_index("other")
    assert table["better"].to_dict() == pytest.approx({"greedy": 0.5, "random": 0.0})
    assert table.loc["greedy", "room"] == pytest.approx(1 - FREE.lower_bound_s / 2.0)
    assert table.loc["greedy", ["wins", "ties", "losses"]].tolist() == [1, 0, 0]
    assert table.loc["random", ["wins", "ties", "losses"]].tolist() == [0, 1, 0]


def test_gains_say_what_the_hardware_allows():
    z = LATENCY.best_single_s / 4
    table = claims.gains([LATENCY], {LATENCY.digest: z})
    row = table.loc[0]
    assert row["gain"] == pytest.approx(4)
    assert row["allowed"] == pytest.approx(LATENCY.headroom)
    assert bool(row["reached"]) == (LATENCY.headroom >= 3)
    assert claims.gains([LATENCY], {}).empty


def test_where_the_exact_model_takes_no_instance_splitting_stands_beside_the_best_known():
    runs = [run(LATENCY, claims.PLAIN, objective=3.0, wall_s=0.5)]
    (found,) = claims.alone(runs, ENTRIES, {LATENCY.digest: 2.0})
    assert found.loss == pytest.approx(0.5)
    page = claims_text.markdown(
        [], [found], claims.improvements([], ENTRIES), claims.gains([], {}), 10, 60
    )
    assert "On 1 more instances the exact model is too large" in page
    runs.append(run(LATENCY, "disjunctive@highs", objective=2.0))
    assert claims.alone(runs, ENTRIES, {}) == []


def test_the_published_page_is_what_the_published_records_say(tmp_path, capsys):
    files = [f"results/records/{name}.jsonl" for name in ("baseline", "claims")]
    claims.main(["--records", files[0], "--records", files[1]])
    assert capsys.readouterr().out == (claims.study.STUDIES / "claims.md").read_text()
