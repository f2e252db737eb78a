"""Single-entry-single-exit regions of known graphs."""

import numpy as np
import pytest

from heuristics.modules.regions import articulations, regions

DIAMONDS = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)]


def _sets(label):
    return sorted(np.flatnonzero(label == i).tolist() for i in range(int(label.max()) + 1))


def _found(count, pairs, size):
    return _sets(regions(count, np.array(pairs, np.int64).reshape(-1, 2), size))


@pytest.mark.parametrize(
    ("count", "pairs", "expected"),
    [
        (3, [(0, 1), (1, 2)], [0, 1, 2]),
        (7, DIAMONDS, [0, 3, 6]),
        (4, [(0, 2), (1, 2), (2, 3)], [2, 3]),  # two sources
        (4, [(0, 1), (1, 2), (2, 3), (0, 2)], [0, 2, 3]),  # a skip connection
        (2, [], []),
        (1, [], [0]),
    ],
)
def test_articulations(count, pairs, expected):
    cut = articulations(count, np.array(pairs, np.int64).reshape(-1, 2))
    assert np.flatnonzero(cut).tolist() == expected


def test_diamonds_fall_apart_at_their_ends():
    assert _found(7, DIAMONDS, 3) == [[0, 1, 2], [3, 4, 5], [6]]


def test_a_region_too_large_falls_into_its_branches():
    # 0 -> {1 -> 2 -> 3, 4 -> 5} -> 6
    pairs = [(0, 1), (1, 2), (2, 3), (3, 6), (0, 4), (4, 5), (5, 6)]
    assert _found(7, pairs, 6) == [[0, 1, 2, 3, 4, 5], [6]]
    assert _found(7, pairs, 3) == [[0], [1], [2], [3], [4], [5], [6]]


def test_what_has_no_structure_stays_whole():
    # Every source to every sink, one edge short: neither side by side nor one behind another.
    pairs = [(a, b) for a in range(3) for b in range(3, 6) if (a, b) != (2, 3)]
    assert _found(6, pairs, 2) == [list(range(6))]


def test_pieces_that_nothing_joins_are_apart():
    assert _found(4, [(0, 2), (1, 3)], 9) == [[0], [1], [2], [3]]
