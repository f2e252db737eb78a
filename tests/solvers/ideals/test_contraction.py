"""Contraction loses nothing: optima with and without it agree, and answers come back whole."""

from __future__ import annotations

import numpy as np
import pytest

from problems import throughput
from problems.builder import Builder
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers.ideals._arrays import depth_first
from solvers.ideals._contraction import items_of, simplify
from solvers.ideals._lattice import OutOfTime, TooMany, lattice
from solvers.ideals._program import at_level, search_in, setting
from solvers.ideals.dp import value_of
from solvers.keeper import Keeper
from solvers.method import Context


def graph(nodes, edges, *, memory=None, hosts=0, rules=None):
    """`nodes`: name -> (seconds, output bytes = seconds of transfer, weight bytes)."""
    rules = {"contiguous": True, "memory": "weights", **(rules or {})}
    builder = Builder("graph", problem="throughput", rules=rules)
    builder.add_link("port", points=[(0, 0.0), (100, 100.0)])
    for k in range(2):
        builder.add_device(f"d{k}", kind="chip", memory_bytes=memory, link="port")
    for k in range(hosts):
        builder.add_device(f"h{k}", kind="cpu", host=True)
    for name, (seconds, out, weight) in nodes.items():
        times = {"chip": seconds, "cpu": 2 * seconds} if hosts else {"chip": seconds}
        builder.add_node(name, times, output_bytes=out, weights=weight)
    for u, v in edges:
        builder.add_edge(u, v)
    return from_bundle(builder.build())


def setting_of(instance):
    context = Context()
    return setting(instance, Keeper(context, lambda answer: value_of(instance, answer)), context)


def contracted(instance, upper=np.inf):
    s = setting_of(instance)
    items = items_of(instance, s.first, upper)
    simplify(items, directed=s.directed, compute_apart=False, bytes_matter=s.binding)
    return {instance.names[v]: v for v in range(instance.n)}, items


def test_what_costs_nothing_follows_its_only_neighbour():
    instance = graph(
        {"a": (6.0, 5, 0), "sink": (0.0, 0, 7), "source": (0.0, 3, 2), "b": (7.0, 0, 1)},
        [("a", "sink"), ("a", "b"), ("source", "b")],
        memory=9,
    )
    name, items = contracted(instance)
    # `sink` may be read from a's device; b's payload from `source` needs no link.
    assert set(items.succ) == {name["a"], name["b"]}
    assert items.kept[[name["a"], name["b"]]].tolist() == [0, 1]
    assert items.moved[[name["a"], name["b"]]].tolist() == [7, 2]
    assert [sorted(net.members) for net in items.nets] == [[name["a"], name["b"]]]
    positions = items.positions({name["a"]: 0, name["b"]: 1})
    assert positions[[name["sink"], name["source"]]].tolist() == [0, 1]


def test_what_would_cost_a_neighbour_more_stays():
    """v reads 1 s and sends 5 s: beside u, its reader's device would receive 5 s, not nothing."""
    nodes = {"u": (1.0, 1, 0), "v": (0.0, 5, 0), "w": (1.0, 0, 0), "x": (1.0, 0, 0)}
    edges = [("u", "v"), ("v", "w"), ("v", "x"), ("u", "x")]
    _, items = contracted(graph(nodes, edges))
    assert len(items.succ) == 4


def test_work_that_its_transfer_outweighs_follows_unless_a_host_could_take_it():
    """a costs 1 s and 4 s to cut off from b; on a host it would cost 2 s and nothing to cut."""
    nodes = {"a": (1.0, 4, 0), "b": (3.0, 1, 0), "c": (9.0, 0, 0)}
    edges = [("a", "b"), ("b", "c")]
    name, items = contracted(graph(nodes, edges))
    assert name["a"] not in items.succ or name["b"] not in items.succ
    _, items = contracted(graph(nodes, edges, hosts=1))
    assert len(items.succ) == 3


def test_a_cut_that_no_level_affords_is_none_unless_hosts_could_make_it():
    nodes = {"a": (1.0, 50, 1), "b": (1.0, 1, 2), "c": (1.0, 0, 4)}
    edges = [("a", "b"), ("b", "c")]
    for hosts, left in ((0, 2), (1, 2), (2, 3)):
        instance = graph(nodes, edges, hosts=hosts)
        items = items_of(instance, setting_of(instance).first, 20.0)
        assert len(items.succ) == left
    # Nobody gave bytes away: both must be there.
    items = items_of(graph(nodes, edges), np.array([0]), 20.0)
    assert items.kept[sorted(items.succ)].tolist() == [3, 4]
    assert not items.moved.any()


def test_groups_on_a_cycle_are_one_item():
    builder = Builder("cycle", problem="throughput", rules={"contiguous": True})
    builder.add_device("d0", kind="chip", host=True)
    for name, colour in (("a", "x"), ("b", "y"), ("c", "x"), ("d", "y"), ("e", None)):
        builder.add_node(name, {"chip": 1.0}, colocate=colour)
    for u, v in (("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")):
        builder.add_edge(u, v)
    items = items_of(from_bundle(builder.build()), np.array([0]))
    assert len(items.succ) == 2
    assert sorted(items.work[0, sorted(items.succ), 0].tolist()) == [1.0, 4.0]


def solved(instance, *, move, moved):
    """Optimum of the items, and what the placed nodes really cost."""
    s = setting_of(instance)
    items = items_of(instance, s.first)
    overlap = throughput.rules_of(instance).overlap
    if move:
        simplify(
            items,
            directed=s.directed,
            compute_apart=overlap != "none",
            bytes_matter=s.binding,
        )
    a = s.arrays(items)
    search = search_in(s, a, lattice(a, 1e9, s.in_time), moved=moved)
    value, chain = at_level(search, 1e3, s.in_time)
    if chain is None:
        return len(items.succ), None, None
    device = s.answer(items, a, chain).device
    return len(items.succ), value, throughput.period(instance, device)


@pytest.mark.parametrize("overlap", ["none", "half", "full"])
@pytest.mark.parametrize("training", [False, True])
def test_no_optimum_is_lost_and_none_is_invented(overlap, training):
    fewer = 0
    for seed in range(90):
        instance = from_bundle(
            random_bundle(
                seed, n=9, devices=3, hosts=seed % 2, like=True, ties=True, density=0.15,
                training=training, groups=seed % 3, tied=seed % 2,
                tight=None if seed % 3 else 1.4,
                rules={"contiguous": True, "overlap": overlap, "split_phases": seed % 5 == 0},
            )
        )  # fmt: skip
        plain, best, cost = solved(instance, move=False, moved=True)
        left, relaxed, its_cost = solved(instance, move=True, moved=False)
        _, within, _ = solved(instance, move=True, moved=True)
        fewer += left < plain
        if best is None:
            assert within is None
            continue
        assert best == pytest.approx(cost, rel=1e-9)
        assert relaxed == pytest.approx(its_cost, rel=1e-9)
        assert relaxed <= best * (1 + 1e-9)  # a bound, always
        if seed % 3:  # no memory binds
            assert relaxed == pytest.approx(best, rel=1e-9)
        assert within is None or within >= best * (1 - 1e-9)
    assert fewer >= 10


def test_the_lattice_holds_every_ideal_once():
    instance = from_bundle(random_bundle(3, n=12, density=0.15, rules={"contiguous": True}))
    s = setting_of(instance)
    items = items_of(instance, s.first)
    a = s.arrays(items)
    got = lattice(a, 1e9, lambda: True)
    order = depth_first(items)
    expected = set()
    for mask in range(2 ** len(order)):
        inside = {order[i] for i in range(len(order)) if mask >> i & 1}
        if all(items.pred[g] <= inside for g in inside):
            expected.add(mask)
    assert {int(bits[0]) for bits in got.bits} == expected
    assert len(got.bits) == len(expected) == got.I
    for i in range(got.I):
        for step in range(got.ptr[i], got.ptr[i + 1]):
            reached = got.bits[got.target[step], 0] ^ got.bits[i, 0]
            assert reached == 1 << int(got.item[step])
    with pytest.raises(TooMany):
        lattice(a, 1000.0, lambda: True)
    with pytest.raises(OutOfTime):
        lattice(a, 1e9, lambda: False)
