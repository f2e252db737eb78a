"""Stores that cannot take a record, and cells that another has."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from bench import batch, cells
from bench.cells import Claim, check_store
from bench.records import Store
from bench.suite import run_suite
from tests.bench import harness

KEY = "ab" * 32
NOBODY = 65534


def test_one_has_a_cell_at_a_time(tmp_path):
    claim = Claim.on(tmp_path, KEY)
    assert claim is not None
    assert Claim.on(tmp_path, KEY) is None
    assert Claim.on(tmp_path, "cd" * 32) is not None
    claim.release()
    again = Claim.on(tmp_path, KEY)
    assert again is not None
    again.release()


def test_without_locks_a_cell_can_still_be_run(tmp_path, monkeypatch):
    def none(*arguments):
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(cells.fcntl, "flock", none)
    assert Claim.on(tmp_path, KEY) is not None
    assert Claim.on(tmp_path, KEY) is not None


def test_a_cell_with_a_good_record_of_another_harness_is_not_run(tmp_path):
    harness.run(tmp_path, "good")
    events = []
    real, looked = batch.reusable, []

    def late(store, job):  # the other harness finishes between the plan and the start
        looked.append(job)
        return None if len(looked) == 1 else real(store, job)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bench.suite.reusable", late)
        patch.setattr(batch, "reusable", late)
        records = run_suite(
            [harness.instance()], harness.entries("good"), store=Store(tmp_path),
            time_limit_s=0.5, jobs=1, progress=events.append,
        )  # fmt: skip
    assert [type(event).__name__ for event in events] == ["Planned", "Reused"]
    assert [record.method for record in records] == ["good"]


@contextmanager
def somebody_else(root):
    """Go on as a user who may not write where the mode does not say so (root may everywhere)."""
    if os.geteuid() != 0:
        yield
        return
    for each in (root, *root.rglob("*")):
        os.chown(each, NOBODY, NOBODY)
    for parent in root.parents:
        parent.chmod(parent.stat().st_mode | 0o055)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("part", ["records/ab", "answers/cd", "answers", "records", "."])
def test_a_read_only_store_is_refused_before_anything_is_run(tmp_path, part):
    root = tmp_path / "store"
    check_store(root, [KEY])
    for shelf in ("records/ab", "answers/cd"):
        (root / shelf).mkdir()
    with somebody_else(root):
        check_store(root, [KEY])
        (root / part).chmod(0o555)
        with pytest.raises(PermissionError, match="cannot be written to") as told:
            check_store(root, [KEY])
        (root / part).chmod(0o755)
    assert told.value.filename == str(root / part)


def test_a_store_without_room_is_refused(tmp_path, monkeypatch):
    def small():  # a write fails as on a full disk
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    code = "import sys; from pathlib import Path; from bench.cells import check_store;"
    code += "check_store(Path(sys.argv[1]), [])"
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(
        command, cwd=harness.ROOT, capture_output=True, text=True, preexec_fn=small
    )
    assert done.returncode == 1
    assert f"cannot be written to: File too large: '{tmp_path}'" in done.stderr
    monkeypatch.setattr(cells.os, "statvfs", lambda path: SimpleNamespace(f_bavail=9, f_frsize=512))
    with pytest.raises(OSError, match=r"has only 0\.0 MiB left") as told:
        harness.run(tmp_path, "good")
    assert told.value.filename == str(tmp_path)
    assert not list(Store(tmp_path).paths())


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_no_run_is_started_once_the_disk_is_full(tmp_path, monkeypatch, code):
    def full(self, record):
        raise OSError(code, os.strerror(code), str(tmp_path))

    monkeypatch.setattr(Store, "put", full)
    events = []
    with pytest.raises(OSError, match=os.strerror(code)):
        run_suite(
            [harness.instance()], harness.entries("good"), store=Store(tmp_path), seeds=range(3),
            time_limit_s=0.5, progress=events.append,
        )  # fmt: skip
    assert [type(event).__name__ for event in events] == ["Planned", "Started", "Finished"]
    assert "could not be stored" in events[-1].record.error


def test_what_lies_in_the_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "records").write_text("x")
    with pytest.raises(OSError, match="is not a folder"):
        check_store(tmp_path, [KEY])
