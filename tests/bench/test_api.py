"""The Python calls."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import bench
from bench.records import Store
from problems import files
from problems.answer import Answer
from problems.catalogue import Library
from problems.generate.random import random_bundle
from tests.bench import harness


def test_load_run_check(tmp_path):
    path = tmp_path / "mine.json"
    files.write(path, random_bundle(3, problem="latency"))
    instance = bench.load(path)
    assert bench.load(str(path)).digest == instance.digest
    (entry,) = harness.entries("good")
    seen = []
    (record,) = bench.run(
        [str(path), instance], [entry, entry], store=tmp_path / "store", time_limit_s=5,
        progress=seen.append,
    )  # fmt: skip
    assert record.objective == bench.check(instance, Answer.of([0] * instance.n)).objective
    assert [each.key for each in Store(tmp_path / "store").records()] == [record.key]
    assert (seen[0].to_run, record.time_limit_s) == (1, 5.0)


def test_unknown_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match="nowhere"):
        bench.load("nowhere/to/latency")
    with pytest.raises(ValueError, match="did you mean 'heft'"):
        bench.run(harness.instance(), "hetf", store=tmp_path)
    with pytest.raises(AttributeError, match="no attribute 'fly'"):
        _ = bench.fly  # type: ignore[attr-defined]


def test_the_process_of_a_run_imports_little():
    code = "import bench.worker, sys; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=harness.ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"numba", "scipy", "networkx", "pandas", "highspy", "ortools", "torch", "psutil"}
    assert not heavy & set(loaded)


def test_a_number_of_seeds_is_how_many(tmp_path):
    options = {"store": tmp_path, "time_limit_s": 5}
    records = bench.run(harness.instance(), harness.entries("good"), seeds=3, **options)
    assert [record.seed for record in records] == [0, 1, 2]
    with pytest.raises(ValueError, match="seeds is 0"):
        bench.run(harness.instance(), harness.entries("good"), seeds=0, **options)


def test_an_unknown_instance_gets_a_hint():
    first = Library().index().instances[0].id
    with pytest.raises(ValueError, match=f"did you mean .*{re.escape(first)}"):
        bench.load(first[:-1])
    with pytest.raises(ValueError, match=r"'nope'; (did you mean|ids are such as) '"):
        bench.load("nope")
