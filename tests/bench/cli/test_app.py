"""The command line as its users meet it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import msgspec
import pytest

from bench import machine
from bench.cli import output
from bench.leaderboard import gather
from bench.records import Store
from problems import files
from problems.answer import Answer, to_file
from problems.checker import check
from problems.generate.random import random_bundle
from tests.bench import harness

HEAVY = ("numpy", "pandas", "scipy", "numba", "plotly", "msgspec", "networkx", "torch", "pyomo")


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from bench.cli import main; main(['--help']);"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "leaderboard" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "nonsense"),
        (["list", "--nonsense"], "No such option"),
        (["list", "houses"], "can list instances, entries, platforms, selections"),
        (["list", "-i", "smokey"], "did you mean 'smoke'?"),
        (["run", "-m", "heff"], "did you mean 'heft'?"),
        (["run", "--time", "soon"], "time 'soon'"),
        (["run", "--memory", "much"], "size 'much'"),
        (["run", "--seed", str(2**31)], "2**31"),
        (["run", "--seed", str(2**32), "--seeds", "2"], f"--seed {2**32} is too large"),
        (["run", "--seed", str(2**31 - 1), "--seeds", "2"], "for 2 seeds"),
        (["run", "--jobs", "0"], "--jobs"),
        (["run", "--jobs", "1000000"], "--jobs"),
        (["run", "--memory", "1MB"], "at least 384 MiB"),
        (["run", "--warm-time", "soon"], "time 'soon'"),
        (["run", "--store", ""], "--store: the value is empty"),
        (["run", "--store="], "--store: the value is empty"),
        (["leaderboard", "-o", " "], "-o: the value is empty"),
        (["show", ""], "the value is empty"),
        (["run", "-m", "heft", "-m", ",,"], "no entries in ',,'"),
        (["run", "-m", "."], "'.' is a folder"),
        (["show", "missing.json"], "no file 'missing.json'"),
        (["leaderboard", "--store", "missing"], "no records there"),
        (["leaderboard", "--records", "missing.jsonl"], "cannot be read"),
        (["leaderboard", "--publish", "../x"], "cannot publish"),
        (["check", "missing.json"], "no file"),
        (["check", "."], "'.' is a folder"),
        (["run", "--memory", "1e30"], "too large"),
        (["list", "entries", "-i", "smoke"], "-i chooses instances"),
        (["list", "platforms", "-i", "smoke"], "-i chooses instances"),
    ],
)
def test_usage_errors_are_one_line(cli, arguments, message):
    code, out, err = cli(*arguments)
    assert code == 2
    assert err.startswith("placebench: ")
    assert message in err
    assert len(err.splitlines()) == 1
    assert out == ""


def test_a_fault_of_the_suite_is_not_taken_for_a_usage_error(cli, monkeypatch):
    def fault(*_):
        raise ValueError("a bound above an answer")

    monkeypatch.setattr("bench.cli.listing.select", fault)
    with pytest.raises(ValueError, match="a bound above"):
        cli("list", "-i", "smoke")


def test_list(cli, library):
    code, out, _ = cli("list", "--json")
    assert code == 0
    assert [each["id"] for each in json.loads(out)] == [e.id for e in library.entries()]
    assert "6 instances" in cli("list")[1]
    assert "2 instances" in cli("list", "-i", "smoke")[1]
    assert "heft" in cli("list", "entries")[1]
    assert "random0-8-t" in cli("list", "platforms")[1]
    assert "smoke" in cli("list", "selections")[1]
    (told,) = json.loads(cli("list", "-i", library.entries()[0].id, "--json")[1])
    assert told["headroom"] == library.entries()[0].headroom
    assert told["features"]["width"] == library.entries()[0].features.width
    assert "6 instances" in cli("list", "nodes>=8")[1]


def test_list_fits_into_80_columns(cli, monkeypatch):
    monkeypatch.setattr("bench.cli.output.PIPE_COLUMNS", 80)
    out = cli("list")[1]
    assert max(map(len, out.splitlines())) <= 80
    assert "CCR" not in out
    monkeypatch.setattr("bench.cli.output.PIPE_COLUMNS", 150)
    assert "CCR" in cli("list")[1]


def test_show_and_bounds(cli, library):
    name = library.entries()[0].id
    code, out, _ = cli("show", name)
    assert code == 0
    assert name in out
    assert "modelled" in out
    assert f"depth {library.entries()[0].features.depth}, width" in out
    (told,) = json.loads(cli("show", name, "--json")[1])
    assert told["bound_s"] == library.entries()[0].lower_bound_s
    assert told["features"] == msgspec.to_builtins(library.entries()[0].features)
    code, out, _ = cli("bounds", name, "--json")
    assert code == 0
    assert max(each["value_s"] or 0.0 for each in json.loads(out)) == told["bound_s"]


def test_check(cli, library, tmp_path):
    entry = next(e for e in library.entries() if e.problem == "latency")
    instance = library.load(entry.id)
    answer = Answer.of([0] * instance.n)
    good, bad, broken = (tmp_path / f"{name}.json" for name in ("good", "bad", "broken"))
    files.write(good, to_file(answer, instance.digest))
    code, out, _ = cli("check", good)
    assert code == 0
    assert repr(check(instance, answer).objective) in out
    assert json.loads(cli("check", good, "--json")[1])["valid"] is True
    files.write(bad, to_file(Answer.of([99] * instance.n), instance.digest))
    code, out, _ = cli("check", bad)
    assert code == 1
    assert out.startswith("invalid (device)")
    broken.write_text("{}")
    assert cli("check", broken)[0] == 1
    code, _, err = cli("check", good, "--instance", library.entries()[0].id)
    assert code == 2
    assert "answers the instance" in err


def test_a_bundle_is_listed(cli, tmp_path):
    files.write(tmp_path / "mine.json", random_bundle(1, n=6, problem="latency"))
    (told,) = json.loads(cli("list", "-i", "mine.json", "--json")[1])
    assert (told["n"], told["problem"]) == (6, "latency")
    assert "1 instance;" in cli("list", "-i", "mine.json")[1]


@pytest.mark.parametrize(
    "arguments", [(), ("bks",), ("capture",), ("capture", "-h"), ("capture", "links", "-h")]
)
def test_every_help_looks_the_same(cli, arguments):
    code, out, err = cli(*arguments)
    assert code == (0 if "-h" in arguments else 2)
    assert (out + err).startswith("Usage: placebench")
    assert "-h, --help" in out + err


SILENT = """
from solvers.method import method

@method(problems=["throughput", "latency"])
def silent(instance, context):
    return None
"""


def test_no_answer_is_a_result_that_is_counted(cli, tmp_path):
    assert "Exit code 1: a run crashed" in cli("run", "-h")[1]
    (tmp_path / "silent.py").write_text(SILENT)
    code, out, _ = cli("run", "-i", "smoke", "-m", "silent.py", "-m", "single", "--time", "1")
    assert code == 0
    assert "no answer: 2 runs ended without one in time" in out


WRONG = """
from problems.answer import Answer
from solvers.method import method

@method(problems=["throughput", "latency"])
def wrong(instance, context):
    return Answer.of([99] * instance.n)
"""


def _files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_run_then_leaderboard_then_publish(cli, tmp_path):
    code, out, _ = cli("run", "-i", "smoke", "-m", "greedy,heft", "--time", "1s", "--jobs", "2")
    assert code == 0
    assert "[3/3] ok" in out
    assert "for latency, not throughput: heft (1 run)" in out
    assert out.splitlines()[-1] == "records: results/runs   next: placebench leaderboard"
    code, out, _ = cli("run", "-i", "smoke", "-m", "greedy", "--time", "1s")
    assert code == 0
    assert "0 runs of at most 1 s, 1 at a time; 2 reused" in out

    # A user's own runs never write over the published pages.
    assert cli("leaderboard")[0] == 0
    assert (tmp_path / "results" / "runs" / "page" / "index.html").is_file()
    assert not (tmp_path / "results" / "leaderboard").exists()
    code, out, _ = cli("leaderboard", "-o", "page", "--publish", "first")
    assert code == 0
    assert "throughput, contiguous" in out
    written = _files(tmp_path / "page")
    tables = {"index.html", "leaderboard.md", "leaderboard.csv", "leaderboard.tex"}
    assert {name for name in written if "/" not in name} == tables
    assert sum(name.startswith("instances/") for name in written) == 2
    assert sum(name.startswith("entries/") for name in written) == 2
    published = tmp_path / "results" / "records" / "first.jsonl"
    assert len(published.read_text().splitlines()) == 3
    # The published file gives the same pages, byte for byte.
    assert cli("leaderboard", "--records", published, "-o", "again")[0] == 0
    assert _files(tmp_path / "again") == written
    assert cli("leaderboard", "--records", published)[0] == 0
    assert (tmp_path / "results" / "leaderboard" / "leaderboard.md").is_file()

    code, out, _ = cli("bks", "update", "--records", published)
    assert code == 0
    assert "2 of 2 instances changed" in out
    assert "0 of 2 instances changed" in cli("bks", "update")[1]
    assert "greedy" in cli("bks", "list")[1]
    assert cli("bks", "verify")[0] == 0
    for path in tmp_path.glob("results/answers/*/*"):
        path.unlink()
    assert cli("bks", "verify")[0] == 1


def test_a_failed_run_gives_exit_code_1_and_its_reason(cli, tmp_path):
    (tmp_path / "wrong.py").write_text(WRONG)
    code, out, _ = cli("run", "-i", "*/latency", "-m", "wrong.py", "-m", "single", "--time", "1")
    assert code == 1
    assert "failed: 3 runs" in out
    assert "invalid (device)" in out
    code, out, err = cli("run", "-i", "smoke", "-m", "wrong.py", "--time", "1", "--json")
    assert code == 1
    assert {each["check"] for each in json.loads(out)["records"]} == {"invalid"}
    assert "runs of at most 1 s" in err


def test_nothing_to_run_is_a_failure(cli):
    code, _, err = cli("run", "-i", "problem=throughput", "-m", "heft", "--time", "1")
    assert code == 1
    assert "every run was skipped" in err


def test_interrupt_keeps_what_is_finished(library, tmp_path):
    code = (
        "import sys; from pathlib import Path; import problems.catalogue as c;"
        f"c.ROOT = Path({str(library.root)!r});"
        "from bench.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    store = tmp_path / "runs"
    command = [sys.executable, "-c", code, "run", "-i", "full", "-m", "single,random"]
    command += ["--time", "60", "--store", str(store)]
    with harness.start(command, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 120
        while not list(store.glob("records/*/*.json")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert re.search(r"\d+ finished runs? (is|are) kept in", err)
    assert "Traceback" not in err


def test_a_contradiction_is_named_and_the_rest_ranked(cli, library, tmp_path, monkeypatch):
    assert cli("run", "-i", "smoke", "-m", "greedy,single", "--time", "1s")[0] == 0
    first, second = library.selection("smoke")
    entries = {entry.id: entry for entry in library.entries()}
    bounds = {entries[first].digest: 1e6, entries[second].digest: 0.0}
    monkeypatch.setattr(gather.Known, "of", lambda *_: gather.Known(bounds))
    code, out, _ = cli("leaderboard")
    assert code == 1
    assert f"In conflict, left out: {first}: nothing is said to lie below 1000000.0 s" in out
    assert f"left out: {second}" not in out
    assert "greedy" in out
    assert len(json.loads(cli("leaderboard", "--json")[1])) == 2  # the answers are ranked
    page = (tmp_path / "results" / "runs" / "page" / "index.html").read_text()
    assert f"In conflict, left out: {first}: nothing" in page
    assert cli("run", "-i", "smoke", "-m", "greedy,single", "--time", "1s")[0] == 1


def test_edited_and_foreign_files_are_set_aside(cli, tmp_path):
    assert cli("run", "-i", "smoke", "-m", "greedy,single", "--time", "1s")[0] == 0
    store = Store(tmp_path / "results" / "runs")
    records = list(store.records())
    edited = next(record for record in records if record.entry == "single")
    # Above every bound and below the truth: only the stored answer tells.
    store.put(msgspec.structs.replace(edited, objective=edited.objective * 0.999999))
    (store.root / "records" / "zz" / "notes.json").mkdir(parents=True)
    (store.root / "records" / "zz" / "other.json").write_text("{}")
    (store.root / "environments" / "broken.json").write_text('{"calibration": 3}')
    code, out, err = cli("leaderboard")
    assert code == 1
    assert f"{len(records) - 1} runs" in out
    assert len(err.splitlines()) == 4
    for word in ("notes.json", "other.json", "broken.json", "single on"):
        assert sum(word in line for line in err.splitlines()) == 1
    # A run takes it for none and makes it again.
    code, out, _ = cli("run", "-i", "smoke", "-m", "greedy,single", "--time", "1s")
    assert code == 0
    assert f"1 run of at most 1 s, 1 at a time; {len(records) - 1} reused" in out


def test_a_fault_gives_no_orders_to_the_terminal(capsys):
    output.faults(["\x1b[31mred\x1b]0;title\x07 on\nx, seed 0: edited", "long " * 1000])
    first, second = capsys.readouterr().err.splitlines()
    assert first == "placebench: set aside: red on x, seed 0: edited"
    assert len(second) < 1100


def test_many_faults_are_counted(capsys):
    output.faults([f"file {i}" for i in range(12)])
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11
    assert lines[-1].endswith("... and 2 more")


def test_what_comes_next_can_be_pasted_into_a_shell(cli):
    _, out, _ = cli("run", "-i", "smoke", "-m", "single", "--time", "1s", "--store", "my runs")
    assert out.splitlines()[-1].endswith("next: placebench leaderboard --store 'my runs'")


def test_where_nothing_can_be_written_is_said_before_any_run(cli, tmp_path):
    (tmp_path / "file").write_text("")
    for place in ("/dev/null", "/proc/none", "file", "file/below"):
        code, out, err = cli("run", "-i", "smoke", "-m", "single", "--store", place)
        assert (code, out) == (1, "")
        assert err.startswith(f"placebench: {place}: ")
        assert len(err.splitlines()) == 1
    assert cli("run", "-i", "smoke", "-m", "single", "--time", "1s")[0] == 0
    for place in ("/dev/null", "file"):
        code, out, err = cli("leaderboard", "-o", place)
        assert (code, out) == (1, "")
        assert err == f"placebench: {place}: is not a folder\n"
    (tmp_path / "page" / "index.html").mkdir(parents=True)
    code, _, err = cli("leaderboard", "-o", "page")
    assert code == 1
    assert "page/index.html: Is a directory" in err


@pytest.mark.parametrize(
    ("tail", "code", "message"),
    [("> /dev/full", 1, "placebench: output: No space left on device\n"), ("| true", 0, "")],
)
@pytest.mark.parametrize("arguments", ["list", "list --json", "--help"])
def test_an_output_that_takes_nothing(arguments, tail, code, message):
    # Help has little to say: the reader may still take it before it is gone, which is as well.
    command = f"set -o pipefail; {sys.executable} -m bench.cli {arguments} {tail}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, message)


def test_a_run_that_nobody_reads_ends_and_says_so(tmp_path):
    # `head` takes the plan and leaves; the second of three runs finds nobody.
    command = (
        f"set -o pipefail; {sys.executable} -m bench.cli run -i smoke -m single,greedy,annealing"
        f" --time 1s --store {tmp_path} | head -1"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 141
    assert "of at most 1 s" in done.stdout
    assert done.stderr.splitlines()[-1].startswith("placebench: nobody reads the output any more; ")


def test_a_pipe_in_place_of_a_record_is_not_waited_for(cli, tmp_path):
    arguments = ("run", "-i", "smoke", "-m", "single", "--time", "1s")
    assert cli(*arguments)[0] == 0
    path = next((tmp_path / "results" / "runs").glob("records/*/*.json"))
    path.unlink()
    os.mkfifo(path)
    assert "is not a regular file" in "".join(map(str, cli("leaderboard", "--quiet")))
    assert cli(*arguments)[0] == 0
    assert path.is_file()


def test_a_folder_in_place_of_a_record_costs_one_row(cli, tmp_path):
    arguments = ("run", "-i", "smoke", "-m", "single", "--time", "1s")
    assert cli(*arguments)[0] == 0
    path = next((tmp_path / "results" / "runs").glob("records/*/*.json"))
    path.unlink()
    path.mkdir()
    code, out, _ = cli(*arguments)
    assert code == 1
    assert "failed: 1 run" in out
    said = "the record could not be stored: remove what lies in its place: "
    assert f"{said}{path.relative_to(tmp_path)}: Is a directory" in " ".join(out.split())


def test_a_file_in_place_of_a_folder_of_records_is_told(cli, tmp_path):
    arguments = ("run", "-i", "smoke", "-m", "single", "--time", "1s")
    assert cli(*arguments)[0] == 0
    folder = next((tmp_path / "results" / "runs").glob("records/*"))
    shutil.rmtree(folder)
    folder.write_text("")
    place = folder.relative_to(tmp_path)
    code, _, err = cli("leaderboard", "--quiet")
    said = f"placebench: set aside: {place}: is no folder of records; remove it\n"
    assert (code, err) == (1, said)
    code, out, _ = cli(*arguments)
    assert code == 1
    assert f"remove what lies in its place: {place}: File exists" in " ".join(out.split())


def test_what_a_reader_must_know_is_said_without_a_table_too(cli, tmp_path):
    assert cli("run", "-i", "smoke", "-m", "single", "--time", "1s")[0] == 0
    for path in (tmp_path / "results" / "runs" / "environments").iterdir():
        path.unlink()
    for more in ((), ("--quiet",)):
        code, out, err = cli("leaderboard", *more)
        assert code == 0
        assert "The machine of 2 runs is not on file" in " ".join((out + err).split())


def test_show_says_what_a_mixture_is_and_has_no_empty_head(cli, tmp_path):
    bundle = random_bundle(3, n=5, devices=1, problem="throughput", rules={"replicate": "mixture"})
    files.write(tmp_path / "mine.json", bundle)
    code, out, _ = cli("show", tmp_path / "mine.json")
    assert code == 0
    assert "several mappings, each with a rate" in out
    assert "all devices alike" in out
    assert out.splitlines()[1].startswith("digest")


@pytest.mark.parametrize(("functions", "said"), [(0, True), (1, False)])
def test_compiling_before_the_first_run_is_announced(cli, monkeypatch, functions, said):
    monkeypatch.setattr(machine, "compile_cache", lambda: {"functions": functions})
    code, _, errors = cli("run", "-i", "smoke", "-m", "single", "--time", "1s")
    assert code == 0
    assert ("no compiled code is on file yet" in errors) is said
