"""HEFT compiled beside a textbook HEFT in Python, and how it grows with the graph."""

from __future__ import annotations

from bisect import insort

import numpy as np
import pytest

from heuristics import catalogue
from problems import checker, latency
from solvers.method import Context
from tests.heuristics.test_heft import wide


def run(instance, name="heft"):
    return catalogue.load(name).run(instance, Context())


@pytest.fixture(scope="module")
def small():
    return wide(500)


def test_heft(benchmark, small):
    run(small)  # compiled before the clock
    benchmark.group = "HEFT, 500 tasks x 4 devices"
    answer = benchmark(run, small)
    assert checker.check(small, answer).valid


def textbook(time, delay, consumers, producers):
    """HEFT in plain Python, on nested lists; returns the makespan."""
    n, K = len(time), len(time[0])
    pairs = [(k, to) for k in range(K) for to in range(K) if k != to]
    rank = [0.0] * n
    for u in reversed(range(n)):
        mean = sum(delay[u][k][to] for k, to in pairs) / len(pairs)
        rank[u] = sum(time[u]) / K + max((mean + rank[v] for v in consumers[u]), default=0.0)
    busy = [[] for _ in range(K)]  # sorted (start, finish)
    at, finish = [0] * n, [0.0] * n
    for v in sorted(range(n), key=lambda v: -rank[v]):
        best = None
        for k in range(K):
            start = max((finish[u] + delay[u][at[u]][k] for u in producers[v]), default=0.0)
            for begin, end in busy[k]:
                if start + time[v][k] <= begin:
                    break
                start = max(start, end)
            if best is None or start + time[v][k] < best[0]:
                best = start + time[v][k], k, start
        finish[v], at[v], start = best
        insort(busy[at[v]], (start, finish[v]))
    return max(finish)


def test_heft_textbook(benchmark, small):
    benchmark.group = "HEFT, 500 tasks x 4 devices"
    edges = [
        [each[ptr[v] : ptr[v + 1]].tolist() for v in range(small.n)]
        for each, ptr in ((small.succ, small.succ_ptr), (small.pred, small.pred_ptr))
    ]
    delay = [latency.delays(small, u).tolist() for u in range(small.n)]
    makespan = benchmark(textbook, small.time.tolist(), delay, *edges)
    assert makespan == pytest.approx(latency.makespan(small, run(small)))


@pytest.mark.parametrize("tasks", [5000, 100_000])
@pytest.mark.parametrize("name", ["heft", "etf"])
def test_large(benchmark, name, tasks):
    """Everything counts: arrays, the best single device, ranks, schedule, validation."""
    instance = wide(tasks)
    run(instance, name)
    benchmark.group = f"{tasks:,} tasks x 4 devices"
    answer = benchmark.pedantic(run, args=(instance, name), rounds=3)
    assert np.isfinite(latency.makespan(instance, answer))
