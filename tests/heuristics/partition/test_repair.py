import numpy as np

from heuristics.partition import network as network_
from heuristics.partition.repair import project, repair
from heuristics.shared import space as space_
from heuristics.shared import state as state_
from problems.answer import Answer
from problems.checker import check
from tests import tiny
from tests.heuristics.samples import samples


def mended(instance, place):
    space = space_.build(instance)
    network = network_.build(instance, space)
    seconds = network_.seconds(instance, space, network, np.arange(instance.K))
    state = state_.empty(space)
    done = repair(space, state, np.array(place, np.int64), network.ptr, network.neighbour, seconds)
    return done, state.place[space.unit].tolist()


def test_an_unsupported_unit_goes_to_its_neighbours():
    instance = tiny.instance(
        [(1.0, 1.0, 1.0), (1.0, None, 1.0), (1.0, 1.0, 1.0)],
        [(0, 1), (1, 2)],
        payload=[1, 5, 0],
        delay=[0.0, 0.0, 0.0],
    )
    assert mended(instance, [0, 1, 2]) == (True, [0, 2, 2])


def test_a_full_device_sends_away_what_lies_at_its_border():
    instance = tiny.instance(
        [(1.0, 1.0)] * 4,
        [(0, 1), (1, 2), (2, 3)],
        payload=[1, 1, 1, 1],
        memory=[2, None],
        delay=[0.0, 0.0],
    )
    assert mended(instance, [0, 0, 0, 1]) == (True, [0, 0, 1, 1])
    assert not mended(tiny.instance([(1.0,)], payload=[3], memory=[2]), [0])[0]


def test_what_repair_calls_valid_is_valid():
    made = 0
    for seed, instance in samples(150, n=9):
        space = space_.build(instance)
        rng = np.random.default_rng(seed)
        place = rng.integers(0, instance.K, len(space.unit_bytes))
        done, device = mended(instance, place)
        if done:
            made += 1
            verdict = check(instance, Answer.of(device))
            assert verdict.valid, (instance.id, verdict)
    assert made >= 60


def test_projection_is_the_least_move_in_its_direction():
    # 0 -> 1 -> 2, 0 -> 3
    before = np.array([0, 0, 1, 2, 3]), np.array([0, 1, 0])
    after = np.array([0, 2, 3, 3, 3]), np.array([1, 3, 2])
    rank = np.array([1, 0, 2, 0])
    assert project(*before, rank, True).tolist() == [1, 1, 2, 1]
    assert project(*after, rank, False).tolist() == [0, 0, 2, 0]
