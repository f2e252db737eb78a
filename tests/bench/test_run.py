"""The torture table: one misbehaving method, one honest row, nothing left behind."""

from __future__ import annotations

import math
import signal
import tempfile

import pytest

from bench import cgroups, results, torture
from bench.cases import CASES, LIMIT_S
from bench.cli import progress
from bench.entries import load_method, parse_entry
from bench.records import Store
from bench.suite import Finished, Skipped, refusal, run_suite
from bench.supervise import GRACE_S, soft_limit
from problems.answer import from_file
from problems.checker import check
from tests.bench import harness

WITH_MEMORY_LIMIT = [name for name, case in CASES.items() if case.termination == "memory-limit"]
ALONE = [name for name, case in CASES.items() if case.limit_s != LIMIT_S]
SIDE_BY_SIDE = [name for name in CASES if name not in ALONE]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Every method once, side by side on one store."""
    store = tmp_path_factory.mktemp("torture")
    return harness.run(store, *SIDE_BY_SIDE, time_limit_s=LIMIT_S)


@pytest.mark.parametrize("name", SIDE_BY_SIDE)
def test_row(table, name):
    row = table[name]
    rule = row.violations[0][0] if row.violations else ""
    found = (row.termination, row.check, row.signal, rule, row.orphans)
    assert found == CASES[name].row, (row.error, row.log)
    assert (row.objective is not None) == (row.check == "ok")
    assert row.overrun_s < GRACE_S + 0.5  # what the machine adds; nearly always far less
    assert (row.overrun_s > 0) or row.termination != "time-limit"
    assert row.load_s > 0 or "while loading" in row.error
    assert 0 <= row.wall_s < LIMIT_S + 1.5
    pids = harness.printed_pids(row)
    assert len(pids) >= row.orphans
    assert not any(map(harness.is_alive, pids))


@pytest.mark.parametrize(
    "name", ["kills-its-parent", *(each for each in ALONE if each not in WITH_MEMORY_LIMIT)]
)
def test_others_are_unharmed_beside(tmp_path, name):
    row = torture.row(name, CASES[name], tmp_path)
    assert row["expected"], row
    assert (row["others"], row["left"]) == (3, 0)


def test_the_table_is_a_page(tmp_path, capsys):
    arguments = ["--only", "segfaults", "claims-nonsense", "--save", "--output", str(tmp_path)]
    assert torture.main(arguments) == 0
    page = (tmp_path / "torture.md").read_text()
    assert capsys.readouterr().out == page
    assert "2 of 2 ended as they should" in page
    row = (
        "| `segfaults` | reads address 0 | crash | none | SIGSEGV |  | 0 s | 0 | 0 | 3 of 3 | yes |"
    )
    assert row in page
    assert (tmp_path / "torture.csv").read_text().count("\n") == 3


@pytest.mark.parametrize("name", ["leaves-a-fugitive", "leaves-a-stranger", "leaves-many"])
def test_nobody_gets_away_without_control_groups(tmp_path, monkeypatch, name):
    monkeypatch.setattr(cgroups, "make", lambda tag, limit: None)
    row = harness.run(tmp_path, name)[name]
    assert row.orphans == CASES[name].orphans == len(harness.printed_pids(row))
    assert not any(map(harness.is_alive, harness.printed_pids(row)))


def test_what_a_method_says_of_itself_is_kept_and_not_used(table):
    row, honest = table["lies"], table["good"]
    assert row.objective == honest.objective
    assert (row.claim, row.claimed_objective, row.claim_note) == ("optimal", 1e-9, "trust me")
    assert row.claimed_bound == 1e9
    assert [bound for _, bound in row.bounds] == [1e9]
    assert (honest.claim, honest.claimed_objective, honest.claimed_bound) == ("", None, None)


def test_errors_say_what_happened(table):
    assert "RuntimeError: no such ? luck" in table["raises"].error
    assert "Unsupported: only trees" in table["gives-up"].error
    assert "RecursionError" in table["recurses"].error
    assert "SystemExit" in table["exits"].error
    assert "read-only" in table["changes-the-instance"].error
    assert "exit status 0" in table["leaves"].error
    assert "Segmentation fault" in table["segfaults"].log  # faulthandler's
    assert "segfaults" in table["segfaults"].log
    assert "NaN" in table["returns-nan"].violations[0][1]
    assert "list is not an Answer" in table["returns-a-list"].violations[0][1]
    assert "answers came after the limit" in table["answers-after-the-limit"].log
    assert table["answers-after-the-limit"].trace == []


def test_every_failed_run_says_why_on_one_line(table):
    names = {
        "raises": "RuntimeError", "raises-lines": "ValueError: first second", "exits": "SystemExit",
        "gives-up": "Unsupported", "recurses": "RecursionError", "segfaults": "SIGSEGV",
        "answers-then-segfaults": "SIGSEGV", "aborts": "SIGABRT", "kills-itself": "SIGKILL",
        "leaves": "exit status 0", "changes-the-instance": "ValueError",
        "claims-nonsense": "claim 'perfect' is not one of optimal, feasible, infeasible, bound",
    }  # fmt: skip
    for name, row in table.items():
        said = results.reason(row)
        assert bool(said) == (results.failed(row) or row.check != "ok"), name
        assert not said or said.isprintable()
        assert names.get(name, "") in said
        if results.failed(row):
            assert not progress.outcome(row).startswith("ok")
    assert "\x1b[2J" in table["raises-lines"].error  # JSON escapes it


@pytest.mark.parametrize("megabytes", [1, 100])
def test_no_memory_before_the_clock_is_the_memory_limit(tmp_path, megabytes):
    row = harness.run(tmp_path, "good", memory_limit_bytes=megabytes << 20)["good"]
    assert row.wall_s == 0.0
    assert row.termination == "memory-limit", (row.error, row.log)
    assert "while loading: MemoryError" in results.reason(row)


def test_an_import_without_memory_is_the_memory_limit(tmp_path):
    path = tmp_path / "greedy_import.py"
    path.write_text(
        "import os\nfrom solvers.method import method\n"
        "held = bytearray(8 << 30) if 'PLACEBENCH_RUN' in os.environ else None\n"
        "@method(problems=['throughput'])\ndef never_starts(instance, context):\n    return None\n"
    )
    (row,) = run_suite(
        [harness.instance()], parse_entry(str(path)), store=Store(tmp_path / "runs"),
        memory_limit_bytes=1 << 30,
    )  # fmt: skip
    assert (row.termination, row.check) == ("memory-limit", "none"), (row.error, row.log)
    assert results.reason(row) == "memory-limit: while loading: MemoryError"


def test_floods_are_cut_short(table, tmp_path):
    row = harness.run(tmp_path, "floods-output", time_limit_s=20.0)["floods-output"]
    assert (row.termination, row.check) == ("completed", "ok")
    assert len(row.log) < 8192
    assert row.log.endswith("the end\n")
    row = table["floods-reports"]
    assert len(row.trace) == 1  # the same answer every time: one improvement
    assert 1 <= len(row.bounds) <= 200
    assert row.claimed_bound == row.bounds[-1][1] == max(bound for _, bound in row.bounds)


def test_a_method_that_stops_at_its_deadline_is_in_time(tmp_path):
    row = harness.run(tmp_path, "until-deadline", time_limit_s=4.0)["until-deadline"]
    assert (row.termination, row.check) == ("completed", "ok")
    assert soft_limit(4.0) <= row.wall_s <= 4.0


def test_last_answer_counts_and_the_trace_keeps_the_good_one(table):
    row = table["spoils-a-good-answer"]
    assert row.objective is None
    assert [value for _, value in row.trace] == [table["good"].objective]


def test_answers_are_stored(tmp_path):
    store = Store(tmp_path)
    row = harness.run(tmp_path, "good", problem="latency")["good"]
    instance = harness.instance("latency")
    file = store.get_answer(row.answer)
    assert file.instance == instance.digest == row.digest
    assert check(instance, from_file(file)).objective == row.objective
    assert row.completed_by_dispatch
    assert row.trace == [(row.trace[0][0], row.objective)]


def test_start_times_that_are_no_numbers(tmp_path):
    row = harness.run(tmp_path, "returns-nan-starts", problem="latency")["returns-nan-starts"]
    assert (row.check, row.violations[0][0], row.answer) == ("invalid", "start", "")


@pytest.mark.parametrize("name", WITH_MEMORY_LIMIT)
def test_memory_limit(tmp_path, name):
    limit = 1 << 30
    row = harness.run(tmp_path, name, memory_limit_bytes=limit, time_limit_s=10.0)[name]
    assert row.termination == "memory-limit", (row.error, row.log)
    assert row.wall_s < 9
    assert row.memory_limit_bytes == limit
    if name == "allocates-at-once":
        assert row.check == "ok"  # of what it had reported before
    if name == "allocates-by-and-by":
        assert 0.5 * limit < row.peak_bytes <= limit
    if name == "allocates-in-children":
        assert row.peak_bytes > limit


def test_reports_from_threads_arrive_whole(tmp_path):
    row = harness.run(tmp_path, "reports-from-threads", time_limit_s=10.0)["reports-from-threads"]
    assert (row.termination, row.check, row.claim, row.log) == ("completed", "ok", "feasible", "")


def test_randomness_has_one_source(tmp_path):
    rows = [
        harness.run(tmp_path / str(i), "draws", seeds=[seed])["draws"]
        for i, seed in enumerate([3, 3, 4])
    ]
    said = [row.log.splitlines()[0] for row in rows]
    assert said[0] == said[1] != said[2]


def test_files_in_the_working_folder_go_with_the_run(tmp_path):
    row = harness.run(tmp_path, "litters")["litters"]
    _, here, temporary = row.log.split()
    assert here == temporary
    assert not harness.Path(here).exists()


def test_a_run_cannot_reach_the_instances_of_others(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()  # of its own: what it looks for may be another harness's
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    done = harness.run(
        tmp_path, "overwrites-what-it-finds", seeds=range(3), time_limit_s=5.0, jobs=2
    )
    row = done["overwrites-what-it-finds"]
    assert (row.termination, row.check) == ("completed", "ok"), (row.error, row.log)
    assert "refused" in row.log  # it did find the sealed memory
    assert ".pickle" not in row.log
    after = harness.run(tmp_path, "good")["good"]
    assert (after.termination, after.check, after.objective) == ("completed", "ok", row.objective)


def test_methods_that_do_not_apply_are_skipped_and_say_why(tmp_path):
    events = []
    done = harness.run(
        tmp_path, "refuses-all", "needs-what-is-not-there", "good", progress=events.append
    )
    assert list(done) == ["good"]
    reasons = [event.reason for event in events if isinstance(event, Skipped)]
    assert reasons == [
        "refuses-all is for latency, not throughput",
        "needs-what-is-not-there needs no_such_module_anywhere, which is not installed",
    ]


def test_the_reason_of_a_refusal_is_one_plain_line():
    (entry,) = harness.entries("refuses-all")
    method = load_method(entry.method, entry.file)
    assert refusal(method, harness.instance("latency")) == "never"


def test_an_import_that_fails_in_the_process_is_a_row(table):
    row = table["cannot-be-imported"]
    assert (row.termination, row.check, row.wall_s) == ("error", "none", 0.0)
    assert "no module named gurobi" in row.error
    assert "while loading" in row.error


def test_loading_has_its_own_limit(tmp_path):
    row = harness.run(tmp_path, "good", load_limit_s=0.01)["good"]
    assert row.termination == "error"
    assert "loading and warm-up took longer than their limit of 0.01 s (--warm-time)" in row.error
    assert row.load_s > 0
    assert row.wall_s == 0


def test_a_harness_that_ignores_sigterm_ends_methods_with_it(tmp_path):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as a service or a script may have it
    assert harness.run(tmp_path, "sleeps", time_limit_s=0.5)["sleeps"].signal == "SIGTERM"


def test_cpu_and_memory_are_measured(tmp_path):
    row = harness.run(tmp_path, "spins", time_limit_s=1.0, jobs=1)["spins"]
    assert 0.1 < row.cpu_s < 1.3  # a second of spinning, on a machine that others use too
    assert 10 << 20 < row.peak_bytes < 200 << 20
    assert math.isclose(row.wall_s, 1.0 + row.overrun_s)


def test_progress_is_told_in_order(tmp_path):
    events = []
    run_suite(
        [harness.instance()], harness.entries("good"), store=Store(tmp_path), seeds=[1, 2],
        time_limit_s=LIMIT_S, progress=events.append,
    )  # fmt: skip
    kinds = [type(event).__name__ for event in events]
    assert kinds == ["Planned", "Started", "Finished", "Started", "Finished"]
    assert (events[0].to_run, events[0].reused, events[0].skipped) == (2, 0, 0)
    assert [event.run.index for event in events if isinstance(event, Finished)] == [0, 1]
