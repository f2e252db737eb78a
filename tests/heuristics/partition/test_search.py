"""The course of cuts, with a partitioner of our own in the place of a real one."""

import time

import numpy as np
import pytest

from heuristics.partition import search
from heuristics.partition.search import device_sets, partition
from heuristics.shared import space as space_
from problems.checker import check
from solvers.method import Context
from tests import tiny
from tests.heuristics.samples import sample


class Runs:
    """Cuts the vertices into runs of the target loads; keeps what it was asked."""

    def __init__(self, seconds_each=0.0):
        self.asked = []
        self.seconds_each = seconds_each

    def __call__(self, graph, share, imbalance, seed):
        time.sleep(self.seconds_each * len(graph.load))
        self.asked.append((len(graph.load), tuple(share), imbalance, seed))
        assert share.sum() == pytest.approx(1)
        assert (share > 0).all()
        assert 2 <= len(share) <= len(graph.load)
        middle = (np.cumsum(graph.load) - graph.load / 2) / graph.load.sum()
        return np.minimum(np.searchsorted(np.cumsum(share), middle), len(share) - 1)


def large(problem="throughput"):
    return sample(
        3, problem=problem, n=1500, devices=4, density=0.005, tight=None, unsupported=0.0, groups=0,
        rules={"contiguous": False} if problem == "throughput" else {},
    )  # fmt: skip


def test_a_large_graph_is_cut_coarse_first_then_whole(monkeypatch):
    monkeypatch.setattr(search, "SMALL", 60)
    monkeypatch.setattr(search, "GROWTH", 6)
    cut, instance = Runs(), large()
    partition(instance, Context(), cut, 3, False)
    units = len(space_.build(instance).unit_bytes)
    assert units > search.SMALL * search.GROWTH
    sizes = [each[0] for each in cut.asked]
    assert sizes[0] <= search.SMALL < sizes[1] <= search.SMALL * search.GROWTH < sizes[2] == units


def test_what_would_not_end_in_time_is_not_started():
    instance = large()
    partition(instance, Context(), Runs(), 2, False)  # compiled
    units = len(space_.build(instance).unit_bytes)
    # The coarse cut takes 0.3 s, the whole one would take 0.3 * units / SMALL.
    cut = Runs(0.3 / search.SMALL)
    assert units > 1.5 * search.SMALL
    begin = time.monotonic()
    answer = partition(instance, Context(deadline=begin + 0.8), cut, 0, False)
    assert check(instance, answer).valid
    assert len(cut.asked) == 1


def test_the_clock_only_cuts_the_course():
    instance = sample(3, problem="throughput", n=60, devices=4, tight=None)
    whole, part = Runs(), Runs()
    partition(instance, Context(seed=4), whole, 40, False)
    partition(instance, Context(seed=4, deadline=time.monotonic() + 0.3), part, 40, False)
    assert part.asked == whole.asked[: len(part.asked)]
    assert len({seed for _, _, _, seed in whole.asked}) == 40
    other = Runs()
    partition(instance, Context(seed=5), other, 40, False)
    assert [each[3] for each in other.asked] != [each[3] for each in whole.asked]


def test_device_sets_start_with_the_accelerators():
    instance = tiny.instance(
        [(8.0, 2.0, 1.0, 1.0)] * 5, [], hosts=[0], delay=[0.0] * 4, problem="throughput"
    )
    sets = [each.tolist() for each in device_sets(instance, space_.build(instance))]
    assert sets == [[2, 3, 1], [2, 3, 1, 0], [2, 3]]
    few = tiny.instance([(1.0, 1.0, 1.0)] * 2, problem="throughput", delay=[0.0] * 3)
    assert [len(each) for each in device_sets(few, space_.build(few))] == [2]


def test_shares_follow_speed_and_memory_where_it_binds():
    times, sizes = [(2.0, 1.0)] * 6, [1] * 6
    for memory, expected in ((None, (2 / 3, 1 / 3)), (4, (7 / 12, 5 / 12))):
        instance = tiny.instance(
            times, [], payload=sizes, memory=[None, memory], delay=[0.0, 0.0], problem="throughput"
        )
        cut = Runs()
        partition(instance, Context(), cut, 2, False)
        shares = [tuple(round(each, 6) for each in asked[1]) for asked in cut.asked]
        if memory is None:
            assert shares[1] == pytest.approx(expected, abs=1e-6)
        else:  # half by speed (2/3, 1/3), half by room (4, 6)
            assert shares[1] == pytest.approx(
                (0.5 * 2 / 3 + 0.5 * 0.4, 0.5 / 3 + 0.5 * 0.6), abs=1e-6
            )


@pytest.mark.parametrize("problem", ["throughput", "latency"])
def test_polish_is_no_worse(problem):
    instance = sample(3, problem=problem, n=40, devices=4, density=0.1, tight=None)
    plain = partition(instance, Context(), Runs(), 4, False)
    better = partition(instance, Context(), Runs(), 4, True)
    assert check(instance, better).objective <= check(instance, plain).objective
