"""What is kept up to date move by move equals what is computed afresh."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from heuristics.shared import anneal_latency, anneal_throughput
from heuristics.shared import rng as rng_
from heuristics.shared import space as space_
from heuristics.shared import state as state_
from heuristics.shared.feasible import first_fit
from problems import latency, placement, throughput
from solvers.method import Context
from tests.heuristics.samples import sample, samples

quick = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def same_as_afresh(instance, space, state):
    """Compare every field of a complete placement."""
    device = state.device
    assert np.array_equal(device, state.place[space.unit])
    parts = throughput.parts(instance, device)
    assert np.allclose(state.parts, parts, rtol=1e-9, atol=1e-9)
    assert state_.period(space, state) == pytest.approx(throughput.period(instance, device))
    assert np.array_equal(state.use, placement.memory_use(instance, device))
    fits = bool((state.use <= instance.memory).all())
    assert state_.fits(space, state) == fits
    if space.contiguous:
        position = np.empty(instance.K, np.int64)
        is_chain = state_.chain(state, position)
        assert is_chain == throughput.is_contiguous(instance, device)
        if is_chain:
            pairs = position[device[throughput.order_edges(instance)]]
            assert (pairs[:, 0] <= pairs[:, 1]).all()


def supported_places(space, rng):
    options = [np.flatnonzero(np.isfinite(row)) for row in space.unit_time]
    assume(all(map(len, options)))
    return options, np.array([rng.choice(each) for each in options], np.int64)


@quick
@given(st.integers(0, 10_000), st.integers(0, 60))
def test_moves_equal_a_fresh_state(seed, moves):
    instance = sample(seed, n=12, devices=4, problem="throughput")
    assume(instance is not None)
    rng, space = np.random.default_rng(seed), space_.build(instance)
    options, place = supported_places(space, rng)
    state = state_.of(space, place)
    same_as_afresh(instance, space, state)
    for _ in range(moves):
        g = int(rng.integers(len(place)))
        to = -1 if rng.random() < 0.2 else int(rng.choice(options[g]))
        state_.move(space, state, g, to)
    for g in np.flatnonzero(state.place < 0):
        state_.move(space, state, g, int(rng.choice(options[g])))
    same_as_afresh(instance, space, state)


@quick
@given(st.integers(0, 10_000))
def test_an_emptied_state_is_empty(seed):
    instance = sample(seed, n=10, devices=3, problem="throughput")
    assume(instance is not None)
    space = space_.build(instance)
    state = state_.of(space, supported_places(space, np.random.default_rng(seed))[1])
    for g in range(len(state.place)):
        state_.move(space, state, g, -1)
    for field, blank in zip(state, state_.empty(space), strict=True):
        assert np.allclose(field, blank, atol=1e-9)


@quick
@given(st.integers(0, 10_000), st.integers(1, 400))
def test_annealing_throughput_keeps_its_state(seed, moves):
    instance = sample(seed, n=14, devices=4, problem="throughput")
    assume(instance is not None)
    space = space_.build(instance)
    place = first_fit(space, Context())
    assume(place is not None)
    run = anneal_throughput.search(space, rng_.seeded(np.random.default_rng(seed)))
    anneal_throughput.restart(space, run, place)
    anneal_throughput.anneal(space, run, 0, moves, 5.0, 0.98, 10)
    best = run.best[space.unit]
    assert throughput.is_valid(instance, best)
    assert run.energy[1] == pytest.approx(throughput.period(instance, best))


@quick
@given(st.integers(0, 10_000), st.integers(1, 400))
def test_annealing_latency_keeps_its_state(seed, moves):
    instance = sample(seed, n=14, devices=4, problem="latency")
    assume(instance is not None)
    space = space_.build(instance)
    place = first_fit(space, Context())
    assume(place is not None)
    run = anneal_latency.search(space, rng_.seeded(np.random.default_rng(seed)))
    anneal_latency.restart(space, run, place[space.unit], np.arange(instance.n))
    anneal_latency.anneal(space, run, 0, moves, 5.0, 0.98, 10)
    answer = anneal_latency.answer(instance, run)
    assert latency.is_valid(instance, answer)
    assert latency.makespan(instance, answer) == pytest.approx(run.value[1])
    assert np.array_equal(run.walk.use, placement.memory_use(instance, run.walk.device))


@pytest.mark.parametrize("kernel", [anneal_throughput, anneal_latency])
def test_the_walk_does_not_depend_on_how_it_is_cut(kernel):
    """The clock cuts a round into calls of any length: one walk all the same."""
    problem = "latency" if kernel is anneal_latency else "throughput"
    for seed, instance in samples(20, n=14, devices=4, problem=problem):
        space = space_.build(instance)
        place = first_fit(space, Context())
        if place is None:
            continue
        ends = []
        for piece in (1, 7, 210):
            run = kernel.search(space, rng_.seeded(np.random.default_rng(seed)))
            if kernel is anneal_latency:
                kernel.restart(space, run, place[space.unit], np.arange(instance.n))
            else:
                kernel.restart(space, run, place)
            for first in range(0, 210, piece):
                kernel.anneal(space, run, first, piece, 3.0, 0.9, 20)
            state = run.walk if kernel is anneal_latency else run.walk.state
            ends.append(state.device.copy())
        assert np.array_equal(ends[0], ends[1])
        assert np.array_equal(ends[0], ends[2])
