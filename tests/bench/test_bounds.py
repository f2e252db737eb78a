import os
import signal
import subprocess
import sys
import time

import pytest

from bench import bks, bounds
from problems import files
from problems.bounds.registry import REGISTRY
from problems.catalogue import Library
from tests.tiny import instance

CASE = instance([[1.0, 2.0], [3.0, 1.0]], [(0, 1)], delay=[0.0, 0.25])  # cheap: 2.25


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.setattr(bks, "RESULTS", tmp_path)


def stored(value, name="joint-lp", version=None, **more):
    return bounds.Stored(name, version or REGISTRY[name].version, value, 0.5, 60.0, **more)


def test_nothing_on_file_leaves_the_cheap_ones():
    found = bounds.load().theoretical(CASE)
    assert found.value == pytest.approx(2.25)
    assert "joint-lp" in found.left_out


def test_what_is_on_file_is_used_and_not_computed():
    bounds.save(CASE, [stored(2.3, note="kept"), stored(2.0, "load-lp")])
    found = bounds.load().theoretical(CASE)
    assert found.value == 2.3
    values = {each.name: each.value for each in found.bounds}
    # What is cheap is computed, not believed: load-lp itself is about 1.5.
    assert (values["joint-lp"], values["load-lp"] < 2.0) == (2.3, True)
    assert found.bounds[0].note == "kept"
    assert "joint-lp" not in found.left_out


def test_another_version_voids_a_value():
    bounds.save(CASE, [stored(2.3, version=REGISTRY["joint-lp"].version + 1)])
    assert bounds.load().theoretical(CASE).value == pytest.approx(2.25)
    assert bounds.load().of(CASE.digest) == {}


def test_an_unknown_bound_is_void():
    bounds.save(CASE, [stored(2.3, version=1)])
    text = bounds.path().read_text().replace("joint-lp", "withdrawn")
    bounds.path().write_text(text)
    assert bounds.load().of(CASE.digest) == {}


def test_a_refused_bound_is_not_used():
    bounds.save(CASE, [stored(9.0, "node")])
    assert bounds.load().theoretical(CASE).value == pytest.approx(2.25)


def test_the_larger_value_stays():
    bounds.save(CASE, [stored(2.2)])
    bounds.save(CASE, [stored(2.1)])
    assert bounds.load().of(CASE.digest)["joint-lp"].value == 2.2
    bounds.save(CASE, [stored(2.24)])
    assert bounds.load().of(CASE.digest)["joint-lp"].value == 2.24


def test_lines_are_sorted_and_small():
    other = instance([[1.0, 2.0]])
    for case in (CASE, other):
        bounds.save(case, [stored(0.5)])
    digests = [files.decode(t, dict, "")["digest"] for t in bounds.path().read_text().splitlines()]
    assert digests == sorted([CASE.digest, other.digest])


@pytest.mark.parametrize(
    "broken", ['{"digest": "', "{}", '{"digest":"x","instance":"y","bounds":[{"name":1}]}']
)
def test_a_damaged_line_is_named_and_left_out(broken):
    bounds.save(CASE, [stored(2.3)])
    with bounds.path().open("a") as file:
        file.write(broken + "\n")
    store = bounds.load()
    (fault,) = store.faults
    assert fault.startswith(f"{bounds.path()}:2: ")
    assert store.theoretical(CASE).value == 2.3


@pytest.mark.parametrize("value", ["-1.0", "1e999", '"2"'])
def test_what_is_no_time_is_no_bound(value):
    bounds.save(CASE, [stored(2.3)])
    text = bounds.path().read_text().replace("2.3", value)
    bounds.path().write_text(text)
    store = bounds.load()
    assert len(store.faults) == 1
    assert store.theoretical(CASE).value == pytest.approx(2.25)


class Entry:
    """What is read of an instance in the catalogue."""

    digest, lower_bound_s = CASE.digest, 2.25
    problem, rules, best_single_s = "latency", {}, 3.0


def test_a_searched_bound_is_a_claim_beside_the_recomputed_one():
    assert bounds.load().searched([Entry]) == {}
    assert bounds.load().of_instance(CASE) == (pytest.approx(2.25), None)
    bounds.save(CASE, [stored(2.3), stored(9.0, "load-lp")])  # what is cheap is never read
    version = REGISTRY["joint-lp"].version
    claim = bks.Claim("bound", 2.3, "joint-lp", limit_s=60.0, version=version)
    assert bounds.load().searched([Entry]) == {CASE.digest: claim}
    assert bounds.load().of_instance(CASE) == (pytest.approx(2.25), claim)
    assert bounds.recomputed([Entry]) == {CASE.digest: 2.25}


WRITER = """
import sys
from pathlib import Path
from bench import bks, bounds
from problems.catalogue import Library
from tests.tiny import instance
bks.RESULTS = Path(sys.argv[1])
number = int(sys.argv[2])
print("ready", flush=True)
for i in range(int(sys.argv[3])):
    case = instance([[1.0 + number, 2.0 + i]])
    bounds.save(case, [bounds.Stored("joint-lp", 1, 0.5, 0.1, note="x" * 2000)])
"""


def writer(folder, number, count):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(number), str(count)],
        stdout=subprocess.PIPE,
        cwd=os.getcwd(),
    )


def test_two_processes_lose_nothing(tmp_path):
    running = [writer(tmp_path, number, 20) for number in range(2)]
    assert [each.wait(60) for each in running] == [0, 0]
    for each in running:
        each.stdout.close()
    assert len(bounds.load().lines) == 40


def test_a_killed_writer_leaves_a_whole_file(tmp_path):
    with writer(tmp_path, 0, 100_000) as running:
        running.stdout.readline()
        while not bounds.path().exists():
            time.sleep(0.01)
        time.sleep(0.2)
        running.send_signal(signal.SIGKILL)
        running.wait()
    store = bounds.load()
    assert store.lines
    assert not store.faults
    bounds.save(CASE, [stored(2.3)])  # the lock went with the process
    assert bounds.load().of(CASE.digest)["joint-lp"].value == 2.3


def test_a_cheap_bound_takes_the_place_of_what_was_there():
    bounds.save(CASE, [stored(99.0, "load-lp")])
    bounds.save(CASE, [stored(1.5, "load-lp")])
    assert bounds.load().of(CASE.digest)["load-lp"].value == 1.5


def test_a_bound_above_the_best_single_device_is_not_believed():
    bounds.save(CASE, [stored(99.0)])
    found = bounds.load().theoretical(CASE)
    assert found.value == pytest.approx(2.25)
    assert "joint-lp" in found.left_out
    assert bounds.load().searched([Entry]) == {}
    assert bounds.load().of_instance(CASE)[1] is None


def test_a_bound_of_another_problem_does_not_reach_the_tables():
    entry = next(e for e in Library().entries() if e.problem == "latency")
    line = bounds.Line(entry.digest, entry.id, [stored(1e9, "block")])
    store = bounds.Store({entry.digest: line})
    assert store.searched([entry]) == {}
