"""The number of ideals, against all subsets."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.statistics.ideals import ideals


def brute_force(pairs: list[tuple[int, int]], group: list[int]) -> int:
    """Subsets of the groups that have, with every node, all that comes before it."""
    return sum(
        all(chosen[group[u]] or not chosen[group[v]] for u, v in pairs)
        for chosen in product((False, True), repeat=max(group) + 1)
    )


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_ideals_are_counted(data) -> None:
    n = data.draw(st.integers(1, 9))
    node = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(node, node), max_size=2 * n))  # cycles, too
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    number: dict[int, int] = {}
    group = [number.setdefault(label, len(number)) for label in labels]
    for each in (group, list(range(n))):
        found = ideals(np.array(pairs, np.int64).reshape(-1, 2), np.array(each))
        assert found == brute_force(pairs, each)


def test_a_chain_has_one_more_ideal_than_nodes() -> None:
    n = 5_000
    chain = np.array([(v, v + 1) for v in range(n - 1)])
    assert ideals(chain, np.arange(n)) == n + 1


def test_beyond_the_cap_nothing_is_claimed() -> None:
    none = np.empty((0, 2), np.int64)
    assert ideals(none, np.arange(10)) == 1024
    assert ideals(none, np.arange(10), most=1024) == 1024
    assert ideals(none, np.arange(10), most=1023) is None
    assert ideals(none, np.arange(5_000)) is None
    fan = np.array([(0, v) for v in range(1, 100)])
    assert ideals(fan, np.arange(100)) is None
