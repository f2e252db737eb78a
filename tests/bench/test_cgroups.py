"""Control groups: where they are looked for, and what is written to them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bench import cgroups


@pytest.fixture
def delegated(tmp_path, monkeypatch):
    """As a session manager delegates: this process in a scope, its parent divides memory."""
    mount, proc = tmp_path / "mount", tmp_path / "proc"
    scope = mount / "user" / "some.scope"
    scope.mkdir(parents=True)
    proc.mkdir()
    (scope / "cgroup.subtree_control").write_text("\n")
    (scope.parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    line = f"30 23 0:26 / {mount} rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
    (proc / "mountinfo").write_text(f"22 1 0:1 / / rw - ext4 /dev/sda rw\n{line}")
    (proc / "cgroup").write_text("4:memory:/elsewhere\n0::/user/some.scope\n")
    monkeypatch.setattr(cgroups, "PROC", proc)
    return scope


def test_the_group_that_divides_memory_comes_first(delegated):
    assert cgroups.parents() == [delegated.parent, delegated]
    path = cgroups.make("tag", None)
    assert path == delegated.parent / f"placebench-run-{os.getpid()}-tag"
    cgroups.remove(path)
    assert not path.exists()


def test_the_limit_is_of_all_processes_with_their_swap(delegated, monkeypatch):
    def as_the_kernel_does(path, mkdir=os.mkdir):
        mkdir(path)
        for name in ("memory.max", "memory.swap.max", "memory.oom.group", "cgroup.kill"):
            (path / name).write_text("x\n")

    monkeypatch.setattr(cgroups.Path, "mkdir", as_the_kernel_does)
    path = cgroups.make("tag", 1 << 30)
    said = {each.name: each.read_text().split()[0] for each in path.iterdir()}
    assert said == {
        "memory.max": str(1 << 30), "memory.swap.max": "0", "memory.oom.group": "1",
        "cgroup.kill": "x",
    }  # fmt: skip
    assert not cgroups.ran_out(path)
    (path / "memory.events").write_text("low 0\noom 1\noom_kill 2\n")
    assert cgroups.ran_out(path)
    cgroups.kill(path)
    assert (path / "cgroup.kill").read_text().split()[0] == "1"


def test_without_any_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(cgroups, "PROC", tmp_path)
    assert cgroups.make("tag", 1) is None
    assert cgroups.describe().startswith("none")
    assert not cgroups.ran_out(None)
    assert cgroups.members(None) == set()


def test_groups_of_dead_harnesses_go(delegated):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    stale = delegated / f"placebench-run-{process.pid}-abc"
    kept = delegated / f"placebench-run-{os.getpid()}-abc"
    stale.mkdir()
    kept.mkdir()
    assert cgroups.remove_stale() == [stale]
    assert kept.exists()
    assert not stale.exists()
