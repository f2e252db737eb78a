from itertools import product

import numpy as np
import pytest

from problems import throughput
from problems.bounds.column_generation import load_of
from problems.bounds.nets import nets_of
from problems.bounds.node_cut import Effort
from problems.bounds.supposing import contract, forbid, supposing
from tests.problems.bounds.throughput_cases import CASES, solved
from tests.tiny import instance

SEEDS = CASES[:72]


def plenty():
    return Effort(10**9)


def chain(**rules):
    # a -> b takes 10, b -> c 1; everything runs anywhere.
    return instance(
        [[2, 2], [3, 3], [4, 4]],
        [(0, 1), (1, 2)],
        problem="throughput",
        payload=[10, 1, 0],
        delay=[0, 0],
        **rules,
    )


def test_what_is_dearer_to_part_than_the_level_stays_together():
    left, label = supposing(nets_of(chain()), 9.5, plenty())
    assert label[0] == label[1] != label[2]
    assert sorted(left.time[:, 0].tolist()) == [4.0, 5.0]
    assert len(left.source) == 1


def test_a_level_that_no_answer_is_under_is_refuted():
    assert supposing(nets_of(chain()), 5.5, plenty()) is None


def test_a_high_level_says_nothing():
    nets = nets_of(chain())
    left, label = supposing(nets, 100.0, plenty())
    assert left is nets
    assert label.tolist() == [0, 1, 2]


@pytest.mark.parametrize("part", range(4))
def test_holds_for_every_answer_under_the_level(part):
    found = 0
    for seed in SEEDS[part::4]:
        case, best = solved(seed)
        if best.objective is None:
            continue
        nets, t = nets_of(case), 1.01 * best.objective
        result = supposing(nets, t, plenty())
        assert result is not None, seed
        left, label = result
        may = np.isfinite(left.time[label])[:, nets.device_class]
        found += int(
            len(left.time) < len(nets.time) or (may < np.isfinite(nets.device_time[0])).any()
        )
        G, first = len(label), np.unique(case.group, return_index=True)[1]
        for device in product(range(case.K), repeat=G):
            placed = np.array(device)[case.group]
            if not throughput.is_valid(case, placed) or throughput.period(case, placed) >= t:
                continue
            on = placed[first]
            assert may[np.arange(G), on].all(), seed
            assert (on == on[np.unique(label, return_index=True)[1]][label]).all(), seed
    assert found >= 2


@pytest.mark.parametrize("seed", range(0, 40, 5))
def test_sets_of_merged_groups_have_the_loads_of_their_members(seed):
    nets = nets_of(solved(seed)[0])
    G = len(nets.time)
    left, label = contract(nets, np.arange(G) // 2)
    for c in range(len(nets.count)):
        for chosen in product((False, True), repeat=len(left.time)):
            inside = np.array(chosen)
            mine, theirs = np.flatnonzero(inside), np.flatnonzero(inside[label])
            assert np.isfinite(left.time[mine, c]).all() == np.isfinite(nets.time[theirs, c]).all()
            assert load_of(left, c, mine) == pytest.approx(load_of(nets, c, theirs))
            assert left.bytes[mine].sum() >= nets.bytes[theirs].sum()


def test_what_is_forbidden_has_no_time_anywhere():
    nets = nets_of(chain())
    may = np.isfinite(nets.time)
    may[1] = False
    left = forbid(nets, may)
    assert np.isinf(left.time[1]).all()
    assert np.isinf(left.device_time[0, 1]).all()
    assert not left.groups.allowed[1].any()
