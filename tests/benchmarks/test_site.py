"""The site of 50 entries x 200 instances x 5 seeds: how long it takes, and how large it is.

Instances are the library's smallest 200; records and answers are made up, but for one answer an
instance that is valid, so that it is drawn.
"""

from __future__ import annotations

import random

import pytest

from bench.leaderboard import gather, site
from bench.leaderboard.evidence import Evidence, runs_of
from bench.records import Store
from problems.answer import Answer, to_file
from problems.catalogue import Library
from problems.single import best_single
from tests.bench.synthetic import record

ENTRIES, INSTANCES, SEEDS = 50, 200, 5


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    store, draw, library = Store(tmp_path_factory.mktemp("store")), random.Random(1), Library()
    made, bounds, sizes, loaded = [], {}, {}, {}
    entries = sorted(library.entries(), key=lambda entry: (entry.n, entry.id))
    for each in entries:
        instance = library.load(each.id)
        single = best_single(instance)
        if single is None or len(loaded) == INSTANCES:
            continue
        loaded[each.digest] = instance
        answer, z = single
        bounds[each.digest], sizes[each.digest] = 0.5 * z, (each.n, each.devices)
        where = {"instance": each.id, "digest": each.digest, "problem": each.problem,
                 "family": each.family}  # fmt: skip
        for i in range(ENTRIES):
            for seed in range(SEEDS):
                value, found = z, answer
                if (i, seed) != (0, 0):  # runs of equal devices, as good answers have them
                    value = z * (1 + draw.random())
                    device = [draw.randrange(each.devices)]
                    while len(device) < each.n:
                        device.append(
                            device[-1] if draw.random() < 0.9 else draw.randrange(each.devices)
                        )
                    found = Answer.of(device)
                times = sorted(draw.random() for _ in range(10))
                trace = [(t, value * (2 - k / 9)) for k, t in enumerate(times)]
                made.append(
                    record(
                        **where, entry=f"entry{i}", seed=seed, objective=value, trace=trace,
                        answer=store.put_answer(to_file(found, each.digest)),
                        wall_s=10 * draw.random(),
                    )
                )  # fmt: skip
    board = gather.board(gather.Source(store, made, "made up"), gather.Known(bounds, sizes))
    return board, Evidence(runs_of(board, made), store, {}, None, loaded.get)


def test_write(benchmark, built, tmp_path):
    board, evidence = built
    assert board.runs == ENTRIES * INSTANCES * SEEDS
    benchmark.pedantic(site.write, (tmp_path, board, evidence), rounds=1)
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    benchmark.extra_info["megabytes"] = round(size / 1e6, 1)
    benchmark.extra_info["files"] = sum(path.is_file() for path in tmp_path.rglob("*"))
    assert (tmp_path / "index.html").exists()
    assert size < 60e6
