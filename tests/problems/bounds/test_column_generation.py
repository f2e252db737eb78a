import time

import numpy as np
import pytest

from problems.bounds.column_generation import CONVERGED, Known, Search
from problems.bounds.local_polytope import local
from problems.bounds.nets import nets_of
from problems.bounds.node_cut import Effort
from problems.bounds.pricing import Pricing
from problems.bounds.supposing import supposing
from tests.problems.bounds.throughput_cases import solved

SEEDS = range(0, 60, 4)


def searched(seed, stretch):
    """A search at a level above the optimum, what it found and the optimum, in units."""
    case, best = solved(seed)
    nets = nets_of(case)
    if best.objective is None or nets.work[0] <= 0:
        return None
    optimum = best.objective / nets.work[0]
    left, label = supposing(nets, best.objective * stretch, Effort(10**9))
    search = Search(nets, left, label, optimum * stretch, Known(None, []))
    return search, search.run(time.monotonic() + 20.0, 0.0), optimum


@pytest.mark.parametrize("part", range(3))
def test_begins_at_the_local_polytope_and_ends_at_most_at_the_optimum(part):
    taken = 0
    for seed in SEEDS[part::3]:
        found = searched(seed, 1.5)
        if found is None:
            continue
        search, value, optimum = found
        assert value >= local(search.nets)[0] / search.unit - 2 * CONVERGED, seed
        assert value <= optimum, seed
        taken += 1
    assert taken >= 3


@pytest.mark.parametrize("part", range(3))
def test_the_master_program_overestimates_every_bound(part):
    for seed in SEEDS[part::3]:
        found = searched(seed, 1.2)
        if found is None:
            continue
        search, value, _ = found
        everywhere = np.full(len(search.size), 10.0)
        upper, best = search.master(everywhere, 10.0)
        assert upper >= value, seed
        assert best.load @ search.nets.count == pytest.approx(1.0)
        assert (best.load >= 0).all()


def test_what_one_level_found_is_kept_by_the_groups_of_the_instance():
    search, _, _ = searched(8, 1.2)
    sets, multipliers = search.sets(), search.multipliers()
    again = Search(
        search.nets, search.nets, np.arange(len(search.size)), search.level, Known(None, [])
    )
    assert not again.pool
    assert multipliers.cover.sum() == pytest.approx(search.centre.cover.sum())
    assert {len(np.unique(search.label[each])) for each in sets} == {
        len(each.groups) for each in search.pool
    }


def test_a_minimum_that_a_known_set_is_under_is_refused(monkeypatch):
    case = next(c for seed in SEEDS if not (c := solved(seed)[0]).rules.contiguous)
    nets = nets_of(case)
    single = [np.array([g]) for g in range(len(nets.time))]
    search = Search(nets, nets, np.arange(len(nets.time)), 10.0, Known(None, single))
    monkeypatch.setattr(Pricing, "least", lambda *_: (1.0, None))
    assert search.pool
    with pytest.raises(ArithmeticError, match="under the minimum of 1"):
        search.run(time.monotonic() + 20.0, 0.0)
