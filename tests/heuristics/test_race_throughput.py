"""Races of walks for `throughput`."""

from __future__ import annotations

import math

import bench
from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.shared.feasible import baseline
from heuristics.starts import race_throughput
from problems import throughput
from solvers.method import Context

SMALL = "inceptionv3:block/quad-eth1g/throughput"


def _best(name: str, seed: int = 0) -> tuple[bench.Instance, space_.Space, Context, Best]:
    instance = bench.load(name)
    context = Context(seed=seed, deadline=math.inf)
    best = Best(instance, context)
    space = space_.build(instance)
    baseline(instance, space, context, best)
    return instance, space, context, best


def test_improves_on_one_device_and_is_the_same_for_a_seed() -> None:
    values = []
    for _ in range(2):
        instance, space, context, best = _best(SMALL)
        before = best.value
        race_throughput.race(instance, space, context, best)
        assert best.value < before
        assert best.answer is not None
        assert throughput.is_valid(instance, best.answer.device)
        values.append(best.value)
    assert values[0] == values[1]


def test_a_race_has_as_many_starts_and_moves_as_asked_for(monkeypatch) -> None:
    lengths: list[int] = []
    walk = race_throughput.Walks.walk

    def noted(self, place, moves, *rest):  # type: ignore[no-untyped-def]
        lengths.append(moves)
        return walk(self, place, moves, *rest)

    monkeypatch.setattr(race_throughput.Walks, "walk", noted)
    instance, space, context, best = _best(SMALL)
    race_throughput.race(instance, space, context, best, 1)
    race_throughput.race(instance, space, context, best, 3, 0.25)
    one, *three = lengths
    assert three[:3] == [one // 4] * 3
    assert three[3:] in ([], [one // 2])
