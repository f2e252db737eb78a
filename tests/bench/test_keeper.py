"""What the keeper reads of processes, and that it signals only the one it saw."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from bench import keeper
from tests.bench import harness


@pytest.fixture
def sleeper():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def test_names_may_hold_anything(tmp_path):
    path = tmp_path / "a) Z 1 (b"
    path.symlink_to("/bin/sleep")
    process = subprocess.Popen([str(path), "60"])
    found = keeper._stat(process.pid)
    process.kill()
    process.wait()
    assert (found.parent, found.group) == (os.getpid(), os.getpgid(0))
    assert found.state in "RSD"
    assert keeper._stat(process.pid) is None


@pytest.mark.parametrize("descriptors", [True, False])
def test_only_the_process_that_was_seen_is_signalled(sleeper, monkeypatch, descriptors):
    if not descriptors:

        def refused(pid):
            raise PermissionError

        monkeypatch.setattr(os, "pidfd_open", refused)
    seen = keeper._relatives()[sleeper.pid]
    keeper._signal(sleeper.pid, seen._replace(start="1"), signal.SIGKILL)
    assert harness.is_alive(sleeper.pid)
    keeper._signal(sleeper.pid, seen, signal.SIGKILL)
    assert sleeper.wait(10) == -signal.SIGKILL
    keeper._signal(sleeper.pid, seen, signal.SIGKILL)  # gone: nothing happens
