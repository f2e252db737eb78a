"""Operands: what is fresh, what is cold, what never overlaps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

import torch

from problems.capture.operands import Pools


def tensor(*shape: int, dtype: str = "float32") -> dict[str, Any]:
    stride, step = [], 1
    for n in reversed(shape):
        stride.insert(0, step)
        step *= n
    return {"tensor": [list(shape), stride, dtype]}


LINEAR = ("aten.linear.default", [tensor(4, 100), tensor(50, 100), tensor(50)], {})


def span(t: torch.Tensor) -> tuple[int, int]:
    return t.data_ptr(), t.data_ptr() + t.numel() * t.element_size()


def test_weights_go_round_and_inputs_stay() -> None:
    pools = Pools(pool_bytes=200_000)
    calls = [pools.operands(*LINEAR).args for _ in range(4)]
    places = {args[1].data_ptr() for args in calls}
    assert len(places) >= 2  # not where they were a call ago
    assert calls[0][1].data_ptr() != calls[1][1].data_ptr()
    assert max(p.numel() for p in pools.pools.values()) == 50_000  # never more than asked for
    starts = [args[0].data_ptr() for args in calls]
    assert max(starts) - min(starts) < 4096


def test_tensors_of_one_call_do_not_overlap() -> None:
    pools = Pools(pool_bytes=1000)  # grows to what one call needs
    for op, args, kwargs in (LINEAR, ("aten.add.Tensor", [tensor(9, 9), tensor(9, 9)], {})):
        for _ in range(5):
            spans = sorted(span(t) for t in pools.operands(op, args, kwargs).args)
            assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_inputs_are_written_anew_and_weights_are_left_alone() -> None:
    pools = Pools()
    made = pools.operands(*LINEAR)
    made.args[0].fill_(7.0)
    before = made.args[1].clone()
    pools.freshen(made)
    assert (made.args[0] < 2).all()
    assert torch.equal(made.args[1], before)


def test_indices_stay_valid_whoever_writes() -> None:
    pools = Pools()
    embedding = ("aten.embedding.default", [tensor(10, 4), tensor(6, dtype="int64")], {})
    fill = ("aten.fill_.Scalar", [tensor(6, dtype="int64"), 99], {})
    for op, args, kwargs in (embedding, fill, embedding):
        made = pools.operands(op, args, kwargs)
        if op.startswith("aten.fill"):
            made.args[0].fill_(99)
        else:
            assert int(made.args[1].max()) < 10
