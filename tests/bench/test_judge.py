"""Verdict and trace from what came over the wire."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from bench import judge
from bench.frames import encode_answer
from problems import latency
from problems.answer import Answer
from problems.checker import check
from tests.bench import harness


def body(answer) -> bytes:
    return msgspec.msgpack.encode(encode_answer(answer, 1 << 16))


@pytest.mark.parametrize("problem", ["throughput", "latency", "calls", "chips"])
def test_fast_and_slow_agree_on_reports(problem):
    instance = harness.instance(problem, devices=3, tight=1.5, unsupported=0.2)
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        answer = Answer(rng.integers(-1 if rng.random() < 0.05 else 0, 3, instance.n))
        if problem == "latency" and rng.random() < 0.5 and (answer.device >= 0).all():
            answer = latency.dispatch(instance, answer.device)
        if problem == "calls" and rng.random() < 0.5:
            slot = np.where(instance.host[answer.device], -1, rng.integers(0, 2, instance.n))
            answer = Answer(answer.device, slot=slot)
        found = judge.judge(instance, (0.0, body(answer)))
        verdict = check(instance, answer)
        assert (found.objective, found.violations) == (verdict.objective, verdict.violations)
        ordered = answer.order is not None or answer.slot is not None
        whole = problem in ("throughput", "chips") or ordered
        assert found.completed_by_dispatch == (verdict.valid and not whole)
        fast = judge.objective(instance, answer)
        assert (fast is None) == (verdict.objective is None)
        if fast is not None:
            assert fast == pytest.approx(verdict.objective, rel=1e-12)
        seen.add(found.check)
    assert seen == {"ok", "invalid"}


def test_trace_improves_and_is_short():
    instance = harness.instance("latency")
    rng = np.random.default_rng(1)
    reports = [(float(t), body(Answer(rng.integers(0, 2, instance.n)))) for t in range(50)]
    reports[10] = (10.0, body(Answer(np.full(instance.n, -1))))
    reports[11] = (11.0, b"garbage")
    points = judge.trace(instance, reports, None)
    values = [value for _, value in points]
    assert points[0][0] == 0.0
    assert values == sorted(set(values), reverse=True)
    objectives = [
        check(instance, Answer(np.random.default_rng(1).integers(0, 2, instance.n))).objective
    ]
    assert values[0] == pytest.approx(objectives[0])


def test_claimed_starts_are_judged_by_the_checker_only():
    instance = harness.instance("latency")
    answer = latency.dispatch(instance, np.zeros(instance.n, int))
    start = latency.starts(instance, answer)
    late = Answer(answer.device, answer.order, start + 5.0)
    early = Answer(answer.device, answer.order, start - 5.0)
    assert judge.objective(instance, late) == check(instance, late).objective
    assert judge.objective(instance, late) == pytest.approx(latency.makespan(instance, answer))
    assert judge.objective(instance, early) is None


@pytest.mark.parametrize("problem", ["throughput", "latency", "calls", "chips"])
def test_what_a_problem_has_no_place_for_is_no_answer(problem):
    instance = harness.instance(problem)
    device = np.zeros(instance.n, int)
    order = (np.arange(instance.n), *(np.zeros(0, int) for _ in range(instance.K - 1)))
    slot = np.where(instance.host[device], -1, 0)
    for name, answer in (("order", Answer(device, order)), ("slot", Answer(device, slot=slot))):
        has = (problem, name) in {("latency", "order"), ("calls", "slot")}
        assert (judge.objective(instance, answer) is not None) == has
        assert check(instance, answer).valid == has


def test_long_traces_keep_first_and_best():
    points = [(float(i), 1000.0 - i) for i in range(999)]
    thin = judge._thin(points)
    assert len(thin) == judge.TRACE_POINTS
    assert (thin[0], thin[-1]) == (points[0], points[-1])


def test_no_answer():
    assert judge.judge(harness.instance(), None).check == "none"
    assert judge.judge(harness.instance(), (0.0, b"\xc1")).violations[0][0] == "shape"
