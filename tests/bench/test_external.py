"""Programs with the line protocol, through the harness."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bench
from bench import entries, presets
from bench.entries import EntryError, parse_entries, parse_entry, split_list
from bench.line_protocol import Lines
from bench.records import Store
from problems import files
from problems.answer import Answer
from problems.instance import Bundle
from problems.resolve import from_bundle
from tests.bench import harness

EXAMPLES = Path(entries.__file__).parent / "examples"
HEAD = """
import json, os, signal, subprocess, sys, time
n = len(json.load(open(sys.argv[1]))["graph"]["nodes"])
def say(**what): print(json.dumps(what), flush=True)
zeros = [0] * n
"""


@pytest.fixture
def program(tmp_path):
    """Run a program of these lines; returns its record."""

    def run(lines, problem="throughput", limit=5.0, **options):
        path = tmp_path / "my_solver.py"
        path.write_text(HEAD + lines)
        (entry,) = parse_entry(f"exec:{sys.executable} {path} {{instance}} {{seconds}} {{seed}}")
        options = {"store": tmp_path / "store", "time_limit_s": limit, "rerun": True, **options}
        (record,) = bench.run(harness.instance(problem), [entry], **options)
        return record

    return run


def named(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_the_last_answer_counts_and_bounds_and_claims_are_kept(program):
    record = program(
        'say(placement=[1] * n, bound=0.01)\nsay(device=zeros, claim="feasible", note="so far")'
    )
    assert (record.termination, record.check) == ("completed", "ok")
    assert record.objective == bench.check(harness.instance(), Answer.of([0] * 8)).objective
    assert (record.claim, record.claim_note, record.claimed_bound) == ("feasible", "so far", 0.01)
    assert record.method == "my-solver"  # not "python"


def test_the_file_is_the_instance_and_the_arguments_are_told(program):
    record = program(
        "print(open(sys.argv[1]).read().replace(chr(10), ''), file=open('/dev/stderr', 'w'))\n"
        "print('seed', sys.argv[3], 0 < float(sys.argv[2]) <= 4.75, sys.stdin.read() == '')\n"
        "say(device=zeros)",
        seeds=[7],
    )
    assert record.check == "ok"
    assert ": seed 7 True True" in record.log
    assert "1 so far" in record.log


def test_lines_that_are_no_answers_are_counted_and_cost_nothing(program):
    record = program(
        "print('progress 12%')\nsay(device=zeros)\nsay(devise=zeros)\nsay(device=[0.5] * n)\n"
        "say(order=[[0]])\nsay(device=zeros, instance='another')\nsay(device=[2**70] * n)\nsay()\n"
        "sys.stdout.buffer.write(b'\\xff\\x1b[2J\\n')\n"
    )
    assert (record.termination, record.check) == ("completed", "ok")
    assert "line 1 is not of the protocol, 1 so far" in record.log
    assert "line 9 is not of the protocol, 8 so far" in record.log
    assert "unknown field `devise`" in record.log
    assert "\x1b" not in record.log


def test_an_answer_that_breaks_a_rule_is_judged_as_any(program):
    record = program("say(device=zeros)\nsay(device=[99] * n)")
    assert (record.termination, record.check) == ("completed", "invalid")


@pytest.mark.parametrize(
    ("lines", "termination", "check", "told"),
    [
        ("pass", "no-answer", "none", ""),
        ("sys.exit(3)", "error", "none", "left with exit status 3 before it gave an answer"),
        ("say(device=zeros)\nsys.exit(3)", "completed", "ok", ""),
        ("say(device=zeros)\nos.kill(os.getpid(), signal.SIGSEGV)", "crash", "ok", "SIGSEGV"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "crash", "none", "SIGKILL"),
        ("say(unsupported='only trees')", "error", "none", "Unsupported: only trees"),
    ],
)
def test_how_it_ended(program, lines, termination, check, told):
    record = program(lines)
    assert (record.termination, record.check) == (termination, check)
    assert told in record.error + record.signal
    if "exit(3)" in lines and check == "ok":
        assert "left with exit status 3 after 1 answers" in record.log


def test_the_limit_ends_it_and_all_it_started(program):
    record = program(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "print('pid', child.pid, file=sys.stderr, flush=True)\n"
        "print('pid', os.getpid(), file=sys.stderr, flush=True)\n"
        "say(device=zeros)\ntime.sleep(60)\nsay(device=[99] * n)",
        limit=0.7,
    )
    assert (record.termination, record.check) == ("time-limit", "ok")
    pids = harness.printed_pids(record)
    assert len(pids) == 2
    assert not any(map(harness.is_alive, pids))


def test_what_holds_the_pipe_open_does_not_hold_the_run(program):
    record = program("subprocess.Popen(['sleep', '60'])\nsay(device=zeros)", limit=20.0)
    assert (record.termination, record.check, record.orphans) == ("completed", "ok", 1)
    assert record.wall_s < 15


def test_options_and_all_else_that_a_file_says(tmp_path):
    named(tmp_path / "solve.py", HEAD + "print(sys.argv[2:], file=sys.stderr)\nsay(device=zeros)")
    file = tmp_path / "mine.toml"
    file.write_text(
        'name = "mine"\nversion = "2.1"\nproblems = ["throughput"]\n'
        f'command = ["{sys.executable}", "solve.py", "{{instance}}", "-r{{restarts}}", "a,b [c]"]\n'
        "[options]\nrestarts = 4\n"
    )
    default, three = parse_entries(f"{file},{file}[restarts=3]")
    assert (default.label, default.options) == ("mine", {"restarts": 4})
    assert three.label == "mine[restarts=3]"
    assert three.source.startswith("mine 2.1 ")
    records = bench.run(
        [harness.instance(), harness.instance("latency")], [three], store=tmp_path / "store"
    )
    assert [record.problem for record in records] == ["throughput"]
    assert "['-r3', 'a,b [c]']" in records[0].log
    named(tmp_path / "solve.py", "another")
    assert parse_entry(str(file))[0].source != default.source
    with pytest.raises(EntryError, match="has changed"):
        entries.load_method("mine", default.file, default.source)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = 3", r"mine.toml: Expected `str`.*`\$\.name`"),
        ('name = "mine"', "missing required field `command`"),
        ('name = "Mine"\ncommand = "true"', "lower case, digits and dashes"),
        ('name = "heft"\ncommand = "true"', "is the name of one of the suite's methods"),
        ('name = "mine"\ncommand = ""', "the command is empty"),
        ('name = "mine"\ncommand = "no-such-program"', "is no file and not on the PATH"),
        ('name = "mine"\ncommand = "./mine.toml"', "is not executable"),
        ('name = "mine"\ncommand = "true {file}"', r"unknown placeholder {file}; .*{instance}"),
        ('name = "mine"\ncommand = "true"\nproblems = ["fly"]', "unknown problem 'fly'; the prob"),
        ('name = "mine"\ncommand = "true"\nfiles = ["x"]', r"no file 'x' - at `\$.files`"),
        ('name = "mine"\ncommand = "true"\n[options]\nseed = 1', "option cannot be called seed"),
        ('name = "mine"\ncommand = "true"\nverison = "1"', "unknown field `verison`"),
        ("name = ", "mine.toml: "),
    ],
)
def test_errors_name_the_place_and_the_choices(tmp_path, text, message):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(EntryError, match=message):
        parse_entry(str(file))


def test_a_command_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named(Path("My_Solver.sh"), "#!/bin/sh\n")
    assert split_list("heft, exec:./a {instance}, [b") == ["heft", "exec:./a {instance}, [b"]
    single, mine = presets.parse(["single,exec:./My_Solver.sh 'a, b' [c"])
    assert (single.label, mine.label) == ("single", "my-solver")
    assert mine.file == f"exec:{tmp_path / 'My_Solver.sh'} 'a, b' '[c'"
    method = entries.load_method("my-solver", mine.file, mine.source)
    assert method.run.words[1:] == ("a, b", "[c", "{instance}", "{seconds}", "{seed}")
    # An interpreter is not what the program is called.
    assert parse_entry("exec:sh My_Solver.sh {instance}")[0].label == "my-solver"
    for text, message in (
        ("exec:", "has no name"),
        ("exec:./nowhere", "is no file and not on the PATH"),
        ("exec:sh 'a", "No closing quotation"),
        ("./My_Solver.sh", r"given as 'exec:./My_Solver.sh \{instance\}"),
    ):
        with pytest.raises(EntryError, match=message):
            parse_entry(text)


def test_long_lines_are_cut():
    lines = Lines(8)
    found = [*lines.feed(b"a\nbb"), *lines.feed(b"b\n" + b"x" * 100), *lines.feed(b"x\ny\nz")]
    assert found == [b"a", b"bbb", b"x" * 8, b"y"]
    assert list(lines.last()) == [b"z"]


def test_the_example_in_python(tmp_path):
    records = bench.run(
        [harness.instance(), harness.instance("latency")],
        f"single,{EXAMPLES / 'best_device.toml'}",
        store=tmp_path,
    )
    assert [r.check for r in records] == ["ok"] * 4
    assert {r.entry for r in records} == {"single", "best-device"}
    for single, mine in zip(records[::2], records[1::2], strict=True):
        assert mine.objective == pytest.approx(single.objective)
    assert all(Store(tmp_path).get_answer(r.answer) for r in records)


@pytest.mark.skipif(shutil.which("cc") is None, reason="the example in C needs a compiler (cc)")
def test_the_example_in_c(tmp_path):
    built = tmp_path / "one_device"
    subprocess.run(["cc", "-Wall", "-Werror", "-o", built, EXAMPLES / "one_device.c"], check=True)
    (record,) = bench.run(harness.instance(), f"exec:{built}", store=tmp_path / "store")
    assert (record.entry, record.check, record.termination) == ("one-device", "ok", "completed")
    done = subprocess.run([built, "nowhere"], capture_output=True, check=False)
    assert done.returncode == 1


def test_the_documented_bundle_is_what_is_handed_over(tmp_path):
    path = named(tmp_path / "keep.sh", f"#!/bin/sh\ncp $1 {tmp_path}/kept.json\n")
    instance = harness.instance("latency")
    (record,) = bench.run(instance, f"exec:{path}", store=tmp_path / "store")
    assert record.termination == "no-answer"
    assert from_bundle(files.read(tmp_path / "kept.json", Bundle)).digest == instance.digest
    assert json.loads((tmp_path / "kept.json").read_text())["format"] == "placebench-bundle/1"
