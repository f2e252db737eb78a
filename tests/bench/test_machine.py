"""Limits of control groups as the kernel writes them, and words for noise."""

from __future__ import annotations

import pytest

from bench import machine

V1 = "9:name=systemd:/\n4:memory:/a/b\n2:cpu,cpuacct:/a\n0::/\n"


@pytest.fixture
def groups(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(machine, "OWN", tmp_path / "own")

    def write(own, files):
        (tmp_path / "own").write_text(own)
        for name, text in files.items():
            path = tmp_path / "cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


@pytest.mark.parametrize(
    ("own", "files", "quota", "memory"),
    [
        ("0::/\n", {}, None, None),
        ("0::/\n", {"cgroup.controllers": ""}, None, None),
        (
            "0::/job/step\n",
            {
                "cgroup.controllers": "cpu", "job/cpu.max": "150000 100000\n",
                "job/step/cpu.max": "max 100000\n", "job/memory.max": "1000000\n",
                "job/step/memory.max": "2000000\n",
            },
            1.5, 1_000_000,
        ),
        ("0::/host/path\n", {"cgroup.controllers": "", "cpu.max": "50000 100000"}, 0.5, None),
        (
            V1,
            {
                "cpu/a/cpu.cfs_quota_us": "200000", "cpu/a/cpu.cfs_period_us": "100000",
                "cpu/cpu.cfs_quota_us": "-1", "memory/memory.limit_in_bytes": str(2**63 - 4096),
                "memory/a/b/memory.limit_in_bytes": "4096000",
            },
            2.0, 4_096_000,
        ),
    ],
)  # fmt: skip
def test_limits_of_control_groups(groups, own, files, quota, memory):
    groups(own, files)
    assert machine.cpu_quota() == quota
    assert machine.memory_limit() == memory
    if quota is not None:
        assert machine.usable_cores() <= quota


def test_noise_in_words():
    assert machine.verdict(0.01, 0.0).startswith("quiet")
    assert machine.verdict(0.05, 0.0).startswith("uneven: times that differ by less than 5 %")
    assert machine.verdict(0.01, 0.2).startswith("noisy: times differ by 20 %")
    found = machine.noise(0.0)
    assert 0 <= found["spread"] <= found["worst"]
