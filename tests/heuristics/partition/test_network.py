import numpy as np
import pytest

from heuristics.partition import network as network_
from heuristics.shared import space as space_
from tests import tiny
from tests.heuristics.samples import samples


def build(instance):
    space = space_.build(instance)
    return space, network_.build(instance, space)


def test_a_payload_counts_on_every_edge_that_carries_it():
    """a is read by b and by both nodes of group g; c by d, of the same group, inside."""
    instance = tiny.instance(
        [(1.0, 1.0)] * 4,
        [(0, 1), (0, 2), (0, 3), (2, 3)],
        payload=[4, 0, 9, 0],
        colocate={2: "g", 3: "g"},
        delay={(0, 1): 1.0},
    )
    space, network = build(instance)
    assert network.ptr.tolist() == [0, 2, 3, 4]
    assert network.neighbour.tolist() == [1, 2, 0, 0]
    seconds = network_.seconds(instance, space, network, np.arange(2))
    assert seconds.tolist() == [5.0] * 4


def test_without_an_edge_nothing_is_of_another_type():
    instance = tiny.instance([(1.0, 1.0)], [], payload=[0])
    space, network = build(instance)
    seconds = network_.seconds(instance, space, network, np.arange(2))
    assert (seconds.shape, seconds.dtype) == ((0,), np.float64)


def test_against_a_plain_count():
    for _, instance in samples(40, n=12, devices=4):
        space, network = build(instance)
        devices = np.arange(instance.K)
        seconds = network_.seconds(instance, space, network, devices)
        expected: dict[tuple[int, int], float] = {}
        read = {(u, int(space.unit[v])) for u, v in instance.edges.tolist()}
        for u, reader in sorted(read):
            owner = int(space.unit[u])
            if owner == reader:
                continue
            pairs = [(k, to) for k in devices for to in devices if k != to]
            mean = sum(
                sum(instance.link_time[link, u] for link in space.links[k, to]) for k, to in pairs
            ) / max(1, len(pairs))
            for pair in ((owner, reader), (reader, owner)):
                expected[pair] = expected.get(pair, 0.0) + mean
        row = np.repeat(np.arange(len(space.unit_bytes)), np.diff(network.ptr))
        found = dict(zip(zip(row.tolist(), network.neighbour.tolist(), strict=True), seconds,
                         strict=True))  # fmt: skip
        assert found == pytest.approx(expected)
        everything = instance.node_bytes.sum() + instance.shared_bytes.sum()
        assert network.bytes.sum() == pytest.approx(everything)


def test_work_and_speed():
    instance = tiny.instance([(1.0, 4.0), (3.0, 12.0), (2.0, None)], [(0, 1), (1, 2)])
    space, _ = build(instance)
    load, speed = network_.work(space, np.arange(2))
    assert load.tolist() == pytest.approx([(1 / 6 + 1 / 4) / 2, (3 / 6 + 3 / 4) / 2, 2 / 6])
    assert speed.tolist() == pytest.approx([load.sum() / 6, load[:2].sum() / 16])
    idle = tiny.instance([(0.0, 0.0)] * 2, [(0, 1)])
    load, speed = network_.work(space_.build(idle), np.arange(2))
    assert load.tolist() == speed.tolist() == [1.0, 1.0]


def test_graphs_are_whole_positive_and_symmetric_also_when_coarse():
    for _, instance in samples(40, n=12):
        space, network = build(instance)
        devices = np.arange(instance.K)
        load, _ = network_.work(space, devices)
        full = network_.graph(network, load, network_.seconds(instance, space, network, devices))
        for graph in (full, network_.coarse(full, 4)[0]):
            V = len(graph.load)
            assert len(graph.ptr) == V + 1
            assert graph.ptr[-1] == len(graph.neighbour) == len(graph.cost)
            assert graph.load.sum() < 2**31
            assert graph.load.min() > 0
            table = np.zeros((V, V))
            table[np.repeat(np.arange(V), np.diff(graph.ptr)), graph.neighbour] = graph.cost
            assert (table == table.T).all()
            assert not table.diagonal().any()
            assert (table > 0).sum() == len(graph.cost)
        assert graph.load.sum() == full.load.sum()
        assert V <= 4


def test_without_edges_there_is_a_path():
    instance = tiny.instance([(1.0, 1.0)] * 3)
    _, network = build(instance)
    graph = network_.graph(network, np.ones(3), np.zeros(0))
    assert graph.ptr.tolist() == [0, 1, 3, 4]
    assert graph.neighbour.tolist() == [1, 0, 2, 1]
    assert set(graph.cost.tolist()) == {graph.cost[0]}
