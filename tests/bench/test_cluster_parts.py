"""What a cluster has to be, and what is believed of what comes back, without a cluster."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from msgspec import structs

from bench import environment
from bench.cluster_return import received
from bench.cluster_slots import ClusterError, Worker, check_host, check_versions
from bench.cluster_worker import Returned, identify
from bench.job import Job, run_one
from bench.records import Store
from bench.suite import run_suite
from problems.files import encode
from tests.bench import harness


def worker(nthreads=1, resources=(), **told):
    info = {"nthreads": nthreads, "resources": dict(resources)}
    return Worker.of("tcp://a:1", info, {**identify(), **told})


def test_slots():
    assert worker().slots == 1
    assert worker(4, {"placebench": 3.0}).slots == 3
    assert worker(2, {"placebench": 3.0}).slots == 2
    for bad in ((4, {}), (4, {"GPU": 1}), (1, {"placebench": 0.0})):
        with pytest.raises(ClusterError, match="--nthreads 1"):
            worker(*bad)


def test_a_machine_has_to_have_the_cores():
    two = [worker(cores=[0, 1], quota=None) for _ in range(2)]
    check_host(two, 1)
    with pytest.raises(ClusterError, match=r"has 2 usable cores, and 2 workers .* 2 threads each"):
        check_host(two, 2)
    with pytest.raises(ClusterError, match=r"has 2 usable cores, and 3 workers"):
        check_host([*two, worker(cores=[0, 1], quota=None)], 1)
    with pytest.raises(ClusterError, match=r"has 1\.5 usable cores"):
        check_host([worker(cores=[0, 1], quota=1.5) for _ in range(2)], 1)
    check_host([*two, worker(cores=[2], quota=None)], 1)  # a core of its own
    check_host([*two, worker(cores=[0, 1], quota=None, host="other 1")], 1)
    check_host([*two, worker(2, {"placebench": 2.0}, cores=[0, 1], quota=None)], 1)  # as meant


@pytest.mark.parametrize("part", ["suite", "sources", "python"])
def test_versions_have_to_be_the_same(part):
    check_versions(worker())
    with pytest.raises(ClusterError, match=f"tcp://a:1 has {part} other"):
        check_versions(worker(**{part: "other"}))


def test_what_does_not_hold_is_not_believed():
    (entry,) = harness.entries("good")
    job = Job(harness.instance(), entry, 0, 1.0, None, 1, environment.suite_version(), "e")
    record, answer = run_one(job)
    told = Returned(encode(record), encode(answer))
    assert received(told, job) == (record, answer)
    better = structs.replace(record, objective=record.objective / 2)
    wrong = {
        "objective": Returned(encode(better), told.answer),
        "its seed|its key": Returned(encode(structs.replace(record, key="0" * 64)), told.answer),
        "an answer is missing": Returned(told.record, None),
        "says 'invalid' of an answer that is valid": Returned(
            encode(structs.replace(record, check="invalid")), told.answer
        ),
        "its answer is another": Returned(encode(structs.replace(record, answer="x")), told.answer),
        "the worker's record": Returned(b"{}", told.answer),
        "its environment": Returned(encode(structs.replace(record, environment="f")), told.answer),
    }
    for what, each in wrong.items():
        row, file = received(each, job)
        assert file is None
        assert (row.termination, row.check, row.key) == ("error", "none", job.key)
        assert any(part in row.error for part in what.split("|")), row.error
    assert received(told, replace(job, seed=1))[0].termination == "error"


def test_without_the_extra_the_command_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install -e '\.\[cluster\]'"):
        run_suite([harness.instance()], harness.entries("good"), store=Store(tmp_path),
                  cluster="tcp://127.0.0.1:9")  # fmt: skip
    with pytest.raises(ValueError, match="jobs is for this machine"):
        run_suite([harness.instance()], harness.entries("good"), store=Store(tmp_path),
                  cluster="tcp://127.0.0.1:9", jobs=2)  # fmt: skip


def test_dask_is_loaded_for_a_cluster_only():
    code = "import sys, bench.suite, bench.cli.running, bench.api, bench.cluster_slots;"
    code += "sys.exit('distributed' in sys.modules or 'dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=harness.ROOT).returncode == 0
