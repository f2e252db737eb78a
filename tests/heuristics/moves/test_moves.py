"""What moves are said to give, against the independent checker."""

import math

import numpy as np
import pytest

from heuristics.moves import calls, latency, throughput
from heuristics.shared import space as space_
from heuristics.shared.feasible import first_fit
from problems import calls as calls_
from problems import latency as latency_
from problems.answer import Answer
from problems.checker import check
from solvers.method import Context
from tests.heuristics.samples import samples
from tests.solvers.tiny import calls_instances


def cases(problem):
    if problem == "calls":
        return [case for _, case in calls_instances(range(700, 760))]
    return [case for _, case in samples(60, n=8, problem=problem)]


def value(instance, device):
    answer = Answer.of(device)
    if instance.problem == "latency":
        answer = latency_.dispatch(instance, device)
    elif instance.problem == "calls":
        answer = calls_.dispatch(instance, device)
    verdict = check(instance, answer)
    return verdict.objective if verdict.valid else math.inf


@pytest.mark.parametrize("problem", ["throughput", "latency", "calls"])
def test_every_move_is_worth_what_it_gives(problem):
    rng, compared, better = np.random.default_rng(0), 0, 0
    for instance in cases(problem):
        space = space_.build(instance)
        place = first_fit(space, Context())
        if place is None:
            continue
        moves = {
            "throughput": lambda s: throughput.Moves(s),
            "latency": lambda s: latency.Moves(s),
            "calls": lambda s, i=instance: calls.Moves(s, i),
        }[problem](space)
        now = moves.place(place)
        for _ in range(3):
            assert now == pytest.approx(value(instance, place[space.unit]), rel=1e-9)
            U = len(place)
            each = np.concatenate([moves.values(0, U // 2), moves.values(U // 2, U)])
            for g in range(U):
                for k in range(instance.K):
                    trial = place.copy()
                    trial[g] = k
                    truth = value(instance, trial[space.unit])
                    if k == place[g]:
                        assert each[g, k] == math.inf
                    elif problem == "throughput" and not truth < now * (1 - 1e-9):
                        assert each[g, k] >= now * (1 - 1e-9)  # it may be left out
                    else:
                        assert each[g, k] == pytest.approx(truth, rel=1e-9)
                        better += truth < now * (1 - 1e-9)
                    compared += 1
            valid = np.argwhere(np.isfinite(each))
            if not len(valid):
                break
            g, k = valid[rng.integers(len(valid))].tolist()
            moves.move(g, k)
            place[g], now = k, each[g, k]
    print(problem, compared, better)
    assert better >= 30
