"""When a run's parts began and ended: the building of a model, and an exit that is seen late."""

import time

from bench import supervise
from bench.entries import parse_entries
from bench.records import Store
from bench.suite import run_suite
from tests.bench import harness

BRIEF = """
import time
import numpy as np
from problems.answer import Answer
from solvers.method import method

@method(problems=["throughput"])
def brief(instance, context):
    context.report(Answer(np.zeros(instance.n, int)))
    time.sleep(0.05)
"""


def test_building_and_solving_are_told_apart(tmp_path):
    entries = parse_entries("assign@highs,stages,single")
    cases = [harness.instance()]
    found = run_suite(cases, entries, store=Store(tmp_path), time_limit_s=5.0)
    model, native, plain = found
    for row in (model, native):
        assert row.build_s is not None, row.entry
        assert row.solve_s is not None, row.entry
        assert 0 < row.build_s <= row.wall_s  # both in one read of a busy harness
        assert abs(row.build_s + row.solve_s - row.wall_s) < 1e-9
    assert plain.build_s is None
    assert plain.solve_s is None


def test_an_exit_that_is_seen_after_the_limit_is_no_crash(tmp_path, monkeypatch):
    (tmp_path / "brief.py").write_text(BRIEF)
    serve = supervise._Supervisor._serve

    def slow(self, timeout):
        """As on a busy machine: nothing is read until the limit has passed."""
        if self.outcome.answers.count and self.phase == "run":
            time.sleep(max(0.0, self.limit - time.monotonic()) + 0.1)
        return serve(self, timeout)

    monkeypatch.setattr(supervise._Supervisor, "_serve", slow)
    entries = parse_entries(str(tmp_path / "brief.py"))
    (row,) = run_suite(
        [harness.instance()], entries, store=Store(tmp_path / "store"), time_limit_s=0.5
    )
    assert row.termination == "time-limit"
    assert row.check != "none"  # what came in time counts
