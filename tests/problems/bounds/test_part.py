import numpy as np
import pytest

from problems.bounds import part
from problems.bounds.allowed import allowed_times
from problems.bounds.part import ANY, Costs, Part
from problems.latency import communication
from tests.brute_force import optimum
from tests.tiny import instance


def costs_of(case):
    links = communication(case)
    delay = case.link_time[links[:, :, 0]] + case.link_time[links[:, :, 1]]
    times = allowed_times(case)
    return Costs(times, np.zeros(times.shape), delay)


def between_ends(seed):
    """Four random nodes after the first of six and before the last."""
    random = np.random.default_rng(seed)
    times = random.integers(1, 9, (6, 2 + seed % 2)).tolist()
    inner = [(u, v) for u in range(1, 5) for v in range(u + 1, 5) if random.random() < 0.4]
    ends = [(0, v) for v in range(1, 5)] + [(v, 5) for v in range(1, 5)]
    delay = random.integers(0, 4, 3)
    if seed % 3:
        wired = {(k, to): float(delay[k]) for k in range(len(times[0])) for to in range(k)}
        return instance(times, inner + ends, delay=wired, unlimited=[0] if seed % 4 == 0 else [])
    return instance(times, inner + ends, delay=delay[: len(times[0])].tolist(), hosts=[0])


@pytest.mark.parametrize("seed", range(12))
def test_what_is_proved_is_the_least_time_between(seed):
    case = between_ends(seed)
    costs = costs_of(case)
    each = Part(0, 5, [1, 2, 3, 4], case.edges.tolist())
    part.paths(each, costs)
    K, p = case.K, costs.times
    least = np.empty((K, K))
    for k in range(K):
        for to in range(K):
            least[k, to], closed = part.ask(case, each, costs, k, to, 10.0)
            assert closed
    assert (each.least <= least * (1 + 1e-5)).all()
    best = optimum(case).objective
    through = (p[0][:, None] + least + p[5]).min()
    assert best * (1 - 1e-5) < through <= best
    assert part.ask(case, each, costs, ANY, ANY, 10.0)[0] <= least.min() * (1 + 1e-5)


def test_equal_parts_have_equal_keys():
    # Two forks of like times, and a third that moves more.
    times = [[1, 2]] * 10
    edges = [
        (i, j)
        for a in (0, 3, 6)
        for i, j in ((a, a + 1), (a, a + 2), (a + 1, a + 3), (a + 2, a + 3))
    ]
    payload = [0] * 6 + [5] * 4
    case = instance(times, edges, delay=[1.0, 1.0], payload=payload)
    costs = costs_of(case)
    names = [
        part.key(Part(a, a + 3, [a + 1, a + 2], edges[i : i + 4]), costs, 0, 1)
        for i, a in ((0, 0), (4, 3), (8, 6))
    ]
    assert names[0] == names[1] != names[2]
    again = Part(0, 3, [1, 2], edges[:4])
    assert part.key(again, costs, 0, 0) != names[0]
