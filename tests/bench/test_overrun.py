"""The overrun study: its entries, that it goes on where it was cut, and its table."""

from __future__ import annotations

import pytest

from bench import overrun
from bench.job import Job
from bench.records import Store
from solvers import catalogue
from tests.bench.synthetic import record


def test_every_entry_that_runs_here_is_in_it():
    found = overrun.cells(overrun.instances(8), catalogue.names())
    assert {overrun.backend_of(name) for name in found} >= {"highs", "scip", "cp-sat", "native"}
    assert set(found) <= set(catalogue.names())
    assert {found[name].problem for name in ("assign@highs", "prefix@scip")} == {"throughput"}
    assert (found["intervals"].problem, found["slots"].problem) == ("latency", "calls")
    assert overrun.instances(8)[0].n == 8
    assert overrun.instances(8)[0].K == overrun.DEVICES


def test_runs_are_not_made_again_however_they_ended(tmp_path, monkeypatch):
    made, store = [], Store(tmp_path)

    def run(target, entry, *, seeds, memory_limit_bytes, time_limit_s, **rest):
        suite = overrun.environment.suite_version()
        for seed in seeds:
            job = Job(target, entry, seed, time_limit_s, memory_limit_bytes, 1, suite, "")
            made.append(job.record(termination="time-limit", check="none"))
            store.put(made[-1])
        return made[-len(seeds) :]

    monkeypatch.setattr(overrun.api, "run", run)
    wanted = overrun.cells(overrun.instances(8), ["disjunctive@highs", "intervals"])
    how = {"time_limit_s": 0.5, "jobs": 1, "store": store}
    assert len(overrun.records(wanted, runs=1, **how)) == len(made) == 2
    assert not made[0].good
    again = overrun.records(wanted, runs=3, **how)
    assert [record.seed for record in made] == [0, 0, 1, 1]
    assert sorted(record.key for record in again) == sorted(record.key for record in made)


def test_the_table_says_median_and_largest():
    late = {"termination": "time-limit", "check": "none", "objective": None}
    made = [
        record(entry="assign@highs", seed=0, overrun_s=0.01, **late),
        record(entry="assign@highs", seed=1, overrun_s=0.05, **late),
        record(entry="intervals", seed=0, overrun_s=1.02, signal="SIGKILL", orphans=2, **late),
        record(entry="intervals", seed=1, overrun_s=0.0),
    ]
    found = overrun.summary(overrun.rows(made), "backend").set_index("backend")
    assert found["runs"].to_dict() == {"highs": 2, "native": 2, "all": 4}
    assert found["at the limit"].to_dict() == {"highs": 2, "native": 1, "all": 3}
    assert found["median"].to_dict() == pytest.approx({"highs": 0.03, "native": 1.02, "all": 0.05})
    assert found["largest"].to_dict() == {"highs": 0.05, "native": 1.02, "all": 1.02}
    assert found["killed"].to_dict() == {"highs": 0, "native": 1, "all": 1}
    page = overrun.markdown(overrun.rows(made), 1.0, 5000)
    assert "Over 4 runs: median 0.05 s, largest 1.02 s." in page
    assert "Runs that ended otherwise: 1 completed." in page
    assert "| intervals | 2 | 1 | 1 | 1.02 s | 1.02 s | 2 |" in page
