"""Kills of the harness: a few of the study's; and the one that a method can do."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd

from bench.records import Store
from tests.bench import harness
from tests.bench.test_suite import wait_for_no_children

SCRIPT = """
import sys
from pathlib import Path
from bench import environment
from tests.bench import harness

environment.CALIBRATION_REPEATS = 1
harness.run(Path(sys.argv[1]), "leaves-a-fugitive", "kills-the-harness", "good", jobs=1)
"""


def test_nothing_is_lost_by_kills(tmp_path):
    command = [sys.executable, "-m", "bench.kills", "--kills", "3", "--seeds", "1", "--seed", "5"]
    done = subprocess.run(
        [*command, "--save", "--output", str(tmp_path)],
        cwd=harness.ROOT, capture_output=True, text=True, timeout=250,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = pd.read_csv(tmp_path / "kills.csv")
    assert len(found) == 3
    assert (found[["lost", "corrupt", "again", "not_reused", "left"]] == 0).all(axis=None)
    assert "Lost 0, corrupt 0, again 0, not reused 0, left 0" in done.stdout
    assert (tmp_path / "kills.md").read_text() == done.stdout


def test_a_method_that_kills_the_harness_costs_no_finished_record(tmp_path):
    process = harness.start([sys.executable, "-c", SCRIPT, str(tmp_path)], cwd=harness.ROOT)
    process.communicate(timeout=120)
    assert process.returncode == -9
    wait_for_no_children(process.pid)
    (record,) = Store(tmp_path).records()
    assert (record.entry, record.check, record.orphans) == ("leaves-a-fugitive", "ok", 1)
    assert Store(tmp_path).get_answer(record.answer).instance == record.digest
