"""Tasks: what they say of a placement is what the evaluator says, and repairs are valid."""

import numpy as np
import pytest

from heuristics.rl.tasks import task_of
from problems.answer import Answer
from problems.checker import check
from tests.heuristics.rl.tiny import tiny

KINDS = [
    {"problem": "chips"},
    {"problem": "chips", "tight": 1.4, "groups": 2},
    {"problem": "chips", "rules": {"overlap": "half", "through_traffic": False}},
    {"problem": "throughput"},
    {"problem": "throughput", "tight": 1.5, "unsupported": 0.2},
    {"problem": "throughput", "rules": {"contiguous": True}, "topology": "direct"},
    {"problem": "throughput", "rules": {"split_phases": True}, "training": True},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_starts_and_repairs_are_valid_and_measured_as_the_judge_does(kind, seed):
    instance = tiny(seed, **kind)
    task = task_of(instance)
    rng = np.random.default_rng(seed)
    starts = task.starts()
    values = []
    for place in starts:
        verdict = check(instance, Answer.of(place[task.unit]))
        assert verdict.valid
        assert task.measure(place)[0] == pytest.approx(verdict.objective, rel=1e-9)
        values.append(verdict.objective)
    repaired = 0
    for place in starts[:2]:
        task.begin(place)
        for _ in range(10):
            moved = rng.choice(task.units, min(3, task.units), replace=False)
            wished = place.copy()
            wished[moved] = rng.integers(0, task.places, len(moved))
            moved = np.flatnonzero(wished != place)
            found = task.repair(wished, moved)
            if found is not None:
                repaired += 1
                assert check(instance, Answer.of(found[task.unit])).valid
    assert not starts or repaired > 0


def test_a_wish_that_is_valid_is_granted():
    instance = tiny(2, n=9)
    task = task_of(instance)
    place = task.starts()[0]
    task.begin(place)
    moved = np.arange(task.units)
    assert (task.repair(np.zeros(task.units, np.int64), moved) == 0).all()


def test_other_problems_have_no_task():
    with pytest.raises(ValueError, match="a policy is for throughput, chips"):
        task_of(tiny(0, problem="latency"))
