"""``placebench compare`` and ``placebench export records`` as their users meet them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pandas as pd
import pytest

import bench
from bench.entries import load_method, parse_entry
from bench.job import Job
from bench.leaderboard import gather
from bench.records import Record, Store, key_of
from problems.answer import to_file
from problems.checker import check
from problems.files import encode
from solvers.method import Context

SINGLE, GREEDY = "single", "greedy"


@pytest.fixture(scope="module")
def published(library, tmp_path_factory):
    """Records of two entries on all instances of the small library, published; without runs."""
    folder = tmp_path_factory.mktemp("published")
    store = Store(folder / "runs")
    environment = store.put_environment({"cpu": "A CPU", "cores": 4})
    records = []
    for entry in library.entries():
        instance = library.load(entry.id)
        for name in (GREEDY, SINGLE):
            reported = []
            answer = load_method(name).run(instance, Context(on_answer=reported.append))
            answer = answer or reported[-1]
            job = Job(instance, parse_entry(name)[0], 0, 1.0, None, 1, "0.1.0", environment)
            record = job.record(
                termination="completed",
                check="ok",
                objective=check(instance, answer).objective,
                answer=store.put_answer(to_file(answer, instance.digest)),
                wall_s=0.1,
            )
            store.put(record)
            records.append(record)
    return gather.publish(gather.Source(store, records, "there"), "runs", folder / "results")


def changed(published, name, change):
    """A copy beside it with changed records."""
    lines = [msgspec.json.decode(line, type=Record) for line in published.read_bytes().splitlines()]
    path = published.with_name(name)
    path.write_bytes(b"".join(encode(change(record)) + b"\n" for record in lines))
    return path


def test_two_entries_of_a_file(cli, published, monkeypatch):
    monkeypatch.setattr("bench.cli.output.PIPE_COLUMNS", 80)
    code, out, err = cli("compare", SINGLE, GREEDY, "--records", published)
    assert (code, err) == (0, "")
    assert out.startswith("single -> greedy\n1 s, threads 1, memory limit none\n")
    assert max(map(len, out.splitlines())) <= 80
    assert "largest changes" in out
    code, out, _ = cli("compare", SINGLE, GREEDY, "--records", published, "--json")
    assert code == 0
    (told,) = json.loads(out)["pairings"]
    total = told["lines"][0]
    assert (total["title"], total["instances"], total["worse"]) == ("all", 6, 0)
    assert total["improved"] + total["tied"] == 6
    report = bench.compare(SINGLE, GREEDY, records=published)
    assert [pair.ratio for pair in report.pairings[0].pairs] == [p["ratio"] for p in told["pairs"]]


def test_the_same_file_is_tied_with_a_copy_and_with_a_store(cli, published):
    copy = changed(published, "copy.jsonl", lambda record: record)
    for other in (copy, published.parent.parent.parent / "runs"):
        code, out, _ = cli("compare", published, other, "--json")
        assert code == 0
        told = json.loads(out)["pairings"]
        assert [each["b"] for each in told] == [f"{other}::greedy", f"{other}::single"]
        assert {line["verdict"] for p in told for line in p["lines"]} <= {"tied", "no verdict", ""}
    code, out, _ = cli("compare", published, copy, "-m", GREEDY, "-i", "problem=latency", "--json")
    (told,) = json.loads(out)["pairings"]
    assert [line["instances"] for line in told["lines"]] == [3]
    code, out, _ = cli("compare", f"{published}::single", f"{copy}::greedy", "--json")
    assert code == 0
    assert json.loads(out)["pairings"][0]["a"] == f"{published}::single"


def test_records_at_hand_are_compared_in_python(cli, published):
    store = published.parent.parent.parent / "runs"
    mine = [msgspec.json.decode(line, type=Record) for line in published.read_bytes().splitlines()]
    greedy = [record for record in mine if record.entry == GREEDY]
    report = bench.compare(greedy, greedy, store=store)
    assert report.pairings[0].lines[0].tied == 6


def longer(record):
    """The record as if it had been run with 60 s."""
    parts = ("digest", "method", "options", "source", "seed", "memory_limit_bytes", "threads",
             "suite")  # fmt: skip
    key = key_of(time_limit_s=60.0, **{name: getattr(record, name) for name in parts})
    return msgspec.structs.replace(record, time_limit_s=60.0, key=key)


def test_other_limits_are_a_usage_error_unless_allowed(cli, published):
    other = changed(published, "longer.jsonl", longer)
    code, out, err = cli("compare", published, other, "-m", GREEDY)
    assert (code, out) == (2, "")
    assert "differ in time-limit: 1 s / 60 s; --allow time-limit compares them" in err
    code, out, _ = cli("compare", published, other, "-m", GREEDY, "--allow", "time-limit")
    assert code == 0
    assert "time-limit differs and was allowed to: 1 s / 60 s" in out


def test_a_forged_record_and_a_false_proof_are_failures(cli, published):
    forged = changed(
        published,
        "forged.jsonl",
        lambda r: r if r.check != "ok" else msgspec.structs.replace(r, objective=r.objective / 2),
    )
    code, _, err = cli("compare", published, forged)
    assert code == 2  # nothing is left of it
    assert "no record there holds" in err
    half = changed(
        published,
        "half.jsonl",
        lambda r: msgspec.structs.replace(r, objective=r.objective / 2) if r.entry == GREEDY else r,
    )
    code, _, err = cli("compare", published, half)
    assert code == 1
    assert err.count("its answer has") == 6
    lied = changed(
        published,
        "lied.jsonl",
        lambda r: msgspec.structs.replace(r, claim="optimal") if r.entry == SINGLE else r,
    )
    code, out, _ = cli("compare", SINGLE, GREEDY, "--records", lied)
    assert code == 1
    assert "in conflict: a checked answer contradicts the claim" in out
    assert "single claims that nothing lies below" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([SINGLE], "two things to compare"),
        ([SINGLE, "gredy"], "did you mean 'greedy'?"),
        ([SINGLE, "missing.jsonl"], "cannot be read"),
        ([SINGLE, GREEDY, "--allow", "weather"], "valid are time-limit"),
        ([SINGLE, GREEDY, "-i", "smokey"], "did you mean 'smoke'?"),
    ],
)
def test_usage_errors_are_one_line(cli, published, arguments, says):
    code, out, err = cli("compare", *arguments, "--records", published)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1


def test_records_are_exported(cli, published):
    for end in ("parquet", "csv", "jsonl"):
        code, out, err = cli("export", "records", "--records", published, "-o", f"runs.{end}")
        assert (code, out, err) == (0, f"runs.{end}: 12 records\n", "")
    table = pd.read_parquet("runs.parquet")
    assert sorted(table.entry.unique()) == [GREEDY, SINGLE]
    assert table.gap_bound.between(0, 1).all()
    assert pd.read_csv("runs.csv").objective_s.tolist() == table.objective_s.tolist()
    code, out, _ = cli("compare", SINGLE, GREEDY, "--records", published, "--json")
    code, out, _ = cli("export", "records", "--records", published, "-o", "-")
    assert (code, out) == (0, Path("runs.csv").read_text())
    code, _, err = cli("export", "records", "--records", published, "-o", "runs.xlsx")
    assert code == 2
    assert "must end in .parquet, .csv, .jsonl" in err
    code, _, err = cli("export", "records", "--records", published, "-o", published)
    assert code == 2
    assert "would be overwritten" in err


def test_records_without_their_answers_are_one_error(cli, published, tmp_path):
    alone = tmp_path / "export" / "mine" / "alone.jsonl"
    code, _, _ = cli("export", "records", "--records", published, "-o", alone)
    assert code == 0
    for command in (
        ("compare", SINGLE, GREEDY, "--records", alone),
        ("compare", published, alone),
        ("leaderboard", "--records", alone, "-o", tmp_path / "board"),
        ("bks", "update", "--records", alone),
    ):
        code, out, err = cli(*command)
        assert code == 2, command
        assert out == ""
        assert err.count("\n") == 1
        assert f"{alone}: the answers of its records are missing" in err
        assert str(tmp_path / "export" / "answers") in err
