"""The bounds of `calls` are below every optimum, and what they say of known cases."""

from __future__ import annotations

import pytest

from problems.bounds.calls_path import as_schedule, schedule, schedule_search
from problems.bounds.theoretical import theoretical
from problems.checker import check
from tests.brute_force import optimum
from tests.solvers.tiny import calls_instances
from tests.tiny import instance


def test_no_bound_is_above_the_optimum():
    met = 0
    for seed, case in calls_instances(range(300, 480)):
        best = optimum(case).objective
        values = [schedule(case).value]
        if seed % 6 == 0:
            values.append(schedule_search(case, 1.0).value)
        if best is not None:
            assert max(values) <= best, (seed, values, best)
            met += max(values) >= best * (1 - 1e-9)
        assert theoretical(case).value >= values[0]
    assert met >= 20


def test_transfers_and_loads_are_seen():
    # Only the accelerator runs b, only the host a and c: 1 + (2 + 3) + 1 + (2 + 4) + 1.
    path = instance(
        [[1, None], [None, 1], [1, None]],
        [(0, 1), (1, 2)],
        problem="calls",
        hosts=[0],
        delay=[0.0, 2.0],
        payload=[3, 4, 0],
    )
    assert schedule(path).value == pytest.approx(14.0, rel=1e-9)
    assert schedule(path).value <= optimum(path).objective == 14.0
    # Three nodes side by side on two accelerators, none on a host.
    wide = instance([[2.0, 2.0]] * 3, problem="calls", delay=[0.0, 0.0])
    assert schedule(wide).value == pytest.approx(3.0, rel=1e-9)
    assert optimum(wide).objective == 4.0


def test_the_schedule_is_the_same_instance_under_the_rules_of_latency():
    (_, case), *_ = calls_instances(range(3, 4))
    loose = as_schedule(case)
    assert loose.problem == "latency"
    assert (loose.time == case.time).all()
    assert (loose.rules.memory, loose.rules.contention) == (case.rules.memory, "none")
    best = optimum(case)
    if best.answer is not None:
        assert check(loose, type(best.answer)(best.answer.device)).valid
