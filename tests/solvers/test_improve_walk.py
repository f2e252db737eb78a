"""The walk over schedules: what it keeps is what its answer is worth, whatever it tried."""

import numpy as np
import pytest
from numba import njit

from problems import latency, placement, ports
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers import improve_moves as moves_
from solvers import improve_state as state_
from solvers import improve_walk as walk_
from solvers import rng as rng_
from solvers.start import latency_start


def large(contention="none", topology="staged", **traits):
    return from_bundle(
        random_bundle(5, problem="latency", topology=topology, rules={"contention": contention},
                      **{"n": 120, "devices": 3, "density": 0.05, "tight": 1.3, "tied": 20,
                         "groups": 20, "hosts": 1} | traits)
    )  # fmt: skip


def begin(case, seed=0):
    answer = latency_start(case)
    ground = state_.ground_of(case)
    walk = state_.walk_of(ground, rng_.seeded(np.random.default_rng(seed)))
    sequence = latency.sequence_of(case, latency.complete(case, answer))
    state_.restart(ground, walk, answer.device, sequence)
    return ground, walk


def same_as_afresh(case, ground, walk):
    n = case.n
    assert (walk.sequence[walk.place] == np.arange(n)).all()
    assert np.array_equal(walk.use, placement.memory_use(case, walk.device))
    assert not walk.dirty.any()
    assert not walk.blocks.any()
    other = state_.walk_of(ground, walk.stream)
    state_.restart(ground, other, walk.device, walk.sequence)
    for name in ("value", "start", "tail", "ends", "number", "before", "after", "readers"):
        kept, fresh = getattr(walk, name), getattr(other, name)
        if name == "value":
            kept, fresh = kept[:1], fresh[:1]
        # Under ports nothing hangs on the neighbours.
        if not ground.contended or name in ("value", "start", "readers"):
            assert np.array_equal(kept, fresh), name


@pytest.mark.parametrize("topology", ["staged", "direct"])
@pytest.mark.parametrize("contention", ["none", "ports"])
@pytest.mark.parametrize("unlimited", [False, True])
def test_what_a_walk_keeps_is_what_its_answer_is_worth(contention, topology, unlimited):
    case = large(contention, topology, unlimited=unlimited)
    ground, walk = begin(case)
    heat = 0.3 * walk.value[0]
    walk.value[1] *= 3  # any answer of the walk is better
    for at in range(0, 6000, 300):
        walk_.anneal(ground, walk, at, 300, heat, 0.7, 300, at % 2 / 2)
        same_as_afresh(case, ground, walk)
        for answer in (
            walk_.answer_of(case, walk),
            latency.answer_of(case, walk.device, walk.sequence),
        ):
            verdict = check(case, answer)
            assert verdict.valid
        answer = walk_.answer_of(case, walk)
        if contention == "none":
            assert check(case, answer).objective == pytest.approx(walk.value[1], rel=1e-12)
        else:  # first come, first served may be better
            assert check(case, answer).objective <= walk.value[1] * (1 + 1e-12)


@pytest.mark.parametrize("topology", ["staged", "direct"])
def test_orders_at_ports_are_those_of_the_sequence(topology):
    case = large("ports", topology, n=60)
    ground, walk = begin(case)
    walk_.anneal(ground, walk, 0, 20_000, 0.01 * walk.value[0], 0.9, 1000, 0.0)
    answer = walk_.answer_of(case, walk)
    after = latency.successors(case, answer)
    start = ports.in_order(case, answer.device, after, answer.send, answer.receive)
    finish = start[: case.n] + case.time[np.arange(case.n), answer.device]
    assert finish.max() <= walk.value[1] * (1 + 1e-12)


def test_the_walk_does_not_depend_on_how_it_is_cut():
    case = large()
    ends = []
    for piece in (1, 7, 210):
        ground, walk = begin(case)
        for first in range(0, 210, piece):
            walk_.anneal(ground, walk, first, piece, 0.01 * walk.value[1], 0.9, 20, 0.5)
        ends.append((walk.device.copy(), walk.sequence.copy()))
    for device, sequence in ends[1:]:
        assert np.array_equal(device, ends[0][0])
        assert np.array_equal(sequence, ends[0][1])


@njit
def _propose(ground, walk, focus):
    return moves_.propose(ground, walk, focus)


def test_moves_take_what_they_say():
    case = large(tight=None)
    ground, walk = begin(case)
    sizes = []
    for _ in range(3000):
        device, use = walk.device.copy(), walk.use.copy()
        count, v, at, fits = _propose(ground, walk, 0.5)
        assert np.array_equal(walk.device, device)
        assert fits
        groups = walk.touched[:count]
        assert len(set(groups.tolist())) == count
        for g, to in zip(groups, walk.old_device[:count], strict=True):
            assert ground.possible[g, to]
            device[case.group == g] = to
        assert np.allclose(walk.use, placement.memory_use(case, device))
        if v >= 0:
            low = max([-1, *walk.place[case.pred[case.pred_ptr[v] : case.pred_ptr[v + 1]]]])
            high = min([case.n, *walk.place[case.succ[case.succ_ptr[v] : case.succ_ptr[v + 1]]]])
            assert low < at < high
        sizes.append(count)
        for g, to in zip(groups, walk.old_device[:count], strict=True):
            moves_.shift(
                walk.use, walk.readers, ground.memory, ground.size, ground.shared,
                ground.weight_ptr, ground.weight, g, to, walk.device[case.group == g][0],
            )  # fmt: skip
        assert np.allclose(walk.use, use)
    assert max(sizes) > 10
    assert sizes.count(1) > sizes.count(2) > 0
