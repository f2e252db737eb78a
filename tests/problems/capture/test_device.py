"""Replay of a few small signatures; no real measurement."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

import pytest

pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture import child, device, machine
from problems.capture.device import capture_device, cpu_share, cpu_threads, default_name
from problems.capture.replay import replay
from problems.graph import Signature
from problems.platform import Timing

VECTOR = {"tensor": [[64], [1], "float32"]}
MATRIX = {"tensor": [[256, 256], [256, 1], "float32"]}
ADD = Signature(op="aten.add.Tensor", args=[VECTOR, VECTOR])
PRODUCT = Signature(op="aten.mm.default", args=[MATRIX, MATRIX])
WRONG = Signature(op="aten.mm.default", args=[MATRIX, VECTOR])
UNKNOWN = Signature(op="aten.nonsense.default")


def test_a_device_file_answers_every_signature() -> None:
    said: list[tuple[float, str]] = []
    table = {"add": ADD, "product": PRODUCT, "wrong": WRONG, "unknown": UNKNOWN}
    file = capture_device(
        "cpu:1",
        table,
        0.05,
        processes=2,
        force=True,
        progress=lambda *each: said.append(each),
    )
    assert file.kind == "measured"
    assert set(file.times) == set(table)
    for key in ("add", "product"):
        timing = file.times[key]
        assert timing is not None
        assert 0 < timing.min_s <= timing.median_s <= timing.max_s
        assert timing.repeats == file.provenance["rounds"] >= 3
        assert file.seconds(key) == timing.median_s
    # what cannot run has no time, and the file says why
    assert file.times["wrong"] is None
    assert file.times["unknown"] is None
    assert set(file.provenance["failed"]) == {"wrong", "unknown"}
    assert "nonsense" in file.provenance["failed"]["unknown"]
    assert {"cpu", "threads", "torch", "date", "method"} <= set(file.provenance)
    assert file.times["product"].min_s > file.times["add"].min_s  # type: ignore[union-attr]
    assert said[-1][1].startswith("cpu:1, process 2 of 2: round")
    assert [fraction for fraction, _ in said] == sorted(fraction for fraction, _ in said)


def test_rounds_cover_every_signature_before_any_is_repeated() -> None:
    job = {
        "signatures": {str(i): {"op": ADD.op, "args": ADD.args, "kwargs": {}} for i in range(5)},
        "budget_s": 60,
        "seed": 0,
        "limit": 4,
    }
    said: list[dict[str, object]] = []
    result = replay(job, said.append)
    assert [line["round"] for line in said] == [1, 2, 3, 4]
    assert {len(each) for each in result["samples"].values()} == {4}


def test_the_child_has_its_allocator_set_before_it_starts(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    seen: dict[str, str] = {}

    def refuse(*_: object, env: dict[str, str], **__: object) -> None:
        seen.update(env)
        raise InterruptedError

    monkeypatch.setattr(child.subprocess, "Popen", refuse)
    with pytest.raises(InterruptedError):
        child.run("problems.capture.replay", {}, 1, print)
    assert {"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_"} <= set(seen)
    assert seen["OMP_NUM_THREADS"] == "1"


def test_a_child_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)replay ended with code 1: .*KeyError: 'seed'"):
        child.run("problems.capture.replay", {}, 1, print)
    with pytest.raises(RuntimeError, match="No module named"):  # ends before it reads its job
        child.run("problems.capture.nonsense", {"much": "x" * 10**6}, 1, print)


def test_without_torch_the_missing_package_is_named(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(device, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError) as caught:
        capture_device("cpu:1", {"add": ADD})
    assert caught.value.name == "torch"


@pytest.mark.parametrize("spec", ["cpu", "cpu:0", "cpu:100000", "cuda:fp32", "cpu:1.5", ""])
def test_unknown_devices_are_refused_with_those_there_are(spec: str) -> None:
    with pytest.raises(
        ValueError, match=rf"the devices are cpu:1 \.\. cpu:{machine.available_cores()}"
    ):
        cpu_threads(spec)


def test_nothing_to_measure_and_no_time() -> None:
    with pytest.raises(ValueError, match="no signatures"):
        capture_device("cpu:1", {})
    with pytest.raises(ValueError, match="budget_s <= 0"):
        capture_device("cpu:1", {"add": ADD}, 0.0)


def test_names_are_made_of_the_processor(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(machine, "cpu_model", lambda: "AMD EPYC 7R13 (cpu family 25, model 1)")
    assert default_name(2) == "amd-epyc-7r13-2t"


def test_long_operators_sit_out_once_their_share_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("problems.capture.replay")
    now = [0.0]
    seconds = {"long": 0.1, "short": 0.001}

    def took(self: object, name: str) -> float:
        now[0] += seconds[name]
        return seconds[name]

    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(module._Replay, "_time", took)
    job = {
        "signatures": {name: {"op": ADD.op, "args": ADD.args, "kwargs": {}} for name in seconds},
        "budget_s": 1.0,
        "seed": 0,
    }
    samples = replay(job, lambda line: None)["samples"]
    # half of the budget is the share of each
    assert len(samples["long"]) in (5, 6, 7)
    assert len(samples["short"]) > 100
    assert now[0] <= 1.0 + 1e-9


def test_what_does_not_fit_the_memory_fails_and_says_why() -> None:
    huge = {"tensor": [[2**46], [1], "float32"]}
    job = {
        "signatures": {
            "huge": {"op": ADD.op, "args": [huge, 1], "kwargs": {}},
            "small": {"op": ADD.op, "args": ADD.args, "kwargs": {}},
        },
        "budget_s": 1.0,
        "seed": 0,
        "limit": 3,
    }
    result = replay(job, lambda line: None)
    assert set(result["failed"]) == {"huge"}
    assert "allocate" in result["failed"]["huge"]
    assert len(result["samples"]["small"]) == 3


def test_devices_that_work_at_once_need_cores_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "available_cores", lambda: 4)
    assert cpu_share("cpu:2x2") == (2, 2)
    assert cpu_share("cpu:4") == (4, 1)
    with pytest.raises(ValueError, match="N x M at most 4"):
        cpu_share("cpu:2x3")


def test_two_at_once_give_their_times_together(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []

    def run(module: str, jobs: list[dict[str, object]], *_: object) -> object:
        asked.extend(jobs)
        results = [
            {"samples": {"add": [1.0 + k]}, "failed": {}, "torch": "2"} for k in range(len(jobs))
        ]
        return results, 0.0

    monkeypatch.setattr(machine, "available_cores", lambda: 2)
    monkeypatch.setattr(child, "run_together", run)
    file = capture_device("cpu:1x2", {"add": ADD}, 1.0, processes=2, force=True)
    assert file.times["add"] == Timing(1.0, 1.5, 2.0, 4)
    assert len({job["seed"] for job in asked}) == 4
    assert asked[2]["expected"] == {"add": 1.5}  # the second pair knows what the first one saw
    assert file.name.endswith("-1tx2")
    assert "2 processes at once" in file.provenance["method"]
