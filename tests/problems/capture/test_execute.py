"""Placements executed for real: values, not times. Threads stand for the processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import pytest

pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

import torch

from problems.answer import Answer
from problems.capture import child, machine, stage
from problems.capture.execute import execute, plan_of, predicted, with_copies
from problems.capture.graph import export_graph
from problems.capture.models import BUILDERS, Builder, Built
from problems.capture.program import load
from problems.graph import OpGraph, from_file
from problems.instance import Instance
from tests.tiny import instance


class Knotty(torch.nn.Module):  # type: ignore[misc]
    """Views, a write in place, a result of two tensors, two outputs, a weight read twice."""

    def __init__(self) -> None:
        super().__init__()
        self.one = torch.nn.Linear(8, 8)
        self.two = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a = self.one(x)
        view = a.t()
        before = view.exp()
        a.relu_()
        values, where = torch.max(view, dim=0)
        left, right = self.two(a).chunk(2, dim=1)
        b = torch.nn.functional.linear(left.repeat(1, 2) * right.repeat(1, 2), self.one.weight)
        return b + before.t() + where, values.view(2, 4)


@pytest.fixture
def knotty(monkeypatch: pytest.MonkeyPatch) -> OpGraph:
    def build() -> Built:
        return Built(Knotty(), (torch.linspace(-1, 1, 64).view(8, 8),), {}, "")

    monkeypatch.setitem(BUILDERS, "knotty", Builder("knotty", "tiny", build, "Knotty"))
    monkeypatch.setattr(child, "run_together", together)
    monkeypatch.setattr(machine, "available_cores", lambda: 2)
    program = load("knotty")  # once: threads cannot export at the same time
    monkeypatch.setattr(stage, "load", lambda name, seed: program)
    built = build()
    return from_file(export_graph("knotty", "tiny", built.model, built.args))


def together(module: str, jobs: list[dict[str, Any]], threads: int, hear: Any) -> Any:
    assert module == "problems.capture.stage"
    blocks = [[torch_block(name) for name in job["memories"]] for job in jobs]
    with ThreadPoolExecutor(len(jobs)) as pool:
        results = list(pool.map(stage.stage, jobs, blocks))
    return results, 0.0


def torch_block(name: str) -> Any:
    """A block whose memory the tests may leave open."""
    block = SharedMemory(name)
    block.close = lambda: None  # type: ignore[method-assign]
    return block


def placed(graph: OpGraph, device: list[int], problem: str = "latency") -> tuple[Instance, Answer]:
    case = instance(
        [[1.0, 1.0]] * graph.n,
        [(int(u), int(v)) for u, v in graph.edges],
        problem=problem,
        payload=[int(n) for n in graph.output_bytes],
        delay={(0, 1): 1.0},
    )
    object.__setattr__(case, "names", graph.names)
    return case, Answer.of(device)


def test_the_parts_are_the_network(knotty: OpGraph) -> None:
    program = load("knotty")
    assert list(program.operators) == list(knotty.names)


@pytest.mark.parametrize("way", ["latency", "throughput"])
def test_outputs_are_those_of_the_network_however_it_is_cut(knotty: OpGraph, way: str) -> None:
    n = knotty.n
    cuts = [[0] * n, [v % 2 for v in range(n)], [v % 3 // 2 for v in range(n)]]
    if way == "throughput":  # a chain: what comes later would stop the samples before it
        cuts = [[int(v >= cut) for v in range(n)] for cut in range(1, n, 2)]
    plans = [plan_of(*placed(knotty, cut, way), samples=4) for cut in cuts]
    for done in execute("knotty", knotty, plans, force=True):
        assert done.difference < 1e-6
        assert 0 < done.min_s <= done.seconds
        assert sum(each.get("operator", 0.0) for each in done.parts) > 0


def test_a_wrong_result_shows(knotty: OpGraph) -> None:
    program = stage.load("knotty", 0)
    (node,) = (n for n in program.operators.values() if str(n.target) == "aten.relu_.default")
    node.target = torch.ops.aten.sin_.default
    (done,) = execute("knotty", knotty, [plan_of(*placed(knotty, [0] * knotty.n))], force=True)
    assert done.difference > 1e-3


def test_what_cannot_be_executed_is_refused(
    knotty: OpGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(*placed(knotty, [0] * knotty.n))
    with pytest.raises(ValueError, match="need 6 cores, 2 are there"):
        execute("knotty", knotty, [plan], threads=3, force=True)
    plan.device.popitem()
    with pytest.raises(ValueError, match="does not place the operators"):
        execute("knotty", knotty, [plan], force=True)


def test_copies_take_the_time_of_both_ends() -> None:
    # a on d0 feeds b and c on d1; d follows a on d0. The payload takes 2 s.
    case = instance(
        [[1, 1], [3, 3], [1, 1], [5, 5]],
        [(0, 1), (0, 2), (0, 3)],
        payload=[1, 0, 0, 0],
        delay={(0, 1): 1.0},
    )
    answer = Answer.of([0, 1, 1, 0], [[0, 3], [1, 2]])
    assert predicted(case, answer) == 7.0  # d1: 1 + 2, then 4
    # d0: 1, half a copy, 5; d1: there at 2, half a copy, 4
    assert with_copies(case, answer) == 7.0
    alone = Answer.of([0, 0, 0, 0], [[0, 1, 2, 3], []])
    assert with_copies(case, alone) == predicted(case, alone) == 10.0
