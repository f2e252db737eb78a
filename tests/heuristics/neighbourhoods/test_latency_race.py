"""Races: the better half goes on, the winner walks long, each start has its turn."""

import math

import numpy as np
import pytest

from heuristics.neighbourhoods import latency_race as race
from heuristics.neighbourhoods.latency_race import Races


def schedule(name):
    return np.array([name]), np.array([0])


def raced(races, value=lambda name: float(name), best=99, late=lambda: False):
    """Start, moves and first heat of every walk, and the moves that the race counts."""
    calls = []

    def go(start, moves, hot, cold):
        assert cold <= hot
        calls.append((int(start[0][0]), moves, hot))
        return value(int(start[0][0])), start

    return calls, races.race(schedule(best), go, late)


def test_the_better_half_goes_on_twice_as_long_and_the_winner_longest():
    races = Races(100, 8.0, [schedule(name) for name in (5, 3, 8, 1, 7, 2, 6)])
    calls, made = raced(races)
    names = [name for name, _, _ in calls]
    assert names[:8] == [5, 3, 8, 1, 7, 2, 6, 99]
    assert sorted(names[8:12]) == [1, 2, 3, 5]
    assert sorted(names[12:14]) == [1, 2]
    assert names[14:] == [1, 1]
    moves = [moves for _, moves, _ in calls]
    assert moves[:15] == [moves[0]] * 8 + [2 * moves[0]] * 4 + [4 * moves[0]] * 2 + [8 * moves[0]]
    assert moves[15] == pytest.approx(race.LONG * 8 * race.PACE, abs=1)
    assert made == sum(moves)
    assert sum(moves[:15]) == pytest.approx(race.RACE * 8 * race.PACE, rel=0.01)


def test_like_answers_take_one_place():
    races = Races(100, 8.0, [schedule(name) for name in range(7)])
    calls, _ = raced(races, value=lambda name: 1.0 if name < 5 else 2.0)
    assert sorted(name for name, _, _ in calls[8:10]) == [0, 5]
    assert [name for name, _, _ in calls[10:]] == [0, 0]


def test_every_start_meets_every_heat():
    races = Races(100, 1.0, [schedule(0), schedule(1)])
    pairs = {(name, hot) for _ in range(2) for name, _, hot in raced(races, best=2)[0][:8]}
    assert pairs == {(name, heat) for name in range(3) for heat in race.HEATS}


def test_a_limit_has_one_course_and_large_graphs_few_walks():
    one = [schedule(0)]
    assert raced(Races(100, 10.0, one)) == raced(Races(100, 9.7, one))
    assert Races(100, 1.0, one).moves < Races(100, 4.0, one).moves
    assert Races(100, math.inf, one).moves == Races(100, race.SECONDS, one).moves
    calls, _ = raced(Races(10**6, 8.0, one))
    assert len(calls) == 2 + 1 + 1
    assert Races(10**6, 8.0, one).moves < Races(100, 8.0, one).moves / 100


def test_it_stops_when_time_is_up():
    left = iter([False] * 3 + [True] * 9)
    calls, made = raced(Races(100, 8.0, [schedule(0)]), late=lambda: next(left))
    assert len(calls) == 3
    assert made == sum(moves for _, moves, _ in calls)
