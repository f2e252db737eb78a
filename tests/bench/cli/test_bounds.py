import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import psutil
import pytest

from bench import bounds
from bench.cli.aside import Aside, Died
from problems.bounds.registry import REGISTRY, Bounder
from tests.bench import harness


@pytest.fixture
def name(library):
    return next(entry.id for entry in library.entries() if entry.problem == "latency")


@pytest.fixture
def calls(monkeypatch):
    """Every bound that searches, replaced by one that counts its calls."""
    made = []
    for key, entry in list(REGISTRY.items()):
        if entry.effort == "search":

            def compute(instance, seconds, key=key):
                made.append((key, seconds))
                return 1e-9, "searched"

            new = Bounder(
                key, compute, entry.problems, entry.rules, entry.refuses, "search", entry.version
            )
            monkeypatch.setitem(REGISTRY, key, new)
    # The process beside this one knows the real ones.
    monkeypatch.setattr(Aside, "search", lambda _, name, *given: REGISTRY[name](*given))
    return made


def told(cli, *arguments):
    code, out, _ = cli("bounds", *arguments, "--json")
    assert code == 0
    return {each["bound"]: each for each in json.loads(out)}


def test_prints_values_and_reasons(cli, name, calls):
    code, out, err = cli("bounds", name)
    assert (code, err, calls) == (0, "", [])
    lines = out.splitlines()
    assert lines[0].split() == [
        "instance", "bound", "value", "of", "best", "took", "effort", "why"
    ]  # fmt: skip
    mine = {key for key, entry in REGISTRY.items() if "latency" in entry.problems}
    assert len(lines) == 1 + len(mine) < 1 + len(REGISTRY)
    assert all(line.startswith(name) for line in lines[1:])
    assert "*   1.0000" in lines[1]
    by_bound = {line.split()[1]: line for line in lines[1:]}
    assert set(by_bound) == mine
    assert by_bound["joint-lp"].rstrip().endswith("not run: --search")


def test_best_comes_first_and_refused_last(cli, name, calls):
    found = list(told(cli, name).values())
    values = [each["value_s"] for each in found]
    valid = [value for value in values if value is not None]
    assert valid == sorted(valid, reverse=True)
    assert values[: len(valid)] == valid
    assert found[0]["theoretical"]
    assert found[0]["of_best"] == 1.0


def test_search_saves_and_goes_on_from_there(cli, name, calls):
    first = told(cli, name, "--search", "--seconds", "2m", "--save")
    assert ("joint-lp", 120.0) in calls
    assert first["joint-lp"]["note"] == "searched"
    assert bounds.path().exists()
    calls.clear()
    again = told(cli, name, "--search", "--save")
    assert not calls
    assert again["joint-lp"]["on_file"]
    assert told(cli, name)["joint-lp"]["value_s"] == 1e-9  # on file: no search is needed
    told(cli, name, "--search", "--fresh")
    assert ("joint-lp", 60.0) in calls


def test_without_save_nothing_is_written(cli, name, calls):
    told(cli, name, "--search")
    assert not bounds.path().exists()


def test_selections_tell_progress(cli, library, calls):
    code, out, err = cli("bounds", "default")
    assert code == 0
    count = len(library.selection("default"))
    assert len(err.splitlines()) == count
    assert err.startswith(f"[1/{count}] ")
    problems = [each.problem for each in library.entries()]  # all of them are in the selection
    assert len(problems) == count
    lines = sum(problem in entry.problems for entry in REGISTRY.values() for problem in problems)
    assert len(out.splitlines()) == 1 + lines


def test_an_interrupt_keeps_what_is_finished(cli, name, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Aside, "search", stop)
    code, out, err = cli("bounds", name, "--search", "--save", "--seconds", "1", "--json")
    assert code == 130
    found = {each["bound"]: each for each in json.loads(out)}
    assert found["critical-path"]["value_s"] > 0
    assert (found["joint-lp"]["value_s"], found["joint-lp"]["note"]) == (None, "interrupted")
    assert "are kept in" in err
    assert "critical-path" in bounds.path().read_text()


def test_a_damaged_line_is_told(cli, name, calls):
    bounds.path().parent.mkdir(parents=True)
    bounds.path().write_text("{\n")
    code, _, err = cli("bounds", name)
    assert code == 0
    assert f"set aside: {bounds.path()}:1: " in err


def test_bad_times_are_refused(cli, name):
    code, _, err = cli("bounds", name, "--seconds", "soon")
    assert code == 2
    assert "'soon'" in err


def test_searches_beside_and_after_one_that_died(library, name):
    instance = library.load(name)
    with Aside() as aside:
        found = aside.search("joint-lp", instance, 5.0)
        assert found.name == "joint-lp"
        assert 0 < found.value == REGISTRY["joint-lp"](instance, 5.0).value
        with pytest.raises(ValueError, match="chain bounds calls, not latency"):
            aside.search("chain", instance, 5.0)
        aside._process.kill()
        with pytest.raises(Died):
            aside.search("joint-lp", instance, 5.0)
        assert aside.search("joint-lp", instance, 5.0).value == found.value
    assert aside._process is None


def test_one_whose_process_died_is_told(cli, name, monkeypatch):
    def dies(*_):
        raise Died

    monkeypatch.setattr(Aside, "search", dies)
    found = told(cli, name, "--search")
    assert found["joint-lp"]["value_s"] is None
    assert found["joint-lp"]["note"].startswith("its process was ended")
    assert found["critical-path"]["value_s"] > 0


@contextmanager
def searching():
    """A search that takes minutes, and the process that is at it."""
    command = [
        sys.executable, "-m", "bench.cli", "bounds", "gnmt:operator/quad-eth1g/latency",
        "--search", "--seconds", "10m", "--fresh",
    ]  # fmt: skip
    with harness.start(command, stderr=subprocess.PIPE) as process:
        found = []
        while not found:
            time.sleep(0.1)
            children = psutil.Process(process.pid).children()
            found = [child for child in children if child.cpu_times().user > 2]
        yield process, found[0]


def test_an_interrupt_ends_a_solver_amidst_its_search():
    with searching() as (process, solver):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.endswith("placebench: interrupted; the bounds that were finished are shown\n")
    assert "critical-path" in out
    assert not solver.is_running()


def test_a_search_does_not_outlive_a_killed_command():
    with searching() as (process, solver):
        process.kill()
        solver.wait(60)
        out, err = process.communicate(timeout=60)
    assert (out, err) == ("", "")
