"""The description of a machine."""

from __future__ import annotations

import importlib.metadata
import tomllib

import numpy as np

from bench import environment
from bench.records import Store
from tests.bench import harness


def test_description(tmp_path):
    described = environment.describe()
    assert described["packages"]["numpy"] == np.__version__
    assert described["usable_threads"] >= 1
    assert described["memory_bytes"] > 1 << 28
    assert described["cpu"]
    store = Store(tmp_path)
    assert store.get_environment(store.put_environment(described)) == described


def test_version_without_installation(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    text = (harness.ROOT / "pyproject.toml").read_text()
    assert environment.suite_version() == tomllib.loads(text)["project"]["version"]
    assert environment.describe()["packages"] == {}


def test_without_git(monkeypatch):
    monkeypatch.setenv("PATH", "")
    described = environment.describe()
    assert (described["git_commit"], described["git_dirty"]) == (None, None)


def test_calibration():
    times = environment.calibrate()
    assert 0 < times["min_s"] <= times["median_s"] <= times["max_s"] < 5
