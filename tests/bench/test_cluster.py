"""Runs on the workers of a real Dask scheduler: processes of their own, some of them killed."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from itertools import takewhile

import pytest

from bench import cluster, cluster_pool, environment, packages
from bench.cluster_slots import ClusterError, Worker
from bench.entries import parse_entries, parse_entry
from bench.records import Store
from bench.suite import Finished, Notice, Planned, Reused, Started, run_suite
from tests.bench import harness, tiny_package

pytest.importorskip("distributed")

from tests.bench.dask_processes import Processes

SEEDS = range(2)
INSTANCE = "clip:block/duo-eth1g/latency"
SEARCH = '''
import numpy as np
from problems.answer import Answer
from problems.throughput import period
from solvers.method import method

@method(problems=["throughput"])
def seeded_search(instance, context, *, steps: int = 50):
    """As many steps as it is told: the clock has no part in it."""
    print("loaded from", __file__)
    best = np.zeros(instance.n, int)
    for _ in range(steps):
        trial = best.copy()
        trial[context.rng.integers(instance.n)] = context.rng.integers(instance.K)
        if period(instance, trial) <= period(instance, best):
            best = trial
    return Answer.of(best)
'''
CLIENT = """
import sys
from bench import environment
from bench.records import Store
from bench.suite import Finished, Started, run_suite
from tests.bench import harness

environment.CALIBRATION_REPEATS = 1

def tell(event):
    if isinstance(event, Finished | Started):
        print(type(event).__name__.lower(), event.run.entry, flush=True)

try:
    run_suite([harness.instance()], harness.entries("good", "sleeps"), store=Store(sys.argv[1]),
              time_limit_s=200, cluster=sys.argv[2], progress=tell)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


PROGRAM = """
import json, sys
nodes = json.load(open(sys.argv[1]))["graph"]["nodes"]
print(json.dumps({"device": [1] * len(nodes)}), flush=True)
"""
TWO = """
import time
import numpy as np
from problems.answer import Answer
from solvers.method import method

@method(problems=["throughput", "latency"])
def fast(instance, context):
    return Answer.of(np.zeros(instance.n, int))

@method(problems=["throughput", "latency"])
def slow(instance, context):
    context.report(Answer.of(np.zeros(instance.n, int)))
    time.sleep(1000)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with an installed package of methods, for the client and the workers."""
    folder = tmp_path_factory.mktemp("site")
    tiny_package.install(tiny_package.wheel(folder), folder / "installed")
    return folder / "installed"


@pytest.fixture(scope="module")
def dask(tmp_path_factory, package):
    processes = Processes(tmp_path_factory.mktemp("dask"), package)
    try:
        for _ in range(2):
            processes.add()
        yield processes
    finally:
        processes.close()


def run(store, dask, *names, events=None, **options):
    options = {"time_limit_s": 1.5, "instances": [harness.instance()], **options}
    return run_suite(
        options.pop("instances"), harness.entries(*names), store=Store(store),
        cluster=dask.address, progress=(events if events is not None else []).append, **options,
    )  # fmt: skip


def test_the_same_suite_gives_the_same_answers_here_and_there(dask, tmp_path):
    file = tmp_path / "my_search.py"
    file.write_text(SEARCH)
    entries = [*parse_entries("single"), *parse_entry(str(file))]
    entries += harness.entries("draws", "returns-negative", "raises")
    instances = [harness.instance()]
    done = {}
    for name, where in (("here", {"jobs": 2}), ("there", {"cluster": dask.address})):
        events = []
        done[name] = run_suite(
            instances, entries, store=Store(tmp_path / name), seeds=SEEDS, time_limit_s=3.0,
            progress=events.append, **where,
        )  # fmt: skip
        kinds = [type(event) for event in events]
        assert kinds.count(Started) == kinds.count(Finished) == len(done[name])
        assert all(record.termination in ("completed", "error") for record in done[name])
        assert next(event for event in events if isinstance(event, Planned)).jobs == 2

    def same(record):
        drawn = [line for line in record.log.splitlines() if line.startswith("draws")]
        return (
            record.key, record.termination, record.check, record.answer, record.objective,
            record.violations, record.error.splitlines()[:1], drawn,
        )  # fmt: skip

    assert list(map(same, done["here"])) == list(map(same, done["there"]))
    assert len({record.answer for record in done["there"]}) > 3
    # The file went along: a worker does not see the client's folders.
    logs = [record.log for record in done["there"] if record.method == "seeded-search"]
    assert logs
    assert not any(str(tmp_path) in log for log in logs)
    assert all("my_search.py" in log for log in logs)
    # What ran where: two workers, each described and calibrated before and after.
    store = Store(tmp_path / "there")
    names = {record.environment for record in done["there"]}
    assert len(names) == 2
    assert all("calibration" in store.get_environment(name) for name in names)
    told = [store.get_environment(p.stem) for p in (tmp_path / "there/environments").iterdir()]
    assert {each["environment"] for each in told if "after" in each["format"]} == names
    # And all of it is reused, here or there.
    events = []
    run_suite(instances, entries, store=store, seeds=SEEDS, time_limit_s=3.0,
              progress=events.append)  # fmt: skip
    good = sum(record.good for record in done["there"])
    assert sum(isinstance(event, Reused) for event in events) == good


def test_packages_and_programs_run_where_they_are_installed(dask, package, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(package))
    packages.offers.cache_clear()
    program = tmp_path / "ones.py"
    program.write_text(PROGRAM)
    (theirs,) = parse_entry("first-device[device=1]")
    (other,) = parse_entry(f"exec:{sys.executable} {program} {{instance}}")
    told = {"store": Store(tmp_path / "store"), "time_limit_s": 5.0, "cluster": dask.address}
    done = run_suite([harness.instance()], [theirs, other], **told)
    assert [record.termination for record in done] == ["completed"] * 2, done[0].error
    assert [record.source for record in done] == [theirs.source, other.source]
    assert len({record.objective for record in done}) == 1
    packages.offers.cache_clear()


def test_ctrl_c_of_the_command_line_loses_nothing_and_leaves_nothing(dask, tmp_path):
    file = tmp_path / "two.py"
    file.write_text(TWO)
    command = [
        sys.executable, "-m", "bench.cli", "run", "-i", INSTANCE, "-m", str(file),
        "--time", "200s", "--store", str(tmp_path / "store"), "--cluster", dask.address,
    ]  # fmt: skip
    with harness.start(command, cwd=harness.ROOT, stderr=subprocess.PIPE) as client:
        lines = iter(client.stdout.readline, "")
        said = list(takewhile(lambda line: " fast " not in line, lines))
        assert client.poll() is None, (said, client.stderr.read())
        dask.busy()
        os.kill(client.pid, signal.SIGINT)
        _, err = client.communicate(timeout=60)
    assert client.returncode == 128 + signal.SIGINT, err
    assert "Traceback" not in err
    assert not dask.children()  # they were waited for
    assert [record.method for record in Store(tmp_path / "store").records()] == ["fast"]
    command[command.index(str(file))] += ":fast"
    again = subprocess.run(command, cwd=harness.ROOT, capture_output=True, text=True, check=True)
    assert "reused" in again.stdout, again.stdout


def test_an_instance_that_a_worker_has_lost_is_sent_again(dask, tmp_path, monkeypatch):
    instance, real = harness.instance("latency", topology="staged"), Worker.of

    def forgetful(*arguments):
        worker = real(*arguments)
        worker.has.add(instance.digest)
        return worker

    monkeypatch.setattr(Worker, "of", forgetful)
    (record,) = run(tmp_path, dask, "good", instances=[instance])
    assert record.good, record.error


def test_a_killed_workers_run_is_made_elsewhere(dask, tmp_path):
    victims = []

    def kill_one(event):
        events.append(event)
        if isinstance(event, Started) and not victims:
            victims.append(dask.busy())
            dask.kill(victims[0])
            dask.add()

    events = []
    records = run_suite(
        [harness.instance()], harness.entries("until-deadline"), store=Store(tmp_path),
        seeds=range(4), time_limit_s=1.5, cluster=dask.address, progress=kill_one,
    )  # fmt: skip
    assert [record.seed for record in records if record.good] == list(range(4))
    assert not harness.children_of_harness(victims[0].pid)
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert any("was lost; until-deadline on" in text for text in notices), notices
    kinds = [type(event) for event in events]
    assert kinds.count(Started) == kinds.count(Finished) == 4


def test_a_run_that_loses_its_worker_too_often_is_a_row(dask, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "LOSSES", 1)
    victims = []

    def kill_one(event):
        if isinstance(event, Started) and not victims:
            victims.append(dask.busy())
            dask.kill(victims[0])
            dask.add()

    (record,) = run_suite(
        [harness.instance()], harness.entries("until-deadline"), store=Store(tmp_path),
        time_limit_s=1.5, cluster=dask.address, progress=kill_one,
    )  # fmt: skip
    assert (record.termination, record.check) == ("error", "none")
    assert "1 workers were lost while they ran this: tcp://" in record.error
    assert [each.key for each in Store(tmp_path).records()] == [record.key]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_ended_client_leaves_nothing_running_and_goes_on(dask, tmp_path, number):
    command = [sys.executable, "-c", CLIENT, str(tmp_path), dask.address]
    with harness.start(command, cwd=harness.ROOT, stderr=subprocess.PIPE) as client:
        seen = {client.stdout.readline() for _ in range(3)}
        assert seen == {"started good\n", "started sleeps\n", "finished good\n"}
        dask.busy()
        os.kill(client.pid, number)
        out, err = client.communicate(timeout=60)
    if number == signal.SIGINT:
        assert out == "interrupted\n"
        assert client.returncode == 0
        assert "Traceback" not in err
        assert not dask.children()  # they were waited for
    dask.wait_until_idle()  # far before the limit of the run that was under way
    events = []
    records = run(tmp_path, dask, "good", "raises", events=events, time_limit_s=200)
    assert [event.record.method for event in events if isinstance(event, Reused)] == ["good"]
    assert [record.termination for record in records] == ["completed", "error"]


def test_another_version_on_a_worker_is_refused(dask, tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "python_version", lambda: "CPython 3.99")
    with pytest.raises(ClusterError, match=r"has python CPython 3\.\d+ \(here CPython 3\.99\)"):
        run(tmp_path, dask, "good")
    assert not list(Store(tmp_path).paths())


def test_a_late_worker_that_cannot_be_used_is_left_out(dask, tmp_path):
    events = []
    wide = []

    def join(event):
        events.append(event)
        if isinstance(event, Started) and not wide:
            wide.append(dask.add("--nthreads", "3"))

    try:
        records = run_suite(
            [harness.instance()], harness.entries("until-deadline"), store=Store(tmp_path),
            seeds=range(4), time_limit_s=3.0, cluster=dask.address, progress=join,
        )  # fmt: skip
        assert all(record.good for record in records)
        with pytest.raises(ClusterError, match=r"has 3 threads.*--resources placebench=N"):
            run(tmp_path, dask, "good")
    finally:
        dask.kill(wide[0])


def test_nobody_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_pool, "CONNECT_S", 0.3)
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        run_suite([harness.instance()], harness.entries("good"), store=Store(tmp_path),
                  cluster="tcp://127.0.0.1:9")  # fmt: skip


def test_what_is_no_address_is_refused_before_there_is_a_client(tmp_path, monkeypatch):
    monkeypatch.setattr("distributed.Client", None)
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at 'here': .*port"):
        run_suite([harness.instance()], harness.entries("good"), store=Store(tmp_path),
                  cluster="here")  # fmt: skip


def test_a_lost_scheduler_is_said_in_one_line(tmp_path):
    processes = Processes(tmp_path)
    try:
        processes.add()

        def kill(event):
            if isinstance(event, Started):
                processes._scheduler.kill()

        with pytest.raises(ClusterError, match=r"the scheduler at tcp.* is gone; finished runs"):
            run_suite(
                [harness.instance()], harness.entries("sleeps"), store=Store(tmp_path / "store"),
                time_limit_s=200, cluster=processes.address, progress=kill,
            )  # fmt: skip
        processes.wait_until_idle()
    finally:
        processes.close()


def test_the_commands_in_the_readme(tmp_path):
    """As they stand there, on a port that is free."""
    text = (harness.ROOT / "bench" / "README.md").read_text()
    (block,) = re.findall(r"^```shell\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    script = block.replace("8786", str(port)).replace(".venv/bin/dask", f"{sys.executable} -m dask")
    script = script.replace(".venv/bin/placebench", f"{sys.executable} -m bench.cli")
    process = subprocess.Popen(
        ["bash", "-e", "-c", f"{script}\nkill $(jobs -p)"], cwd=tmp_path, text=True,
        env={**os.environ, "PYTHONPATH": str(harness.ROOT)}, start_new_session=True,
        stdout=subprocess.PIPE, stderr=(tmp_path / "log").open("w"),
    )  # fmt: skip
    try:
        out, _ = process.communicate(timeout=240)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, (tmp_path / "log").read_text()[-2000:]
    assert "2 at a time" in out
    assert re.search(r"^\[ *1/\d+\] ok .* single ", out, re.MULTILINE)
