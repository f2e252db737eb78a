"""What a killed harness leaves is removed by the next; nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import pytest

from bench import leftovers
from tests.bench import harness


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(scope="module")
def dead():
    """Number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_only_folders_of_the_dead_go(temporary, dead):
    (temporary / "elsewhere").mkdir()
    (temporary / "elsewhere" / "file").touch()
    stale = temporary / f"placebench-run-{dead}-abc"
    (stale / "inner").mkdir(parents=True)
    (stale / "inner" / "solver.log").touch()
    kept = [
        leftovers.make_folder(),
        str(temporary / f"placebench-run-{os.getpid()}-abc"),
        str(temporary / "placebench-run-abc"),
        str(temporary / f"other-placebench-run-{dead}-abc"),
    ]
    for path in kept[1:]:
        os.mkdir(path)
    (temporary / f"placebench-run-{dead}-file").touch()
    os.symlink(temporary / "elsewhere", temporary / f"placebench-run-{dead}-link")
    assert leftovers.remove_stale() == [stale]
    assert not stale.exists()
    assert all(map(os.path.isdir, kept))
    assert (temporary / "elsewhere" / "file").exists()
    assert (temporary / f"placebench-run-{dead}-file").exists()


def test_folders_of_others_are_left(temporary, dead, monkeypatch):
    (temporary / f"placebench-run-{dead}-abc").mkdir()
    monkeypatch.setattr(leftovers.os, "getuid", lambda: 4242)
    assert leftovers.remove_stale() == []


def test_the_next_run_removes_them(temporary, dead, tmp_path):
    (temporary / f"placebench-run-{dead}-abc").mkdir()
    row = harness.run(tmp_path / "store", "litters")["litters"]
    assert f"placebench-run-{os.getpid()}-" in row.log
    assert not list(temporary.iterdir())
