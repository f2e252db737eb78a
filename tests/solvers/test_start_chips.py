"""Simple answers of `chips`: levels, and what they are cut into."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest

from problems import chips
from problems.builder import Builder
from problems.generate.samples import samples
from problems.resolve import from_bundle
from solvers.start_chips import chips_start, level_start, levels


def residual(blocks, K, memory=None):
    """Blocks of three nodes in a row and a sum that reads what the block does."""
    builder = Builder("residual", problem="chips", rules={"memory": "weights"})
    for k in range(K):
        builder.add_device(f"chip{k}", kind="chip", memory_bytes=memory)
    builder.add_link("hop", latency_s=0.1, bandwidth_Bps=1e9)
    builder.set_default_link("hop")
    last = None
    for b in range(blocks):
        names = [f"{b}.{part}" for part in ("in", "mid", "out", "sum")]
        for name in names:
            builder.add_node(name, {"chip": 1.0}, output_bytes=1, weights=1)
        for u, v in pairwise(names):
            builder.add_edge(u, v)
        if last is not None:
            builder.add_edge(last, names[0])
            builder.add_edge(last, names[3])
        last = names[3]
    return from_bundle(builder.build())


def test_levels_grow_by_one_at_most_along_every_edge():
    grown = 0
    for _, case in samples(60, problem="chips", n=9, devices=3, density=0.2):
        sources = np.flatnonzero(np.diff(case.pred_ptr) == 0)
        for starts in (sources.tolist(), sources[:1].tolist()):
            level = levels(case, starts)
            step = level[case.edges[:, 1]] - level[case.edges[:, 0]]
            assert set(step.tolist()) <= {0, 1}
            assert (np.bincount(level) > 0).all()
            assert len(set(zip(case.group.tolist(), level.tolist(), strict=True))) == (
                case.group.max() + 1
            )
            grown += level.max()
    assert grown > 60


def test_the_work_is_spread_and_memory_is_kept():
    case = residual(blocks=8, K=4)
    answer = chips_start(case)
    assert chips.is_valid(case, answer.device)
    assert chips.parts(case, answer.device)[:, chips.COMPUTE].max() <= 10  # of 32, on 4 chips
    tight = level_start(residual(blocks=8, K=5, memory=8))
    assert np.bincount(tight.device).max() <= 8
    assert chips_start(residual(blocks=8, K=3, memory=8)) is None


def test_where_levels_do_not_fit_repair_finds_a_start():
    found = 0
    for _, case in samples(200, problem="chips", n=8, devices=3, density=0.3, tight=1.3):
        answer, by_levels = chips_start(case), level_start(case)
        if answer is not None:
            assert chips.is_valid(case, answer.device)
        if by_levels is not None:
            best = chips.period(case, by_levels.device)
            assert chips.period(case, answer.device) <= best
        found += by_levels is None and answer is not None
    assert found >= 5


def test_levels_are_left_out_when_time_is_up(monkeypatch):
    monkeypatch.setattr("solvers.start_chips.levels", lambda *_: pytest.fail("time is up"))
    whole = level_start(residual(blocks=2, K=2), time.monotonic() - 1)
    assert (whole.device == 0).all()
