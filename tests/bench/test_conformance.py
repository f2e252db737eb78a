"""Conformance: a good method passes, and every fault is found by its own check."""

from __future__ import annotations

import json
import shlex
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from bench.cli import main
from bench.conformance import cases, checks, report, trials
from bench.conformance.checks import CHECKS
from bench.conformance.trials import Planned, Trial
from bench.entries import parse_entry
from heuristics import catalogue
from problems.checker import check as judge
from problems.placement import is_placeable
from problems.rules import RULES
from solvers.method import Context
from tests.bench.synthetic import record

ALL = tuple(RULES)
GOOD = """
from problems.single import best_single
from solvers.method import method

@method(problems=["throughput"])
def good(instance, context):
    found = best_single(instance)
    return None if found is None else found[0]
"""
BAD = """
import subprocess, time
import numpy as np
from problems.answer import Answer
from solvers.method import Unsupported, method

def zeros(instance):
    return Answer.of(np.zeros(instance.n, int))

@method(problems=["throughput"])
def changes(instance, context):
    object.__setattr__(instance, "time", np.zeros_like(instance.time))
    return zeros(instance)

@method(problems=["throughput"])
def tries_to_change(instance, context):
    instance.time[0] = 0

@method(problems=["throughput"])
def tries_harder(instance, context):
    instance.time.setflags(write=True)

@method(problems=["throughput"])
def too_slow(instance, context):
    time.sleep(60)

@method(problems=["throughput"])
def leaves_a_child(instance, context):
    subprocess.Popen(["sleep", "60"])
    return zeros(instance)

@method(problems=["throughput"])
def by_hash(instance, context):
    return Answer.of(np.full(instance.n, hash("a") % instance.K))

@method(problems=["throughput"])
def by_chance(instance, context):
    return Answer.of(np.random.default_rng().integers(0, instance.K, instance.n))

@method(problems=["throughput"])
def raises(instance, context):
    raise ValueError("no luck")

@method(problems=["throughput"])
def gives_up(instance, context):
    raise Unsupported("only trees")

@method(problems=["throughput"], refuses=lambda instance: 1 / 0)
def refuses_badly(instance, context):
    return zeros(instance)

@method(problems=["throughput"])
def lies(instance, context):
    context.claim("infeasible")
    context.report_bound(1e9)
    return zeros(instance)

@method(problems=["throughput"])
def invalid(instance, context):
    return Answer.of([99] * instance.n)

@method(problems=["throughput"])
def silent(instance, context):
    return None
"""


def test_every_edge_has_an_answer_but_the_infeasible_ones():
    found = list(cases.edges(ALL))
    assert len({case.name for case in found}) == len(found) == 16 + 14 + 14 + 12 + 12
    for case in found:
        placements = product(range(case.instance.K), repeat=case.instance.n)
        fits = any(is_placeable(case.instance, np.array(each)) for each in placements)
        assert fits == case.feasible, case.name
    (ordered,) = [case.instance for case in found if case.name.startswith("contiguous")]
    answer = catalogue.load("greedy").run(ordered, Context())
    assert answer is not None
    assert judge(ordered, answer).valid
    assert {case.instance.problem for case in cases.edges(("calls",))} == {"calls"}
    assert next(cases.edges(ALL)).instance.n == 1


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    path = tmp_path_factory.mktemp("methods") / "bad.py"
    path.write_text(BAD)
    return {entry.method: entry for entry in parse_entry(str(path))}


def failed(entry, planned, limit=5.0):
    """Checks that fail on these runs."""
    made = trials.run(entry, planned, limit)
    return {name for name, check in CHECKS.items() if any(what for _, what in check(made))}


@pytest.fixture(scope="module")
def edge():
    """The edges of throughput, and its instance for repeats, by name."""
    both = [*cases.edges(("throughput",)), *cases.medium(("throughput",))]
    return {case.name.removesuffix("-throughput"): case for case in both}


@pytest.mark.parametrize(
    ("name", "on", "check"),
    [
        ("changes", "ties", "does not change the instance"),
        ("tries-to-change", "ties", "does not change the instance"),
        ("tries-harder", "ties", "does not change the instance"),
        ("leaves-a-child", "one-device", "leaves no children"),
        ("raises", "one-device", "ends well"),
        ("invalid", "one-device", "valid"),
        ("invalid", "infeasible", "refuses cleanly"),
        ("refuses-badly", "one-device", "refuses cleanly"),
        ("gives-up", "infeasible", "refuses cleanly"),
        ("lies", "one-device", "bounds and claims hold"),
        ("silent", "one-device", "never worse than single"),
    ],
)
def test_each_fault_is_found(bad, edge, name, on, check):
    assert check in failed(bad[name], [Planned("edge", edge[on])])


def test_one_that_ignores_the_limit(bad, edge):
    found = failed(bad["too-slow"], [Planned("limit", edge["one-node"])], 0.2)
    assert "honours the limit" in found


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("by-hash", "same answer under three hash seeds"),
        ("by-chance", "same answer under one seed"),
    ],
)
def test_one_that_does_not_repeat(bad, edge, name, check):
    case = edge["medium"]
    found = failed(bad[name], [Planned("repeat", case, h) for h in trials.HASH_SEEDS])
    assert check in found
    assert ("same answer under one seed" in found) == (name == "by-chance")


def repeated(*records):
    case = next(cases.edges(("throughput",)))
    made = [
        Trial("repeat", case, h, record=r) for h, r in zip(trials.HASH_SEEDS, records, strict=True)
    ]
    return [what is not None for _, what in checks.same_answer_under_one_seed(made)]


def test_what_the_clock_cut_is_compared_as_far_as_both_got():
    def run(answer, wall_s, *values):
        trace = [(0.1 * i, value) for i, value in enumerate(values)]
        return record(answer=answer, wall_s=wall_s, trace=trace, time_limit_s=10.0)

    short, long = run("a", 9.5, 3.0, 2.0), run("b", 9.5, 3.0, 2.0, 1.0)
    other, cut = run("c", 9.5, 3.0, 1.5, 1.0), run("d", 9.5, 3.0, 1.9)
    assert repeated(short, long, short, short) == [False]
    assert repeated(long, other, short, short) == [True]
    assert repeated(cut, long, short, short) == [False]  # the last one is from where it was cut
    # Not cut by the clock: it should have been the same to the end.
    assert repeated(run("a", 1.0, 3.0), run("b", 1.0, 3.0), short, short) == [True]


@pytest.mark.parametrize(
    ("objective", "single", "holds"),
    [(0.0, 0.0, True), (0.5, 0.5, True), (0.5, 0.0, False), (None, 0.5, False)],
)
def test_a_proof_is_held_against_what_is_known(objective, single, holds):
    case = next(cases.edges(("throughput",)))
    case.__dict__["single"] = single
    claimed = Trial("edge", case, record=record(objective=objective, claim="optimal"))
    findings = [what for _, what in checks.bounds_and_claims_hold([claimed])]
    assert [what is None for what in findings] == [holds]


def test_the_command_passes_a_good_one_and_fails_a_bad_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    # A few of all runs: what is checked is told, counted and made again.
    few = [Planned("edge", case) for case in cases.edges(("throughput",))][:2]
    monkeypatch.setattr(trials, "plan", lambda problems: few)
    Path("good.py").write_text(GOOD)
    assert main(["conformance", "good.py", "--time", "5s"]) == 0
    out, err = capsys.readouterr()
    assert "good: 2 runs, 0 refused" in out
    assert ", 0 failed" in out
    assert err.splitlines() == ["good: 1 of 2 runs", "good: 2 of 2 runs"]
    Path("bad.py").write_text(BAD)
    assert main(["conformance", "bad.py:invalid", "--time", "5s", "--json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["passed"], told["runs"], told["checked"]["valid"]) == (False, 2, 2)
    faults = [fault for fault in told["faults"] if fault["check"] == "valid"]
    assert [fault["instance"] for fault in faults] == [
        "one-node-throughput",
        "one-device-throughput",
    ]
    _, *again = shlex.split(faults[0]["command"])
    assert main(again) == 1
    assert "invalid (device)" in capsys.readouterr().out


def test_a_program_is_checked_like_any(tmp_path, edge):
    path = tmp_path / "zeros.py"
    path.write_text(
        "import json, sys\n"
        "n = len(json.load(open(sys.argv[1]))['graph']['nodes'])\n"
        "print(json.dumps({'device': [0] * n}))\n"
    )
    (entry,) = parse_entry(f"exec:python3 {path}")
    assert failed(entry, [Planned("edge", edge["one-device"])]) == set()
    assert "refuses cleanly" in failed(entry, [Planned("edge", edge["infeasible"])])


def test_a_report_of_nothing_is_no_pass():
    assert not report.Report("x", 0, 3, {}, []).passed
    assert report.Report("x", 1, 0, {}, []).passed
