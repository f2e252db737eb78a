"""100,000 records: reading, ranking and tabulating them takes seconds.

Their answers are not checked here: that is the checker's time, once an answer.
"""

from __future__ import annotations

import pytest

from bench import table
from bench.leaderboard import gather
from bench.records import Store
from problems.files import encode
from tests.bench.synthetic import many

SIZES = {"5000": (50, 10, 10), "100000": (500, 20, 10)}
"""Instances, entries, seeds."""


@pytest.fixture(scope="module", params=SIZES)
def records(request):
    return many(*SIZES[request.param])


@pytest.fixture(scope="module")
def published(records, tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "records" / "many.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(encode(record) + b"\n" for record in records))
    return path


def known(records):
    return gather.Known({record.digest: 0.5 for record in records})


def test_read_a_file(benchmark, records, published):
    benchmark.group = f"{len(records)} records"
    source = benchmark.pedantic(gather.from_file, (published,), rounds=1)
    assert len(source.records) == len(records)


def test_rank(benchmark, records):
    benchmark.group = f"{len(records)} records"
    source = gather.Source(Store("nowhere"), records, "made up")
    board = benchmark.pedantic(gather.board, (source, known(records)), rounds=1)
    assert board.runs == len(records)


def test_table(benchmark, records):
    benchmark.group = f"{len(records)} records"
    heads = known(records).headlines(records)
    found = benchmark.pedantic(table.frame, (records, heads), rounds=1)
    assert len(found) == len(records)
