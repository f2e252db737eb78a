import pytest

from problems.formats.aiconfigurator.work import Attention, Gemm, bf16_bytes, work_of
from problems.graph import Signature
from tests.problems.formats.aiconfigurator.tensors import IMAGE, PATCH, tensor


def gemms(op, *args, **kwargs):
    return work_of(Signature(f"aten.{op}", list(args), kwargs)).gemms


@pytest.mark.parametrize(
    ("op", "args", "expected"),
    [
        ("linear.default", [tensor(2, 5, 7), tensor(3, 7), tensor(3)], [Gemm(10, 3, 7)]),
        ("linear.default", [tensor(7), tensor(3, 7)], [Gemm(1, 3, 7)]),
        ("addmm.default", [tensor(3), tensor(5, 7), tensor(7, 3)], [Gemm(5, 3, 7)]),
        ("mm.default", [tensor(5, 7), tensor(7, 3)], [Gemm(5, 3, 7)]),
        ("matmul.default", [tensor(2, 5, 7), tensor(7, 3)], [Gemm(10, 3, 7)]),
        ("matmul.default", [tensor(5, 7), tensor(7)], [Gemm(5, 1, 7)]),
        ("bmm.default", [tensor(1, 5, 7), tensor(1, 7, 3)], [Gemm(5, 3, 7)]),
        ("bmm.default", [tensor(4, 5, 7), tensor(4, 7, 3)], []),
        ("baddbmm.default", [tensor(1), tensor(1, 5, 7), tensor(1, 7, 3)], [Gemm(5, 3, 7)]),
    ],
)
def test_products(op, args, expected):
    work = work_of(Signature(f"aten.{op}", args))
    assert list(work.gemms) == expected
    assert work.exactly
    assert not work.refused


def test_a_cell_is_two_products():
    cell = [tensor(2, 5), [tensor(2, 3), tensor(2, 3)], tensor(12, 5), tensor(12, 3)]
    work = work_of(Signature("aten.lstm_cell.default", cell))
    assert work.gemms == (Gemm(2, 12, 5), Gemm(2, 12, 3))
    assert not work.exactly


def test_windows_that_tile_are_a_product():
    expected = (Gemm(2 * 2 * 2, 8, 3 * 16 * 16),)
    assert gemms("conv2d.default", IMAGE, PATCH, None, [16, 16]) == expected
    general = ([16, 16], [0, 0], [1, 1], False, [0, 0], 1)
    assert gemms("convolution.default", IMAGE, PATCH, None, *general) == expected
    assert not work_of(Signature("aten.conv2d.default", [IMAGE, PATCH, None, [16, 16]])).exactly
    given = (tensor(2, 8, 2, 2), IMAGE, PATCH, [8], *general)
    back = gemms("convolution_backward.default", *given, [True, True, True])
    assert back == (Gemm(8, 768, 8), Gemm(8, 768, 8))
    back = gemms("convolution_backward.default", *given, [False, True, True])
    assert back == (Gemm(8, 768, 8),)


@pytest.mark.parametrize(
    ("op", "rest"),
    [
        ("conv2d.default", []),
        ("conv2d.default", [[8, 16]]),
        ("conv2d.default", [[16, 16], [1, 1]]),
        ("conv2d.default", [[16, 16], [0, 0], [2, 2]]),
        ("conv2d.default", [[16, 16], [0, 0], [1, 1], 3]),
        ("conv2d.padding", [[16, 16], "same"]),
        ("convolution.default", [[16, 16], [0, 0], [1, 1], True, [0, 0], 1]),
        ("conv_transpose2d.input", [[16, 16]]),
    ],
)
def test_other_convolutions_are_refused(op, rest):
    assert "convolutions" in work_of(Signature(f"aten.{op}", [IMAGE, PATCH, None, *rest])).refused


def test_whole_recurrent_layers_are_refused():
    assert "recurrent" in work_of(Signature("aten.lstm.input", [])).refused


def test_attention():
    q, kv = tensor(2, 8, 5, 64), tensor(2, 4, 7, 64)
    plain = Signature("aten.scaled_dot_product_attention.default", [q, kv, kv])
    assert work_of(plain).attention == Attention(2, 5, 7, 8, 4, 64, causal=False)
    masked = Signature(plain.op, [q, kv, kv, None, 0.0, True])
    assert work_of(masked).attention.causal
    named = Signature(plain.op, [q, kv, kv], {"is_causal": True})
    assert work_of(named).attention.causal
    flash = "aten._scaled_dot_product_flash_attention_for_cpu.default"
    assert work_of(Signature(flash, [q, kv, kv, 0.0, True])).attention.causal
    args = [q, q, kv, kv, q, tensor(2, 8, 5), 0.0, True]
    backward = Signature(f"{flash[:-8]}_backward.default", args)
    expected = Attention(2, 5, 7, 8, 4, 64, causal=True, backward=True)
    assert work_of(backward).attention == expected
    other = Signature("aten._scaled_dot_product_cudnn_attention_backward.default", args)
    assert work_of(other).attention is None


def bf16(op, args, read, written, **kwargs):
    return bf16_bytes(Signature(op, args, kwargs, bytes_read=read, bytes_written=written))


def test_only_floats_are_halved():
    x = tensor(4, 8)
    assert bf16("aten.gelu.default", [x], 128, 128) == 128
    assert bf16("aten.eq.Scalar", [x, 1.0], 128, 32) == 64 + 32
    assert bf16("aten.add.Tensor", [tensor(4, dtype="int64")], 32, 32) == 64
    assert bf16("aten.where.self", [tensor(4, 8, dtype="bool"), x, x], 288, 128) == 32 + 128 + 64
    assert bf16("aten.to.dtype", [tensor(4, dtype="bool"), {"dtype": "float32"}], 4, 16) == 4 + 8
    table, rows = tensor(1000, 8), tensor(4, dtype="int64")
    assert bf16("aten.embedding.default", [table, rows], 128 + 32, 128) == 64 + 32 + 64
    assert bf16("aten.cat.default", [[x, x]], 256, 256) == 256
