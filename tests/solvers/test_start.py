"""Starting answers are valid, and there where something simple is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from problems import placement
from problems.answer import Answer
from problems.checker import check
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from solvers import improve_throughput, objective, start
from solvers.method import Context
from solvers.start import latency_start, throughput_start
from tests.solvers.tiny import instances


def found(problem, start):
    count = 0
    for _, instance in instances(problem, range(2000, 2150)):
        answer = start(instance)
        singles = [
            check(instance, Answer(np.full(instance.n, k))).objective
            for k in range(instance.K)
            if placement.is_placeable(instance, np.full(instance.n, k))
        ]
        if answer is None:
            assert not singles
            continue
        count += 1
        verdict = check(instance, answer)
        assert verdict.valid
        assert not singles or verdict.objective <= min(singles) * (1 + 1e-12)
    return count


def test_throughput_starts():
    assert found("throughput", throughput_start) >= 80


def test_latency_starts():
    assert found("latency", latency_start) >= 80


@pytest.mark.parametrize("problem", ["throughput", "latency", "calls"])
def test_a_start_is_there_when_time_is_up(problem):
    instance = from_bundle(random_bundle(3, n=40, problem=problem, devices=3, tight=None))
    (answer,) = objective.known(instance, Context(deadline=0.0))
    assert check(instance, answer).valid


def test_the_search_ends_at_the_deadline_once_something_is_valid(monkeypatch):
    pieces = []
    whole = improve_throughput.anneal
    monkeypatch.setattr(
        improve_throughput, "anneal", lambda *given: (pieces.append(1), whole(*given))[1]
    )
    for tight, found in ((None, 0), (1.05, 1)):
        given = {"tight": tight, "rules": {"memory": "total"}}
        instance = from_bundle(random_bundle(3, n=40, problem="throughput", devices=4, **given))
        answers = [np.zeros(instance.n, np.int64)]
        pieces.clear()
        answer = improve_throughput.improve(instance, instance.group, answers, deadline=0.0)
        assert answer is not None
        assert min(len(pieces), 1) == found
        pieces.clear()
        improve_throughput.improve(instance, instance.group, answers)
        assert len(pieces) > 3


def test_chunks_are_cut_by_the_deadline(monkeypatch):
    made = []
    whole = start._chunkings
    monkeypatch.setattr(
        start, "_chunkings", lambda *given: (made.append(1) or each for each in whole(*given))
    )
    instance = from_bundle(random_bundle(3, n=40, problem="throughput", devices=4))
    for deadline, least in ((0.0, 1), (math.inf, 20)):
        made.clear()
        assert throughput_start(instance, steps=0, deadline=deadline) is not None
        assert (len(made) == 1) == (least == 1)
        assert len(made) >= least
