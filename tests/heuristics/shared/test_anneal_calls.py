"""The walk over calls: what it says of an answer is what the evaluator says."""

import numpy as np
import pytest

from heuristics.shared import anneal_calls
from problems import calls
from problems.answer import Answer
from problems.placement import is_placeable
from solvers import rng as rng_
from solvers.start_calls import calls_start
from tests.solvers.tiny import calls_instances


def test_values_and_rules_along_a_walk():
    walked = 0
    for seed, instance in calls_instances(range(900, 940)):
        answer = calls_start(instance)
        if answer is None:
            continue
        space = anneal_calls.arrays(instance, answer)
        run = anneal_calls.search(space, rng_.seeded(np.random.default_rng(seed)))
        assert anneal_calls.restart(instance, space, run, answer)
        value = run.energy[1]
        assert value == pytest.approx(calls.makespan(instance, answer), rel=1e-12)
        for at in range(0, 400, 20):
            anneal_calls.anneal(space, run, at, 20, value, 0.99, 1)
            now = Answer(run.device.copy(), slot=run.slot.copy())
            # Groups stay together, hosts have no calls, and no circle is ever accepted.
            assert all(len(set(now.device[instance.group == g])) == 1 for g in instance.group)
            assert (now.slot[instance.host[now.device]] == -1).all()
            assert (now.slot[~instance.host[now.device]] >= 0).all()
            expected = calls.makespan(instance, now)
            assert np.isfinite(expected)
            if is_placeable(instance, now.device):
                assert run.energy[0] == pytest.approx(expected, rel=1e-12)
            else:
                assert run.energy[0] > expected
            walked += not np.array_equal(now.device, answer.device)
        best = Answer(run.best_device.copy(), slot=run.best_slot.copy())
        assert calls.is_valid(instance, best)
        assert calls.makespan(instance, best) == pytest.approx(run.energy[1], rel=1e-12)
    assert walked > 100


def test_pieces_change_nothing():
    (seed, instance), *_ = calls_instances(range(903, 910))
    answer = calls_start(instance)
    ends = []
    for piece in (500, 7):
        space = anneal_calls.arrays(instance, answer)
        run = anneal_calls.search(space, rng_.seeded(np.random.default_rng(seed)))
        anneal_calls.restart(instance, space, run, answer)
        for at in range(0, 500, piece):
            anneal_calls.anneal(space, run, at, min(piece, 500 - at), 1e-3, 0.9, 50)
        ends.append(run)
    assert np.array_equal(ends[0].slot, ends[1].slot)
    assert np.array_equal(ends[0].device, ends[1].device)
    assert ends[0].energy[1] == ends[1].energy[1]


def test_an_answer_of_too_many_calls_is_refused():
    for _, instance in calls_instances(range(900, 960)):
        if calls.most_slots(instance) > 4 and (~instance.host).any():
            space = anneal_calls.arrays(instance)._replace(q=1)
            run = anneal_calls.search(space, rng_.seeded(np.random.default_rng(0)))
            k = int(np.flatnonzero(~instance.host)[0])
            many = Answer.of([k] * instance.n, slot=range(instance.n))
            assert anneal_calls.restart(instance, space, run, many) == (instance.n == 1)
