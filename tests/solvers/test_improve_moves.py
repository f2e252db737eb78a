from itertools import pairwise

import numpy as np
import pytest

from problems import latency
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers import improve_moves as moves
from solvers.start import latency_start


@pytest.fixture(scope="module")
def case():
    return from_bundle(
        random_bundle(5, n=60, devices=3, density=0.08, problem="latency", groups=10)
    )


@pytest.fixture
def walk(case):
    """Device, sequence, place and starts of an answer, with all nodes of it timed."""
    answer = latency.complete(case, latency_start(case))
    sequence = latency.sequence_of(case, answer)
    place = np.empty(case.n, np.int64)
    place[sequence] = np.arange(case.n)
    start = np.zeros(case.n)
    value, end = time(case, answer.device, sequence, 0, np.inf, start, np.zeros(case.n))
    assert value == pytest.approx(latency.makespan(case, answer), rel=1e-12)
    assert end == case.n
    return answer.device.copy(), sequence, place, start


def time(case, device, sequence, first, limit, start, old):
    return moves.timed(
        device, sequence, first, limit, start, old, np.array(case.time), case.pred_ptr, case.pred,
        case.unlimited, case.link_time, latency.communication(case), np.zeros(case.n),
    )  # fmt: skip


def test_starts_come_back(case, walk):
    device, sequence, _, start = walk
    before, old = start.copy(), np.zeros(case.n)
    device[sequence[20:40]] = (device[sequence[20:40]] + 1) % case.K
    value, end = time(case, device, sequence, 20, np.inf, start, old)
    assert value < np.inf
    assert end == case.n
    assert (start != before).any()
    moves.back(sequence, 20, end, start, old)
    assert (start == before).all()
    limit = 0.6 * before.max()
    value, end = time(case, device, sequence, 20, limit, start, old)
    assert value == np.inf
    assert end < case.n
    moves.back(sequence, 20, end, start, old)
    assert (start == before).all()


def test_a_critical_path_takes_the_makespan_without_a_gap(case, walk):
    device, sequence, place, start = walk
    found = np.empty(case.n, np.int64)
    links = latency.communication(case)
    count = moves.critical(
        device, sequence, place, start, found, np.array(case.time), case.pred_ptr, case.pred,
        case.unlimited, case.link_time, links,
    )  # fmt: skip
    path = found[:count][::-1]
    end = start + case.time[np.arange(case.n), device]
    assert start[path[0]] == 0
    assert end[path[-1]] == end.max()
    assert count > 3
    for u, v in pairwise(path.tolist()):
        way = case.link_time[links[device[u], device[v]], u].sum() if device[u] != device[v] else 0
        assert start[v] == pytest.approx(end[u] + way, rel=1e-12)


def test_a_cluster_is_connected_and_on_one_device(case, walk):
    device = walk[0]
    groups = int(case.group.max()) + 1
    seen, found = np.full(groups, -1), np.empty(groups, np.int64)
    sizes = []
    for mark, v in enumerate(range(case.n)):
        count = moves.gather(
            v, 6, device, case.group, seen, mark, found, case.pred_ptr, case.pred, case.succ_ptr,
            case.succ,
        )  # fmt: skip
        mine = found[:count].tolist()
        assert mine[0] == case.group[v]
        assert len(set(mine)) == count <= 6
        assert (device[np.isin(case.group, mine)] == device[v]).all()
        reached = {mine[0]}
        edges = [
            (int(case.group[u]), int(case.group[w]))
            for u in range(case.n)
            for w in case.succ[case.succ_ptr[u] : case.succ_ptr[u + 1]]
        ]
        for _ in mine:
            for a, b in edges:
                if {a, b} <= set(mine) and reached & {a, b}:
                    reached |= {a, b}
        assert reached == set(mine)
        sizes.append(count)
    assert max(sizes) > 2


def test_the_order_by_starts_changes_no_start(case, walk):
    device, sequence, place, start = walk
    before = start.copy()
    moves.by_start(sequence, place, start)
    assert (np.diff(start[sequence]) >= 0).all()
    assert (sequence[place] == np.arange(case.n)).all()
    time(case, device, sequence, 0, np.inf, start, np.zeros(case.n))
    assert (start == before).all()
