"""The program on one order: valid, never under the optimum, and exact where there is one order."""

from __future__ import annotations

import pytest

from problems.builder import Builder
from problems.generate.random import random_bundle
from problems.resolve import from_bundle
from problems.single import best_single
from solvers.catalogue import load
from solvers.ideals import dpl
from solvers.method import Context
from tests.solvers.runs import run

ORDERS = ["depth-first", "by-number"]


def line(times, transfers, devices=2):
    builder = Builder("line", problem="throughput", rules={"contiguous": True})
    builder.add_link("port", points=[(0, 0.0), (100, 100.0)])
    for k in range(devices):
        builder.add_device(f"d{k}", kind="chip", link="port")
    for v, time in enumerate(times):
        builder.add_node(f"v{v}", {"chip": time}, output_bytes=[*transfers, 0][v])
        if v:
            builder.add_edge(f"v{v - 1}", f"v{v}")
    return from_bundle(builder.build())


@pytest.mark.parametrize("order", ORDERS)
def test_a_line_has_one_order_only(order):
    instance = line([3.0, 2.0, 2.0, 4.0, 1.0], [2, 1, 9, 3])
    ran = run("dpl", instance, order=order)
    assert ran.objective == 8.0  # v0 v1 | v2 v3 v4: 5 + 1 and 7 + 1
    assert ran.claim == "feasible"
    assert run("dp", instance).objective == 8.0


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(12))
def test_it_is_never_better_than_the_optimum(order, seed):
    instance = from_bundle(
        random_bundle(
            seed, n=14, devices=4, density=0.15, like=True, ties=True, tight=2.0,
            rules={"contiguous": True},
        )
    )  # fmt: skip
    exact, ran = run("dp", instance), run("dpl", instance, order=order)
    assert exact.claim == "optimal"
    assert ran.objective >= exact.objective


def test_one_order_is_not_all_orders():
    """Two chains of 3 s: by number they alternate, depth first they do not."""
    builder = Builder("two", problem="throughput", rules={"contiguous": True})
    builder.add_link("port", points=[(0, 0.0), (1, 0.5)])
    for k in range(2):
        builder.add_device(f"d{k}", kind="chip", link="port")
    for i in range(3):
        for chain in "ab":
            builder.add_node(f"{chain}{i}", {"chip": 1.0}, output_bytes=1)
            if i:
                builder.add_edge(f"{chain}{i - 1}", f"{chain}{i}")
    instance = from_bundle(builder.build())
    assert load("dpl").kind == "heuristic"
    assert run("dpl", instance, order="depth-first").objective == 3.0
    assert run("dpl", instance, order="by-number").objective == 4.0


def test_the_best_device_is_handed_in_before_anything_that_takes_time(monkeypatch):
    rules = {"contiguous": True}
    instance = from_bundle(random_bundle(3, n=12, devices=3, rules=rules))
    reports, known = [], []
    monkeypatch.setattr(dpl.start, "throughput_start", lambda *given, **more: known.extend(reports))
    dpl.dpl(instance, Context(on_answer=reports.append))
    answer, _ = best_single(instance)
    assert [each.device.tolist() for each in known] == [answer.device.tolist()]
