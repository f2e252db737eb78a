"""Reuse, interruption, loss of the harness, two harnesses at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from typing import Any

import pytest

from bench import batch, environment, kept
from bench.cells import Claim
from bench.job import Job
from bench.records import Store
from bench.suite import Finished, Planned, Reused, Started, run_suite
from tests.bench import harness

LIMIT_S = 0.4
SEEDS = range(6)
SCRIPT = f"""
import sys
import tempfile
from bench import environment
from bench.records import Store
from bench.suite import Finished, run_suite
from tests.bench import harness

environment.CALIBRATION_REPEATS = 1

def tell(event):
    if isinstance(event, Finished):
        print("finished", event.run.index, flush=True)

try:
    records = run_suite(
        [harness.instance()], harness.entries("answers-then-hangs"), store=Store(sys.argv[1]),
        seeds=range({len(SEEDS)}), time_limit_s={LIMIT_S}, jobs=2, progress=tell,
    )
    print(len(records), "records", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def start(store) -> subprocess.Popen[str]:
    return harness.start([sys.executable, "-c", SCRIPT, str(store)], cwd=harness.ROOT)


def wait_for_lines(process, count: int) -> None:
    for _ in range(count):
        assert "finished" in process.stdout.readline()


def wait_for_no_children(pid: int, within_s: float = 3.0) -> None:
    end = time.monotonic() + within_s
    while harness.children_of_harness(pid):
        assert time.monotonic() < end, "processes of the harness outlive it"
        time.sleep(0.01)


def again(store, **options):
    """The same suite once more, in this process; the records and the events."""
    events = []
    records = run_suite(
        [harness.instance()], harness.entries("answers-then-hangs"), store=Store(store),
        seeds=SEEDS, time_limit_s=LIMIT_S, jobs=2, progress=events.append, **options,
    )  # fmt: skip
    return records, events


def whole(store, records) -> None:
    """Everything in the store can be read, and no record is there that should not be."""
    assert sorted(r.key for r in Store(store).records()) == sorted(r.key for r in records)
    readable(store, records)


def readable(store, records) -> None:
    """What the records name is there, and theirs."""
    for record in records:
        assert Store(store).get_answer(record.answer).instance == record.digest
        assert "calibration" in Store(store).get_environment(record.environment)


@pytest.mark.parametrize("finished", [1, 3])
def test_harness_killed_in_mid_run_loses_nothing_that_was_finished(tmp_path, finished):
    process = start(tmp_path)
    wait_for_lines(process, finished)
    process.kill()
    process.wait()
    wait_for_no_children(process.pid)
    before = {record.key: record for record in Store(tmp_path).records()}
    assert len(before) >= finished
    records, events = again(tmp_path)
    reused = [event.record for event in events if isinstance(event, Reused)]
    assert {record.key: record for record in reused} == before
    assert sum(isinstance(event, Started) for event in events) == len(SEEDS) - len(before)
    assert [record.seed for record in records] == list(SEEDS)
    assert all(record.good for record in records)
    whole(tmp_path, records)


def test_interrupt_ends_the_children_and_keeps_what_is_finished(tmp_path):
    process = start(tmp_path)
    wait_for_lines(process, 2)
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=10)
    assert process.returncode == 0
    assert output.endswith("interrupted\n")
    assert not harness.children_of_harness(process.pid)
    stored = list(Store(tmp_path).records())
    assert 2 <= len(stored) < len(SEEDS)
    whole(tmp_path, stored)


def test_two_harnesses_on_one_store_run_each_cell_once(tmp_path):
    processes = [start(tmp_path) for _ in range(2)]
    while any(process.poll() is None for process in processes):
        readable(tmp_path, list(Store(tmp_path).records()))  # at every moment
        time.sleep(0.01)
    lines = []
    for process in processes:
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert output.endswith(f"{len(SEEDS)} records\n")
        lines += [line for line in output.splitlines() if "finished" in line]
    assert sorted(lines) == [f"finished {index}" for index in range(len(SEEDS))]
    records, events = again(tmp_path)
    assert sum(isinstance(event, Reused) for event in events) == len(SEEDS)
    whole(tmp_path, records)
    assert not list((tmp_path / "locks").iterdir())


def test_a_cell_of_a_killed_harness_is_free_again(tmp_path):
    process = start(tmp_path)
    wait_for_lines(process, 1)
    process.kill()
    process.wait()
    assert list((tmp_path / "locks").iterdir())
    records, _ = again(tmp_path)
    assert all(record.good for record in records)
    assert not list((tmp_path / "locks").iterdir())


def test_good_records_are_reused_and_failed_ones_run_again(tmp_path):
    first = harness.run(tmp_path, "good", "raises", "spoils-a-good-answer")
    events = []
    second = harness.run(tmp_path, "good", "raises", "spoils-a-good-answer", progress=events.append)
    assert second["good"] == first["good"]
    assert [event.run.entry for event in events if isinstance(event, Reused)] == ["good"]
    finished = sorted(event.run.entry for event in events if isinstance(event, Finished))
    assert finished == ["raises", "spoils-a-good-answer"]
    assert events[0] == Planned(2, 1, 0, 0.5, 2)
    third = harness.run(tmp_path, "good", rerun=True)["good"]
    assert third.key == first["good"].key
    assert third.wall_s != first["good"].wall_s


def test_there_are_no_more_workers_than_runs(tmp_path, monkeypatch):
    asked, events = [], []

    class Pool(batch.ThreadPoolExecutor):
        def __init__(self, workers, **options):
            asked.append(workers)
            super().__init__(workers, **options)

    monkeypatch.setattr(batch, "ThreadPoolExecutor", Pool)
    harness.run(tmp_path, "good", jobs=1000, progress=events.append)
    assert asked == [1]
    assert events[0].jobs == 1


def test_every_condition_is_part_of_the_key():
    entry, other = harness.entries("good", "raises")
    job = Job(harness.instance(), entry, 0, 1.0, None, 1, "0.1.0", "")
    assert replace(job, environment="x", load_limit_s=1.0, grace_s=2.0).key == job.key
    changes: list[dict[str, Any]] = [
        {"time_limit_s": 2.0}, {"threads": 2}, {"seed": 1}, {"memory_limit_bytes": 4 << 30},
        {"instance": harness.instance("latency")}, {"entry": other}, {"suite": "0.2.0"},
        {"entry": replace(entry, source="x")}, {"entry": replace(entry, options={"count": 2})},
    ]  # fmt: skip
    keys = [job.key, *(replace(job, **change).key for change in changes)]
    assert len(set(keys)) == len(keys)


def test_a_failure_of_the_harness_costs_one_row(tmp_path, monkeypatch):
    real = batch.run_one

    def broken(job, stop):
        if job.seed == 1:
            raise OSError("no space left on device")
        return real(job, stop)

    monkeypatch.setattr(batch, "run_one", broken)
    records, _ = again(tmp_path)
    assert [record.good for record in records] == [seed != 1 for seed in SEEDS]
    assert "no space left on device" in records[1].error
    assert (records[1].termination, records[1].check) == ("error", "none")


def test_what_a_killed_harness_left_of_a_finished_cell_is_removed(tmp_path):
    records, _ = again(tmp_path)
    lost, held = (tmp_path / "locks" / record.key for record in records[:2])
    lost.touch()  # killed between storing the record and letting go
    claim = Claim.on(tmp_path, held.name)
    assert claim is not None
    again(tmp_path)
    assert list((tmp_path / "locks").iterdir()) == [held]
    claim.release()


def test_one_environment_a_batch(tmp_path):
    records, _ = again(tmp_path)
    assert len({record.environment for record in records}) == 1
    described = Store(tmp_path).get_environment(records[0].environment)
    assert described["format"] == "placebench-environment/1"
    files = sorted((tmp_path / "environments").glob("*.json"))
    after = [Store(tmp_path).get_environment(path.stem) for path in files]
    assert [each["environment"] for each in after if "after" in each["format"]] == [
        records[0].environment
    ]
    again(tmp_path)  # nothing to run: no batch
    assert len(list((tmp_path / "environments").glob("*.json"))) == len(files)


@pytest.mark.parametrize(
    "options",
    [
        {"time_limit_s": 0.0}, {"time_limit_s": float("inf")}, {"time_limit_s": float("nan")},
        {"load_limit_s": -1.0}, {"memory_limit_bytes": 0}, {"threads": 0}, {"jobs": 0},
        {"jobs": 1025},
        {"seeds": [-1]}, {"seeds": [2**31]},
    ],
)  # fmt: skip
def test_limits_out_of_range_are_refused(tmp_path, options):
    with pytest.raises(ValueError, match="not"):
        harness.run(tmp_path, "good", **options)
    assert not list(tmp_path.iterdir())


def test_a_process_that_cannot_be_started_leaves_nothing(tmp_path, monkeypatch):
    def no_process(*arguments, **options):
        raise OSError("cannot fork")

    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(kept.subprocess, "Popen", no_process)
    monkeypatch.setattr(environment, "describe", dict)  # which asks git
    before = len(os.listdir("/proc/self/fd"))
    row = harness.run(tmp_path / "store", "good")["good"]
    assert "cannot fork" in row.error
    assert len(os.listdir("/proc/self/fd")) == before
    assert not list((tmp_path / "temporary").iterdir())
