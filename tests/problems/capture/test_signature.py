"""Signatures survive the way through JSON and replay on valid arguments."""

from __future__ import annotations

import json
import math

import pytest

torch = pytest.importorskip("torch", reason="extra `capture` is not installed: no torch")

from problems.capture import arguments as arguments_  # noqa: E402
from problems.capture.arguments import Arguments, index_limits  # noqa: E402
from problems.capture.signature import (  # noqa: E402
    decode,
    digest,
    distinct_bytes,
    encode,
    extent,
    resolve,
)


def empty(shape, stride, dtype):  # type: ignore[no-untyped-def]
    return torch.empty_strided(shape, stride, dtype=dtype)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2.5,
        "mean",
        [1, [2, None]],
        torch.float32,
        torch.strided,
        torch.channels_last,
        math.inf,
        -math.inf,
    ],
)
def test_constants_survive_json(value: object) -> None:
    assert decode(json.loads(json.dumps(encode(value), allow_nan=False)), empty, "cpu") == value


def test_tensors_keep_shape_stride_and_dtype() -> None:
    tensor = torch.zeros(4, 6, dtype=torch.int32).t()[::2]
    back = decode(json.loads(json.dumps(encode(tensor))), empty, "cpu")
    assert (back.shape, back.stride(), back.dtype) == (tensor.shape, tensor.stride(), tensor.dtype)


def test_any_device_is_the_one_under_test() -> None:
    assert encode(torch.device("meta")) == encode(torch.device("cpu"))
    assert decode(encode(torch.device("meta")), empty, "cpu") == torch.device("cpu")


def test_what_cannot_be_replayed_is_refused() -> None:
    with pytest.raises(TypeError, match="Generator"):
        encode(torch.Generator())
    with pytest.raises(ValueError, match="unknown argument type 'shape'"):
        decode({"shape": [1]}, empty, "cpu")
    with pytest.raises(ValueError, match=r"no operator 'aten\.nonsense\.default'"):
        resolve("aten.nonsense.default")


def test_digest_depends_on_every_part() -> None:
    parts = [("a", [1], {}), ("b", [1], {}), ("a", [2], {}), ("a", [1], {"k": 1})]
    assert len({digest(*part) for part in parts}) == 4


def test_expanded_tensors_are_held_once() -> None:
    tensor = torch.zeros(3, 1).expand(3, 100)
    assert distinct_bytes(tensor) == 12
    assert extent((3, 100), (1, 0)) == 3
    assert extent((0, 5), (5, 1)) == 0


T = torch.zeros


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("aten.embedding.default", [T(7, 3), T(5, dtype=torch.int64)]),
        ("aten.gather.default", [T(7, 3), 1, T(7, 2, dtype=torch.int64)]),
        ("aten.index_select.default", [T(7, 3), 0, T(50, dtype=torch.int64)]),
        ("aten.index.Tensor", [T(2, 3, 4), [None, T(50, dtype=torch.int64)]]),
        ("aten.scatter.src", [T(7, 3), -1, T(7, 3, dtype=torch.int64), T(7, 3)]),
        ("aten.batch_norm.default", [T(2, 3, 4), T(3), T(3), T(3), T(3), False, 0.1, 1e-5, True]),
        ("aten.where.self", [T(4, dtype=torch.bool), T(4), T(4)]),
        ("aten.log.default", [T(4)]),
        ("aten.lstm_cell.default", [T(1, 2), [T(1, 3), T(1, 3)], T(12, 2), T(12, 3), T(12), T(12)]),
    ],
)
def test_random_arguments_are_valid(op: str, args: list[object]) -> None:
    encoded = json.loads(json.dumps(encode(args)))
    built, kwargs = Arguments().build(op, encoded, {})
    result = resolve(op)(*built, **kwargs)
    for tensor in result if isinstance(result, tuple) else [result]:
        assert torch.isfinite(tensor).all()


def test_indices_use_the_whole_range() -> None:
    encoded = encode([T(7, 3), T(500, dtype=torch.int64)])
    assert index_limits("aten.embedding.default", encoded) == {1: 7}
    built, _ = Arguments().build("aten.embedding.default", encoded, {})
    assert set(built[1].tolist()) == set(range(7))


def test_tensors_of_one_call_do_not_overlap_but_calls_share_memory() -> None:
    arguments = Arguments()
    encoded = encode([T(8), T(8)])
    (a, b), _ = arguments.build("aten.add.Tensor", encoded, {})
    (c, _), _ = arguments.build("aten.mul.Tensor", encoded, {})
    assert a.data_ptr() != b.data_ptr()
    assert a.data_ptr() == c.data_ptr()


def test_large_tensors_share_memory_across_sizes_but_not_in_a_call(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(arguments_, "LARGE", 6)
    arguments = Arguments()
    (a, b), _ = arguments.build("aten.add.Tensor", encode([T(8), T(8)]), {})
    (c, d), _ = arguments.build("aten.add.Tensor", encode([T(2, 3).t(), T(7)]), {})
    assert a.data_ptr() == c.data_ptr() != b.data_ptr() == d.data_ptr()
    assert (c.shape, c.stride()) == ((3, 2), (1, 3))
    (table, ids), _ = arguments.build(
        "aten.embedding.default", encode([T(7, 3), T(9, dtype=torch.int64)]), {}
    )
    assert table.data_ptr() not in (a.data_ptr(), b.data_ptr())
    assert 0 <= int(ids.min()) <= int(ids.max()) < 7
