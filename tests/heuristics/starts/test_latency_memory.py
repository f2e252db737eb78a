"""Where memory is short an integer program says who leaves the fast devices."""

import time

import numpy as np

from heuristics.shared import space as space_
from heuristics.shared.best import Best
from heuristics.starts.latency import starts
from heuristics.starts.latency_memory import binds, placements
from problems import latency
from problems.builder import Builder
from problems.resolve import from_bundle
from solvers.method import Context
from tests.heuristics.samples import samples


def knapsack(memory):
    """Three nodes of 50 bytes of their own; two of them read 40 more, once a device."""
    builder = Builder("short", problem="latency", rules={})
    builder.add_device("cpu", host=True)
    builder.add_device("gpu", memory_bytes=memory, link="free")
    builder.add_link("free", latency_s=0.0, bandwidth_Bps=1e12)
    for v, (seconds, also) in enumerate(((5.0, {"tied": 40}), (5.0, {"tied": 40}), (7.0, {}))):
        builder.add_node(f"v{v}", {"cpu": seconds, "gpu": 1.0}, weights={f"w{v}": 50, **also})
        if v:
            builder.add_edge(f"v{v - 1}", f"v{v}")
    return from_bundle(builder.build())


def found(instance, context=None):
    answers = []
    placements(instance, context or Context(), answers.append)
    return answers


def test_a_weight_counts_once_on_a_device():
    # Both readers of the tied weight: 140. One and the third: 140, and better.
    devices = {memory: found(knapsack(memory))[-1].device.tolist() for memory in (139, 140, 190)}
    assert devices[190] == [1, 1, 1]
    assert devices[140] in ([1, 0, 1], [0, 1, 1])
    assert devices[139] == [0, 0, 1]


def test_memory_binds_where_the_fastest_devices_do_not_hold_it_all():
    assert not binds(space_.build(knapsack(190)))
    assert binds(space_.build(knapsack(189)))


def test_placements_are_valid_and_of_least_sum_of_times():
    seen = 0
    for _, instance in samples(30, n=5, problem="latency"):
        answers = found(instance)
        if not answers:
            continue
        assert all(latency.is_valid(instance, answer) for answer in answers)

        def total(device, instance=instance):
            return instance.time[np.arange(instance.n), device].sum()

        every = np.indices((instance.K,) * instance.n).reshape(instance.n, -1).T
        valid = [d for d in every if latency.is_valid(instance, latency.dispatch(instance, d))]
        assert total(answers[-1].device) <= min(map(total, valid)) * (1 + 2e-3)
        seen += 1
    assert seen >= 10


def test_starts_ask_for_it_only_where_memory_binds(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "heuristics.starts.latency_memory.placements",
        lambda instance, context, offer: asked.append(instance.memory[1]),
    )
    for memory in (190, 140):
        instance = knapsack(memory)
        context = Context()
        starts(instance, space_.build(instance), context, Best(instance, context))
    assert asked == [140]


def test_without_time_there_is_no_program():
    assert found(knapsack(140), Context(deadline=time.monotonic() - 1)) == []
