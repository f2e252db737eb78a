"""Modules are a partition, convex and in topological order, whatever finds them."""

import numpy as np
import pytest

from heuristics.modules import atoms as atoms_
from heuristics.splitting import split
from tests.heuristics.samples import sample, samples
from tests.tiny import instance


def _cases():
    yield from samples(30, n=30)
    yield from samples(6, n=40, problem="throughput", rules={"contiguous": True}, groups=6)
    yield from samples(6, n=40, problem="latency", training=True, groups=8, density=0.1)


@pytest.mark.parametrize("how", ["louvain", "greedy", "sese"])
def test_modules_are_intervals_of_a_topological_order(how):
    for seed, case in _cases():
        atoms = atoms_.build(case)
        for size, count in ((5, 0), (1, 0), (0, 1), (0, 3), (0, 1000)):
            modules = split(atoms, how, size, count, seed)
            order = np.concatenate(modules)
            assert sorted(order.tolist()) == list(range(atoms.number))
            assert all(len(each) for each in modules)
            module = np.empty(atoms.number, np.int64)
            for i, members in enumerate(modules):
                module[members] = i
                if size:
                    assert len(members) <= size
            if count:
                assert len(modules) <= count
            # Nothing goes back: a path that left a module never returns.
            assert (module[atoms.pairs[:, 0]] <= module[atoms.pairs[:, 1]]).all()
            place = np.empty(atoms.number, np.int64)
            place[order] = np.arange(atoms.number)
            assert (place[atoms.pairs[:, 0]] < place[atoms.pairs[:, 1]]).all()


def test_atoms_keep_what_has_to_stay_together():
    for _, case in _cases():
        atoms = atoms_.build(case)
        if case.problem == "latency" and atoms.number == case.n:
            continue  # groups on a cycle: nodes
        for g in range(int(case.group.max()) + 1):
            assert len(set(atoms.atom[case.group == g])) == 1


def test_groups_on_a_cycle_become_nodes_where_time_orders_them():
    case = instance(
        [[1.0, 1.0]] * 4, [(0, 1), (1, 2), (2, 3)], delay=[0.0, 0.0], colocate={0: "g", 3: "g"}
    )
    assert atoms_.build(case).number == 4


def test_traffic_is_the_mean_over_links():
    case = instance([[1.0, 1.0]] * 3, [(0, 1), (1, 2)], payload=[4, 2, 0], delay=[1.0, 3.0])
    atoms = atoms_.build(case)
    assert atoms.flow.tolist() == [[0, 1], [1, 2]]
    assert atoms.traffic == pytest.approx([6.0, 4.0])


def test_two_cliques_are_two_modules():
    edges = [(a, b) for s in (0, 4) for a in range(s, s + 4) for b in range(a + 1, s + 4)]
    case = instance([[1.0, 1.0]] * 8, [*edges, (3, 4)], payload=[1] * 8, delay=[0.0, 0.0])
    for how in ("louvain", "greedy"):
        modules = split(atoms_.build(case), how, 4, 0, 0)
        assert [sorted(each.tolist()) for each in modules] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_the_same_seed_gives_the_same_modules():
    case = sample(2, n=60, problem="latency", density=0.1)
    atoms = atoms_.build(case)
    first, second = (split(atoms, "louvain", 8, 0, 3) for _ in range(2))
    assert all(map(np.array_equal, first, second))
