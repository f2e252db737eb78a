"""Receiving and sending apart: nets against the order change from the one to the other."""

import msgspec
import numpy as np
import pytest

from problems.answer import Answer
from problems.files import FileError
from problems.generate.random import random_bundle
from problems.platform import LinkPoint
from problems.resolve import from_bundle
from solvers import start
from solvers.ideals import _scope
from solvers.ideals._contraction import items_of
from solvers.ideals._lattice import lattice
from solvers.ideals._program import at_level, search_in
from tests import tiny
from tests.brute_force import optimum
from tests.solvers.ideals.test_contraction import setting_of, solved
from tests.solvers.runs import run


def test_a_net_that_is_not_forward_keeps_an_item_where_it_is(monkeypatch):
    """Moving the costless v to W would turn what W's device receives into what it sends."""
    case = tiny.instance(
        [[10, 10], [0, 0], [10, 10], [0, 0]],
        [(0, 1), (0, 2), (1, 2), (1, 3)],
        problem="throughput",
        rules={"contiguous": True, "overlap": "full"},
        payload=[9, 9, 0, 0],
        backward=(3,),
        colocate={0: "W", 3: "W"},
        delay=[0, 0],
    )
    assert optimum(case).objective == pytest.approx(10)
    monkeypatch.setattr(start, "throughput_start", lambda *a, **k: None)  # it would hide a fault
    ran = run("dp", case)
    assert (ran.claim, ran.objective) == ("optimal", pytest.approx(10))


def uneven():
    """Z <= X by order; P's payload to both goes against it; 10 s from d0 to d1, 1 s back."""
    bundle = tiny.bundle(
        [[5, 5], [3, 3], [2, 2], [0, 0], [0, 0]],
        [(0, 1), (2, 3), (2, 4)],
        problem="throughput",
        rules={"contiguous": True},
        payload=[0, 0, 1, 0, 0],
        backward=(3, 4),
        colocate={0: "Z", 3: "Z", 1: "X", 4: "X"},
        delay={(0, 1): 0.0},
    )
    slow = msgspec.structs.replace(
        bundle.links["wire0-1"],
        forward=[LinkPoint(0, 0.0, 0.0), LinkPoint(1, 10.0, 10.0)],
        backward=[LinkPoint(0, 0.0, 0.0), LinkPoint(1, 1.0, 1.0)],
    )
    return from_bundle(msgspec.structs.replace(bundle, links={**bundle.links, "wire0-1": slow}))


def test_a_block_whose_producer_joins_late_is_not_given_up(monkeypatch):
    case = uneven()
    assert optimum(case).objective == pytest.approx(6)
    monkeypatch.setattr(start, "throughput_start", lambda *a, **k: None)
    ran = run("dp", case, start=Answer(np.array([1, 0, 1, 1, 0])))  # 8
    assert (ran.claim, ran.objective) == ("optimal", pytest.approx(6))
    assert max(ran.bounds) <= 6 * (1 + 1e-9)


@pytest.mark.parametrize("pack", range(4))
def test_contraction_and_search_lose_nothing_in_training_graphs(pack):
    taken = 0
    for seed in range(pack, 160, 4):
        direct = seed // 4 % 2
        try:
            instance = from_bundle(
                random_bundle(
                    seed,
                    n=8,
                    devices=2,
                    hosts=0,
                    ties=seed % 3 > 0,
                    density=0.35,
                    training=True,
                    groups=2 + seed % 3,
                    uneven=bool(direct),
                    topology="direct" if direct else "staged",
                    like=not direct,
                    rules={
                        "contiguous": True,
                        "overlap": ("none", "half", "full")[seed % 3] if direct else "full",
                    },
                )
            )
        except FileError:
            continue
        if _scope.undecided(instance):
            continue
        taken += 1
        best = optimum(instance).objective
        plain = solved(instance, move=False, moved=True)[1]
        moved = solved(instance, move=True, moved=False)[1]
        assert moved <= plain * (1 + 1e-9), seed
        if best:
            setting = setting_of(instance)
            arrays = setting.arrays(items_of(instance, setting.first))
            search = search_in(setting, arrays, lattice(arrays, 1e9, setting.in_time), moved=True)
            found = at_level(search, best * (1 + 1e-6), setting.in_time)[0]
            assert found <= best * (1 + 1e-5), seed
    assert taken >= 10
