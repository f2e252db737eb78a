"""Ranges and empty corners of a set of instances."""

from __future__ import annotations

import msgspec

from problems.catalogue import CatalogueEntry, Library
from problems.statistics.ranges import band, corners, ranges


def entry(n: int, problem: str = "latency", **features: object) -> CatalogueEntry:
    some = Library().entries()[0]
    told = msgspec.structs.replace(some.features, **{"memory_pressure": 0.1} | features)
    return msgspec.structs.replace(some, n=n, problem=problem, features=told)


def test_ranges_by_problem() -> None:
    entries = [entry(10), entry(20, memory_pressure=0.5), entry(3000), entry(7, "calls")]
    entries[0] = entry(10, memory_pressure=None)
    table = ranges(entries).splitlines()
    assert table[0] == "| statistic | calls | latency |"
    assert "| nodes | 7 / 7 / 7 | 10 / 20 / 3000 |" in table
    (memory,) = (line for line in table if line.startswith("| memory pressure"))
    assert memory.endswith("(1 without) |")


def test_corners_name_what_is_missing() -> None:
    assert [band("CCR", value) for value in (0.01, 0.1, 0.9, 1.0)] == [0, 1, 1, 2]
    entries = [
        entry(n, parallelism=parallelism)
        for n in (100, 1_000, 10_000)
        for parallelism in (1.0, 2.0, 9.0)
        if (n, parallelism) != (10_000, 9.0)
    ]
    (line,) = (each for each in corners(entries).splitlines() if each.startswith("* nodes and par"))
    assert line == "* nodes and parallelism: nodes >= 2000 with parallelism >= 4"
    (line,) = (
        each
        for each in corners([*entries, entry(10_000, parallelism=9.0)]).splitlines()
        if each.startswith("* nodes and par")
    )
    assert line.endswith("all nine are there")
