"""Names of CUDA devices, and signatures in their precision."""

from __future__ import annotations

import pytest

from problems.capture.cuda import CudaSpec, parse, recast


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("cuda:fp32", CudaSpec("fp32")),
        ("cuda:32sm:tf32", CudaSpec("tf32", 32)),
        ("cuda:gpu1:bf16", CudaSpec("bf16", card=1)),
        ("cuda:gpu12:8sm:fp32", CudaSpec("fp32", 8, 12)),
    ],
)
def test_specs_read_and_write(text: str, spec: CudaSpec) -> None:
    assert parse(text) == spec
    assert str(spec) == text


@pytest.mark.parametrize(
    "text", ["cuda", "cuda:", "cuda:fp16", "cuda:0sm:fp32", "cuda:fp32:32sm", "cuda:32:fp32", "gpu"]
)
def test_others_are_refused_with_the_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"no CUDA device '.*'; the form is cuda:.*fp32,tf32,bf16"):
        parse(text)


def test_bf16_replaces_float32_and_nothing_else() -> None:
    tensor = {"tensor": [[2], [1], "float32"]}
    index = {"tensor": [[2], [1], "int64"]}
    value = [tensor, [index, {"dtype": "float32"}, {"dtype": "int64"}, 1.5, None], {"float": "inf"}]
    half = {"tensor": [[2], [1], "bfloat16"]}
    expected = [half, [index, {"dtype": "bfloat16"}, {"dtype": "int64"}, 1.5, None]]
    assert recast(value, "bf16") == [*expected, {"float": "inf"}]
    assert recast(value, "tf32") == value
