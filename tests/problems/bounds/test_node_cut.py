from itertools import product

import numpy as np
import pytest

from problems.bounds.column_generation import load_of
from problems.bounds.nets import nets_of
from problems.bounds.node_cut import MEANS, MinimumCut, node_cut
from tests.problems.bounds.throughput_cases import solved
from tests.tiny import instance


def test_takes_along_what_is_cheaper_than_the_transfer():
    # a -> b takes 10: whoever holds b holds a, whoever holds c holds b.
    case = instance(
        [[2, 2], [3, 3], [4, 4]],
        [(0, 1), (1, 2)],
        problem="throughput",
        payload=[10, 1, 0],
        delay=[0, 0],
    )
    assert node_cut(case).value == pytest.approx(3 + 2 + 1, rel=1e-6)  # b and a, sending 1
    assert node_cut(case).value <= 6


def test_not_everything_escapes_to_a_host():
    # On d1 every node pays 20 for its neighbour; on the host d0 each costs 4, all together 12.
    case = instance(
        [[4, 9], [4, 9], [4, 9]],
        [(0, 1), (1, 2)],
        problem="throughput",
        payload=[20, 20, 0],
        hosts=[0],
        delay=[0, 0],
    )
    assert node_cut(case).value == pytest.approx(12, rel=1e-6)


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_cuts_are_the_least_over_all_sets(seed):
    case, _ = solved(seed)
    nets = nets_of(case)
    if nets.overlap != "none" or nets.work[0] <= 0:
        return
    G = len(nets.time)
    for c in np.flatnonzero(~nets.host).tolist():
        cut = MinimumCut(nets, c, MEANS["none"][0])
        sets = [np.flatnonzero(each) for each in product((0, 1), repeat=G) if any(each)]
        loads = [load_of(nets, c, each) for each in sets]
        for g in cut.heaviest.tolist():
            least = min(load for load, each in zip(loads, sets, strict=True) if g in each)
            assert cut.least(g) == pytest.approx(least, rel=1e-6)
            assert cut.least(g) <= least * (1 + 1e-12)
