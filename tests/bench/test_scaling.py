"""The scaling study: its grid and its table."""

from __future__ import annotations

import pytest

from bench import scaling
from problems.catalogue import Library
from tests.bench.synthetic import record


@pytest.fixture(scope="module")
def grid():
    return scaling.instances(Library(), [1_000], [1, 2])


def test_the_grid_changes_sizes_only(grid):
    assert [(i.n, i.K, i.problem) for i in grid] == [
        (1000, 8, "throughput"), (1000, 8, "latency"),
        (1000, 16, "throughput"), (1000, 16, "latency"),
    ]  # fmt: skip
    assert len({i.digest for i in grid}) == 4


def test_time_to_an_answer_near_the_last(grid, tmp_path):
    trace = [(0.5, 4.0), (1.0, 2.01), (3.0, 2.0)]
    runs = [
        record(digest=i.digest, problem=i.problem, objective=2.0, trace=trace, entry="heft")
        for i in grid
    ]
    runs.append(record(digest=grid[0].digest, check="none", objective=None, trace=[]))
    found = scaling.rows(runs, {i.digest: (i.n, i.K, 1.0) for i in grid})
    assert found.loc[0, ["first", "near", "gap"]].tolist() == [0.5, 1.0, 0.5]
    assert found.loc[4, "gap"] == 1
    assert found.loc[4, ["first", "near"]].isna().all()
    assert "| throughput | 1,000 | 8 | heft | 0.5 s | 1 s |" in scaling.markdown(found, 10)
    scaling.draw(found, tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()
