"""``pytest --benchmark`` in a project of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import comparison
from bench.bks import Headline
from problems import files
from problems.generate.random import random_bundle
from tests.bench import tiny_package
from tests.bench.synthetic import record

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parent.parent.parent
COMPARISON = ROOT / "tests" / "benchmarks" / "test_comparison.py"
WRONG = """
from problems.answer import Answer
from solvers.method import method

@method(problems=["latency"])
def wrong(instance, context):
    return Answer.of([99] * instance.n)
"""


@pytest.fixture
def project(pytester):
    """A project with one test, the comparison, and a bundle to compare on."""
    pytester.makeini("[pytest]\nplacebench_benchmarks = comparison\n")
    pytester.makepyfile(test_plain="def test_plain(): pass")
    folder = pytester.mkdir("comparison")
    (folder / "test_comparison.py").write_text(COMPARISON.read_text())
    files.write(pytester.path / "mine.json", random_bundle(1, n=6, problem="latency"))
    (pytester.path / "wrong.py").write_text(WRONG)
    return pytester


# Loaded by name, so that the checkout is tested whether or not it is installed.
PLUGINS = ("bench.pytest_plugin", "pytest_benchmark.plugin", "pytest_timeout")


@pytest.fixture(autouse=True)
def _plugins(monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    # Else a comparison that a test starts takes itself for a part of these tests, and is off.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)


def run(project, *arguments):
    loaded = [word for plugin in PLUGINS for word in ("-p", plugin)]
    return project.runpytest_subprocess("-p", "no:cacheprovider", *loaded, *arguments)


def test_plain_pytest_runs_no_benchmark(project):
    run(project).assert_outcomes(passed=1)
    run(project, "comparison").assert_outcomes()


def test_benchmark_runs_the_comparison_only_and_tells_all(project):
    result = run(
        project, "--benchmark", "--benchmark-selection=mine.json", "--benchmark-time=0.5",
        "--method=heft,single", "--benchmark-json=out.json",
    )  # fmt: skip
    result.assert_outcomes(passed=2)
    found = json.loads((project.path / "out.json").read_text())["benchmarks"]
    assert [each["name"] for each in found] == [
        "test_run[heft-mine.json]",
        "test_run[single-mine.json]",
    ]
    for each in found:
        told = each["extra_info"]
        assert each["stats"]["rounds"] == 1
        assert told["check"] == "ok"
        assert 0 < told["bound_s"] <= told["objective_s"]
        assert told["best_known_s"] is None  # no claim is on file
        assert each["stats"]["mean"] == pytest.approx(told["wall_s"])
        assert 0 <= told["gap_to_bound"] < 1
        assert len(told["digest"]) == 64


def test_programs_and_packages_take_part(project, tmp_path, monkeypatch):
    tiny_package.install(tiny_package.wheel(tmp_path), tmp_path / "site")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(tmp_path / "site")]))
    (project.path / "zeros.py").write_text(
        "import json, sys\n"
        "n = len(json.load(open(sys.argv[1]))['graph']['nodes'])\n"
        "print(json.dumps({'device': [0] * n}))\n"
    )
    result = run(
        project, "--benchmark", "--benchmark-selection=mine.json", "--benchmark-time=2",
        "--method=first-device[device=1]", "--method=exec:python3 zeros.py {instance}",
        "--benchmark-json=out.json",
    )  # fmt: skip
    result.assert_outcomes(passed=2)
    found = json.loads((project.path / "out.json").read_text())["benchmarks"]
    assert [each["name"] for each in found] == [
        "test_run[first-device[device=1]-mine.json]",
        "test_run[zeros-mine.json]",
    ]
    for each in found:
        assert {"gap_to_bound", "bound_s", "best_known_s", "digest"} <= set(each["extra_info"])
        assert each["extra_info"]["check"] == "ok"


def test_an_invalid_answer_fails_the_test(project):
    result = run(
        project, "--benchmark", "--benchmark-selection=mine.json", "--benchmark-time=0.5",
        "--method=wrong.py",
    )  # fmt: skip
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*invalid (device)*"])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--method=heff", "*unknown entry 'heff'; did you mean 'heft'?*"),
        ("--benchmark-time=0", "*time '0' must be above 0*"),
        ("--benchmark-selection=smokey", "*did you mean 'smoke'?*"),
    ],
)
def test_a_wrong_option_is_a_usage_error_in_full(project, option, message):
    result = run(project, "--benchmark", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: placebench: {message}"])
    run(project, option).assert_outcomes(passed=1)  # plain tests do not mind


def test_what_else_is_timed_is_left_out_where_something_is_chosen(project):
    (project.path / "comparison" / "test_other.py").write_text("def test_other(): pass")
    chosen = ("--benchmark-selection=mine.json", "--method=single")
    result = run(project, "--benchmark", *chosen, "--collect-only", "-q")
    result.stdout.no_fnmatch_line("*test_other*")
    result.stdout.fnmatch_lines(["*[[]single-mine.json[]]", "*1 deselected*"])


def test_saved_runs_can_be_compared(project):
    chosen = ("--benchmark", "--benchmark-selection=mine.json", "--method=single")
    run(project, *chosen, "--benchmark-save=first").assert_outcomes(passed=1)
    result = run(project, *chosen, "--benchmark-compare")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*single-mine.json* (0001_first)*"])


def test_the_best_known_is_what_is_on_file_or_better(tmp_path, monkeypatch):
    path = tmp_path / "mine.json"
    files.write(path, random_bundle(1, n=6, problem="latency"))
    (job,) = comparison.jobs([str(path)], ["single"], "1", 0)

    def told(known, objective):
        head = Headline("best", known, "", 0.5, None, "")
        monkeypatch.setattr(comparison, "_headline", lambda *_: head)
        told = job.told(record(objective=objective))
        return told["best_known_s"], told["gap_to_best"]

    assert told(None, 2.0) == (None, None)
    assert told(1.0, 2.0) == (1.0, 0.5)
    assert told(4.0, 2.0) == (2.0, 0.0)


def test_other_projects_see_nothing_of_it(pytester):
    pytester.makepyfile(
        "import sys\n"
        "def test_plain(): assert not {'numpy', 'msgspec', 'problems'} & set(sys.modules)"
    )
    run(pytester).assert_outcomes(passed=1)


def test_the_comparison_of_this_checkout_needs_no_plugin_of_the_extra_dev():
    command = [
        sys.executable, "-m", "pytest", "-p", "bench.pytest_plugin",
        "-p", "pytest_benchmark.plugin", "-p", "no:cacheprovider", "--benchmark",
        "--benchmark-selection", "clip:block/duo-eth1g/latency", "--method", "single",
        "--collect-only", "-q", str(COMPARISON),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_run[single-" in done.stdout
