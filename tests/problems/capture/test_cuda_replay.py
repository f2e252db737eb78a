"""Replay on a card, with a fake of the CUDA calls on CPU tensors."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

import torch

from problems.capture import cuda_replay, cuda_timing
from problems.capture.cuda_arguments import Blocks
from problems.capture.cuda_replay import PoisonedError, replay
from problems.capture.cuda_timing import HOLDS, Stopwatch, share
from tests.problems.capture.fake_cuda import MATRIX, SIGNATURES, VECTOR, Clock, FakeCuda

Lines = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def _small_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_timing, "FLUSH_BYTES", 1 << 10)


def run(cuda: FakeCuda, spec: str = "cuda:fp32", **job: Any) -> Lines:
    lines: Lines = []
    whole = {"signatures": SIGNATURES, "spec": spec, "budget_s": 60, "seed": 0, "limit": 3} | job
    replay(whole, lines.append, cuda=cuda, device="cpu")
    return lines


def test_rounds_time_card_and_host_and_say_what_cannot_run() -> None:
    lines = run(FakeCuda())
    rounds = [line["times"] for line in lines if "times" in line]
    assert [set(each) for each in rounds] == [{"add", "product", "zeros"}] * 3
    for each in rounds:
        for card_s, host_s in each.values():
            assert card_s >= host_s > 0  # the fake's events stand outside the host's clock
    (failed,) = [line["failed"] for line in lines if "failed" in line]
    assert set(failed) == {"wrong"}
    assert failed["wrong"].startswith("RuntimeError")
    assert [line["begin"] for line in lines if "begin" in line] == list(SIGNATURES)
    assert any("flush_s" in line.get("info", {}) for line in lines)


def test_a_poisoned_context_ends_with_the_signature_that_did_it() -> None:
    with pytest.raises(PoisonedError) as caught:
        run(FakeCuda(poisonous=True))
    assert caught.value.args[0] == "wrong"


def test_an_error_in_a_round_counts_as_poison(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"add": 0}

    def resolve(op: str) -> Any:
        def call(*args: Any) -> None:
            calls["add"] += 1
            if calls["add"] > 3:
                raise RuntimeError("CUDA error: an illegal memory access was encountered")

        return call

    monkeypatch.setattr(cuda_replay, "resolve", resolve)
    with pytest.raises(PoisonedError) as caught:
        run(FakeCuda(), signatures={"add": SIGNATURES["add"]})
    assert caught.value.args == (
        "add",
        "RuntimeError: CUDA error: an illegal memory access was encountered",
    )


def test_out_of_memory_is_recorded_and_the_rest_goes_on() -> None:
    large = {"tensor": [[2**28], [1], "float32"]}  # the fake card has 256 MiB free
    table = {"large": {"op": "aten.neg.default", "args": [large]}, "add": SIGNATURES["add"]}
    cuda = FakeCuda()
    lines = run(cuda, signatures=table)
    (failed,) = [line["failed"] for line in lines if "failed" in line]
    assert "does not fit" in failed["large"]
    assert "emptied" in cuda.log
    assert [set(line["times"]) for line in lines if "times" in line] == [{"add"}] * 3


@pytest.mark.parametrize(("spec", "allowed"), [("cuda:fp32", False), ("cuda:tf32", True)])
def test_only_tf32_rounds_factors(spec: str, allowed: bool) -> None:
    run(FakeCuda(), spec, limit=1)
    assert torch.backends.cuda.matmul.allow_tf32 is allowed
    assert torch.backends.cudnn.allow_tf32 is allowed
    torch.backends.cuda.matmul.allow_tf32 = False


def test_bf16_makes_bfloat16_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(
        cuda_replay, "resolve", lambda op: lambda *args: seen.extend(a.dtype for a in args)
    )
    run(FakeCuda(), "cuda:bf16", limit=1, signatures={"add": SIGNATURES["add"]})
    assert set(seen) == {torch.bfloat16}


@pytest.mark.parametrize("streams", [True, False])
def test_a_share_works_in_its_green_context(streams: bool) -> None:
    cuda = FakeCuda(streams=streams)
    run(cuda, "cuda:32sm:fp32", limit=1, signatures={"add": SIGNATURES["add"]})
    inside = ["in its stream", "out of its stream"] if streams else ["set", "pop"]
    assert cuda.log == [(32, 0), *inside]


def test_a_torch_without_green_contexts_says_so() -> None:
    with pytest.raises(RuntimeError, match=r"no green contexts \(torch 2\.10 or later"):  # noqa: SIM117
        with share(32, 0, FakeCuda(green=False)):
            pass


def test_the_deadline_ends_preparation_and_rounds() -> None:
    clock = Clock()

    class Slow(FakeCuda):
        class Event(FakeCuda.Event):
            def synchronize(self) -> None:
                clock.now += 1.0

    lines: Lines = []
    table = {str(i): SIGNATURES["add"] for i in range(100)}
    job = {"signatures": table, "spec": "cuda:fp32", "budget_s": 100.0, "seed": 0}
    replay(job, lines.append, cuda=Slow(), device="cpu", clock=clock)
    assert clock.now <= 102
    begun = [line["begin"] for line in lines if "begin" in line]
    assert 10 < len(begun) < 60  # 26 s for the watch; two calls each, in 60 % of what is left
    times = [line["times"] for line in lines if "times" in line]
    assert set(times[0]) <= set(begun)
    assert sum(map(len, times)) >= 25


def test_blocks_are_shared_but_not_within_a_call_nor_with_writers() -> None:
    write = {"op": "aten.add_.Tensor", "args": [VECTOR, VECTOR]}
    index = {"tensor": [[5], [1], "int64"]}
    look = {"op": "aten.embedding.default", "args": [MATRIX, index]}
    table = {"a": SIGNATURES["product"], "b": SIGNATURES["add"], "w": write, "e": look}
    table = {key: {"kwargs": {}} | each for key, each in table.items()}
    blocks = Blocks("cpu", 0, table, 1 << 20)
    made = {k: blocks.build(e["op"], e["args"], e["kwargs"])[0] for k, e in table.items()}
    place = {key: [t.data_ptr() for t in each] for key, each in made.items()}
    assert place["a"] == place["b"]
    assert len(set(place["a"])) == 2
    assert not set(place["w"]) & set(place["a"])
    assert made["a"][0].shape == (32, 32)
    assert int(made["e"][1].max()) < 32


def test_the_card_is_kept_busy_for_longer_than_the_host_dispatches() -> None:
    watch = Stopwatch("cpu", FakeCuda())
    flushes = 0

    class Junk:
        def zero_(self) -> None:
            nonlocal flushes
            flushes += 1

    watch.junk, watch.flush_s = Junk(), 10e-6  # type: ignore[assignment]
    for dispatch_s, expected in ((0.0, 1), (5e-6, 1), (40e-6, 6), (1.0, HOLDS)):
        flushes = 0
        watch.time(lambda: None, dispatch_s)
        assert flushes == expected
