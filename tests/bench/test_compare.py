"""Two sides held against each other: what is refused, what is counted, what may be said."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pytest
from rich.console import Console

from bench import bks, compare_text, stats
from bench.compare_conditions import alike
from bench.compare_report import conflicts, pairing, report
from bench.compare_sides import Asked, CompareError, Side, asked, pairs
from bench.leaderboard.gather import Source
from bench.records import Store
from tests.bench.synthetic import comparison, record

MACHINE = {"cpu": "A CPU", "cores": 4, "usable_threads": 4, "memory_bytes": 16 << 30}


def runs(entry, values, *, seeds=1, family="net", problem="throughput", **more):
    """One run an instance and seed; None: no answer."""
    found = []
    for i, z in enumerate(values):
        for seed in range(seeds):
            where = {
                "instance": f"{family}{i}:block/p/{problem}",
                "digest": f"{problem[0]}{family}{i}".ljust(64, "0"),
                "problem": problem,
            }
            outcome = {"check": "none"} if z is None else {"objective": z}
            given = {"entry": entry, "seed": seed, "family": family}
            found.append(record(**{**where, **given, **outcome, **more}))
    return found


def side(records, label="", environments=None):
    entry = records[0].entry
    return Side(label or entry, entry, records, environments or {})


def held(a, b, allow=(), **more):
    return report([pairing("a", "b", alike(side(a), side(b), allow), **more)], [])


def line(made, title):
    return next(line for line in made.pairings[0].lines if line.title == title)


def test_counts_ratio_and_verdict():
    first = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    second = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0 * (1 + 5e-7), 9.0]
    made = held(runs("old", first), runs("new", second))
    total = line(made, "throughput, free")
    assert (total.improved, total.tied, total.worse, total.instances) == (6, 1, 1, 8)
    assert total.ratio == pytest.approx(math.exp((6 * math.log(0.5) + math.log(9 / 8)) / 8))
    assert total.interval is not None
    assert total.interval[0] < total.ratio < total.interval[1]
    assert total.p == stats.compare(first, second).p == total.adjusted
    assert (total.effect > 0, total.verdict) == (True, "better")
    back = held(runs("new", second), runs("old", first))
    assert line(back, "throughput, free").verdict == "worse"


def test_no_verdict_under_six_instances():
    total = line(held(runs("a", [2.0] * 5), runs("b", [1.0] * 5)), "throughput, free")
    assert (total.improved, total.p, total.interval, total.verdict) == (5, None, None, "no verdict")


def test_seeds_are_averaged_first_and_a_failed_one_counts():
    a, b = runs("a", [2.0] * 6, seeds=4), runs("b", [2.0] * 6)
    assert line(held(a, b), "throughput, free").tied == 6  # 6 instances, not 24 runs
    failing = [*runs("a", [2.0] * 6), *runs("a", [None] * 6, time_limit_s=10.0)]
    failing = [r if r.check == "ok" else record(**_fields(r), seed=1) for r in failing]
    made = held(failing, b)
    assert line(made, "throughput, free").improved == 6
    assert [pair.a for pair in made.pairings[0].pairs] == [4.0] * 6  # harmonic mean of 2 and inf


def _fields(r):
    return {
        "instance": r.instance, "digest": r.digest, "entry": r.entry, "family": r.family,
        "check": r.check,
    }  # fmt: skip


def test_no_answer_is_worse_and_no_ratio():
    made = held(runs("a", [1.0] * 6 + [None]), runs("b", [1.0] * 5 + [None, None]))
    total = line(made, "throughput, free")
    assert (total.improved, total.tied, total.worse, total.rated) == (0, 6, 1, 5)
    assert "over the 5 of 7 instances" in shown(made)


def test_sections_and_families_are_apart_and_holm_counts_all_tests():
    a = [*runs("a", [2.0] * 6, family="f"), *runs("a", [2.0] * 6, family="g", problem="latency")]
    a += runs("a", [2.0] * 2, family="h", problem="latency")
    b = [*runs("b", [1.0] * 6, family="f"), *runs("b", [3.0] * 6, family="g", problem="latency")]
    b += runs("b", [1.0] * 2, family="h", problem="latency")
    made = held(a, b)
    titles = [line.title for line in made.pairings[0].lines]
    assert titles == ["all", "latency", "g", "h", "throughput, free"]
    assert made.tests == 3
    tested = [each for each in made.pairings[0].lines if each.p is not None]
    assert [each.adjusted for each in tested] == stats.holm([each.p for each in tested])
    assert line(made, "h").verdict == line(made, "g").verdict == ""
    assert line(made, "g").adjusted is None


def test_a_family_has_a_row_of_its_own_under_each_section():
    a, b = [], []
    for problem, factor in (("latency", 2.0), ("throughput", 0.5)):
        a += runs("a", [1.0] * 6, family="f", problem=problem)
        b += runs("b", [factor] * 6, family="f", problem=problem)
        a += runs("a", [1.0] * 3, family="g", problem=problem)
        b += runs("b", [4.0, 1.0, 0.25], family="g", problem=problem)
    lines = held(a, b).pairings[0].lines
    rows = [(e.title, e.kind, e.instances, e.improved, e.tied, e.worse) for e in lines]
    assert rows == [
        ("all", "all", 18, 8, 2, 8),
        ("latency", "section", 9, 1, 1, 7),
        ("f", "family", 6, 0, 0, 6),
        ("g", "family", 3, 1, 1, 1),
        ("throughput, free", "section", 9, 7, 1, 1),
        ("f", "family", 6, 6, 0, 0),
        ("g", "family", 3, 1, 1, 1),
    ]
    ratios = [each.ratio for each in lines if each.kind == "family"]
    assert ratios == pytest.approx([2.0, 1.0, 0.5, 1.0])
    assert all(each.p is None and each.verdict == "" for each in lines if each.kind == "family")
    assert [each.interval is None for each in lines if each.kind == "family"] == [False, True] * 2


def test_missing_instances_are_named_on_both_sides():
    made = held(runs("a", [1.0] * 7), runs("b", [1.0] * 6) + runs("b", [1.0], family="other"))
    (each,) = made.pairings
    assert (each.missing_a, each.missing_b) == (
        ["other0:block/p/throughput"], ["net6:block/p/throughput"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "kind", "says"),
    [
        ({"time_limit_s": 60.0}, "time-limit", "10 s / 60 s"),
        ({"threads": 2}, "threads", "1 / 2"),
        ({"memory_limit_bytes": 4 * 10**9}, "memory-limit", "none / 4 GB"),
        ({"environment": "f" * 64}, "machine", "4 cores, 4 usable threads, 16 GiB / B CPU"),
        ({"environment": "0" * 64}, "machine", "not on file"),
    ],
)
def test_unequal_sides_are_refused_unless_allowed(changes, kind, says):
    environments = {"e" * 64: MACHINE, "f" * 64: {**MACHINE, "cpu": "B CPU"}}
    a = side(runs("a", [1.0] * 6), environments=environments)
    b = side(runs("b", [1.0] * 6, **changes), environments=environments)
    with pytest.raises(CompareError, match="differ in") as caught:
        alike(a, b)
    assert says in str(caught.value)
    assert f"--allow {kind} " in str(caught.value)
    with pytest.raises(CompareError):
        alike(a, b, [each for each in ("time-limit", "digests") if each != kind])
    found = alike(a, b, [kind])
    assert any(kind in note and says in note for note in found.notes)
    assert len(found.a) == len(found.b) == 6


def test_two_things_that_differ_are_both_named():
    with pytest.raises(CompareError, match=r"--allow time-limit,threads "):
        held(runs("a", [1.0]), runs("b", [1.0], time_limit_s=1.0, threads=2))


def test_equal_limits_are_found_among_others():
    a = [*runs("a", [1.0] * 6, time_limit_s=1.0), *runs("a", [1.0] * 6)]
    found = alike(side(a), side(runs("b", [1.0] * 6)), ["time-limit"])
    assert {r.time_limit_s for r in found.a} == {10.0}
    assert any("6 runs of a under other limits" in note for note in found.notes)


def test_the_same_machine_may_have_another_commit_which_is_said():
    environments = {
        "e" * 64: {**MACHINE, "git_commit": "a" * 40, "packages": {"numpy": "2.0"}},
        "f" * 64: {**MACHINE, "git_commit": "b" * 40, "packages": {"numpy": "2.1"}},
    }
    found = alike(
        side(runs("a", [1.0]), environments=environments),
        side(runs("a", [1.0], environment="f" * 64), environments=environments),
    )
    assert f"commit: {'a' * 12} / {'b' * 12}" in found.notes
    assert "packages: numpy 2.0 / numpy 2.1" in found.notes


def test_changed_instances_are_refused_or_matched_by_id():
    a = runs("a", [1.0] * 6)
    b = [record(**{**_fields(r), "digest": r.digest[::-1], "entry": "b"}, objective=1.0) for r in a]
    with pytest.raises(CompareError, match=r"digests: .* of net0:.* and 5 more"):
        held(a, b)
    made = held(a, b, ["digests"], by="instance")
    assert line(made, "throughput, free").tied == 6


def test_nothing_else_can_be_allowed():
    with pytest.raises(CompareError, match="valid are time-limit, threads"):
        held(runs("a", [1.0]), runs("b", [1.0]), ["weather"])


def test_claims_that_an_answer_contradicts_are_listed():
    optimal = runs("exact", [3.0], claim="optimal")
    never = runs("never", [None], claim="infeasible")
    best = runs("greedy", [2.0])
    records = [*optimal, *never, *best]
    digest = best[0].digest
    claims = bks.gather(records, {digest: 2.5}, {})
    known = {digest: bks.headline(claims[digest].claims)}
    found = conflicts(records, {"exact", "never"}, known)
    assert [(each.by, each.claimed) for each in found] == [
        ("exact", 3.0), ("never", None), ("theoretical", 2.5),
    ]  # fmt: skip
    assert {(each.objective, each.answered_by) for each in found} == {(2.0, "greedy")}
    assert [each.by for each in conflicts(records, {"greedy"}, known)] == ["theoretical"]


def source(records, name):
    return Source(Store("nowhere"), records, name)


def test_what_is_named():
    assert asked("heft") == Asked(None, "heft")
    assert asked("old.jsonl").entry is None
    assert asked("old.jsonl::milp@highs").entry == "milp@highs"


def test_the_mark_may_be_a_part_of_the_name_of_a_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a::b").mkdir()
    assert asked("a::b") == Asked(Path("a::b"), None)
    assert asked("a::b::heft") == Asked(Path("a::b"), "heft")
    assert asked("a::c") == Asked(Path("a"), "c")


def test_pairs_of_entries_and_of_files():
    many = source(comparison(), "here")
    found = pairs([Asked(None, n) for n in ("single", "greedy", "annealing[restarts=4]")], {}, many)
    assert [(a.label, b.label) for a, b in found] == [
        ("single", "greedy"), ("single", "annealing[restarts=4]"),
    ]  # fmt: skip
    old, new = (asked(name) for name in ("old.jsonl", "new.jsonl"))
    sources = {old.place: many, new.place: source(runs("single", [1.0]), "new")}
    found = pairs([old, new], sources, None)
    assert [(a.label, b.label) for a, b in found] == [("old.jsonl::single", "new.jsonl::single")]
    with pytest.raises(CompareError, match="no records of 'greedy'"):
        pairs([old, new], sources, None, ["greedy"])
    with pytest.raises(CompareError, match=r"did you mean 'single'\? \(there are annealing"):
        pairs([Asked(None, "singel"), Asked(None, "greedy")], {}, many)
    with pytest.raises(CompareError, match="say which entry of old"):
        pairs([old, Asked(None, "greedy")], sources, many)
    with pytest.raises(CompareError, match="with itself"):
        pairs([old, old], sources, None)
    with pytest.raises(CompareError, match="at least two"):
        pairs([old], sources, None)
    sources[new.place] = source(runs("other", [1.0]), "new")
    with pytest.raises(CompareError, match="no entry in common"):
        pairs([old, new], sources, None)


def shown(made, most=2):
    console = Console(width=80, file=io.StringIO(), highlight=False)
    compare_text.show(made, console, most)
    return console.file.getvalue()


def test_80_columns_hold_everything_and_the_largest_changes_come_first():
    a = runs("a", [1.0, 1.0, 1.0, 1.0, None, 1.0, 1.0], family="family[x]-with-a-long-name")
    b = runs("b", [0.9, 0.1, 0.5, 2.0, 1.0, 1.0, None], family="family[x]-with-a-long-name")
    made = held(a, b)
    changes = [(p.a, p.b) for p in compare_text.largest(made.pairings[0], 2)]
    assert changes == [(math.inf, 1.0), (1.0, 0.1), (1.0, math.inf), (1.0, 2.0)]
    text = shown(made)
    assert max(map(len, text.splitlines())) <= 80
    for word in ("no answer", "family[x]", "improved", "zero rule wilcox", "0.100"):
        assert word in " ".join(text.split())
    told = compare_text.plain(made)["pairings"][0]
    assert told["lines"][0]["verdict"] == "not shown"
    assert told["pairs"][0]["ratio"] == pytest.approx(0.9)
