import numpy as np

from heuristics.orders.linear import depth_first, paths
from heuristics.orders.slicer import chain_space
from heuristics.shared import space as space_
from tests import tiny
from tests.heuristics.samples import samples


def pieces(rows, edges, payload, **given):
    """Nodes of each piece of both paths."""
    instance = tiny.instance(
        rows, edges, payload=payload, problem="throughput", rules={"contiguous": True}, **given
    )
    space = space_.build(instance)
    for order, cut in paths(space):
        yield [sorted(each.tolist()) for each in np.split(order, np.flatnonzero(cut)[1:-1])]


def test_a_branching_is_one_piece_with_its_source_and_without_its_sink():
    edges = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5)]
    for found in pieces([(1.0, 1.0)] * 6, edges, [1] * 6):
        assert found == [[0], [1, 2, 3], [4], [5]]


def test_an_input_that_many_read_contracts_nothing():
    """Node 0 does nothing and sends next to nothing, like an attention mask."""
    edges = [(0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4)]
    idle = [(0.0, 0.0), *[(1.0, 1.0)] * 4]
    for found in pieces(idle, edges, [0, 1, 1, 1, 1]):
        assert [each for each in found if 0 not in each] == [[1], [2], [3], [4]]
    for found in pieces([(1.0, 1.0)] * 5, edges, [0, 1, 1, 1, 1]):
        assert found == [[1], [0, 2, 3], [4]] or found == [[0, 1, 2, 3], [4]]


def test_a_piece_without_work_joins_its_only_neighbour():
    """Node 2 is read by nobody; alone it would cost node 1 a transfer when cut off."""
    rows = [(1.0, 1.0), (1.0, 1.0), (0.0, 0.0), (1.0, 1.0)]
    for found in pieces(rows, [(0, 1), (1, 2), (1, 3)], [1, 1, 0, 1]):
        assert found == [[0], [1, 2], [3]]


def test_orders_are_topological_and_depth_first_follows_a_branch():
    for _, instance in samples(30, n=12, problem="throughput", density=0.2):
        space = chain_space(instance)
        U = len(space.unit_bytes)
        for order in (
            depth_first(space.after_ptr, space.after, np.random.default_rng(U).random(U)),
            *(order for order, _ in paths(space)),
        ):
            assert sorted(order) == list(range(U))
            position = np.argsort(order)
            for g in range(U):
                after = space.after[space.after_ptr[g] : space.after_ptr[g + 1]]
                assert (position[after] > position[g]).all()
    ptr, after = np.array([0, 2, 3, 4, 4, 4]), np.array([1, 2, 3, 4])
    assert depth_first(ptr, after, np.array([0.0, 1, 2, 3, 4])).tolist() == [0, 1, 3, 2, 4]
    assert depth_first(ptr, after, np.array([0.0, 2, 1, 3, 4])).tolist() == [0, 2, 4, 1, 3]
