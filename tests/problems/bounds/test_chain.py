"""The bound along a chain: below every optimum, exact where the graph is a chain and fits."""

from __future__ import annotations

import numpy as np
import pytest

from problems.bounds import chain as chain_
from problems.bounds import chain_costs
from problems.bounds.chain_costs import cases, chain_of
from problems.bounds.theoretical import theoretical
from tests.brute_force import optimum
from tests.solvers.tiny import calls_instances
from tests.tiny import instance


def test_it_is_below_every_optimum():
    met = more = 0
    for seed, case in calls_instances(range(900, 1000)):
        best, value = optimum(case).objective, chain_.chain(case).value
        if best is not None:
            assert value <= best, (seed, value, best)
            met += value >= best * (1 - 1e-9)
        cheap = theoretical(case)
        assert cheap.value >= value
        more += cheap.bounds[0].name == "chain"
    assert met >= 10
    assert more >= 10


def path(weights, limit):
    """Nodes in a row, each 1 s on the accelerator and 10 s on the host; transfers take no time."""
    n = len(weights)
    return instance(
        [[10.0, 1.0]] * n, [(v, v + 1) for v in range(n - 1)], problem="calls", hosts=[0],
        delay=[0.0, 0.0], payload=[0] * n, weights=weights, memory=[None, limit],
    )  # fmt: skip


def test_memory_sends_nodes_to_the_host():
    own = [{"a": 3}, {"b": 3}, {"c": 3}, {"d": 3}]
    assert chain_.chain(path(own, 12)).value == pytest.approx(4.0)
    tight = path(own, 6)
    assert chain_.chain(tight).value == pytest.approx(22.0)
    assert optimum(tight).objective == 22.0


def test_slots_tie_nodes_together():
    # The node in the middle runs on the host only.
    times = [[10.0, 1.0], [1.0, None], [10.0, 1.0]]
    for slots, value in ((2, 3.0), (1, 12.0)):
        case = instance(
            times, [(0, 1), (1, 2)], problem="calls", hosts=[0], delay=[0.0, 0.0],
            payload=[0, 0, 0], rules={"slots": slots},
        )  # fmt: skip
        assert chain_.chain(case).value == pytest.approx(value)


def test_shared_weights_are_told_apart_or_split():
    case = path([{"a": 1, "tied": 8}, {"b": 1}, {"c": 1, "tied": 8}], 10)
    found, apart = cases(chain_of(case, np.arange(3)))
    assert apart
    assert [each.limit.tolist() for each in found] == [[2.0], [10.0]]
    # Held: two nodes fit. Not held: only the node in the middle may be there.
    assert chain_.chain(case).value == pytest.approx(12.0)
    assert optimum(case).objective == 12.0


def test_many_shared_weights_are_split(monkeypatch):
    monkeypatch.setattr("problems.bounds.chain_costs.CASES", 1)
    case = path([{"a": 1, "tied": 8}, {"b": 1}, {"c": 1, "tied": 8}], 10)
    line = chain_of(case, np.arange(3))
    for above, total in ((False, 11.0), (True, 19.0)):
        (each,), apart = cases(line, above)
        assert not apart
        assert each.total[-1] == total
    assert chain_.chain(case).value <= 12.0


def test_pieces_change_nothing_and_the_clock_is_looked_at_between_them(monkeypatch):
    several = [case for _, case in calls_instances(range(900, 930))]
    lines = [chain_of(each, np.arange(each.n)) for each in several]
    whole = [chain_.relax(line, way) for line in lines for way in cases(line)[0]]
    for module in (chain_, chain_costs):
        monkeypatch.setattr(module, "PIECE", 1)
    for line, each in zip(lines, several, strict=True):
        assert np.array_equal(chain_of(each, np.arange(each.n)).cost, line.cost)
    again = [chain_.relax(line, way) for line in lines for way in cases(line)[0]]
    for before, after in zip(whole, again, strict=True):
        assert (before.bound, before.best, before.cut) == (after.bound, after.best, after.cut)
    asked = 0

    def done() -> bool:
        nonlocal asked
        asked += 1
        return asked % 2 == 0

    case = path([{}] * 5, 6)
    line = chain_of(case, np.arange(5))
    assert chain_costs.chain_in_time(case, np.arange(5), done) is None
    assert chain_.relax_in_time(line, cases(line)[0][0], done) is None
    assert asked == 4
