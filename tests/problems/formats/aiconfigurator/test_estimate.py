import pytest

from problems.formats.aiconfigurator.estimate import EFFICIENCY, Gpu
from problems.graph import Signature
from tests.problems.formats.aiconfigurator.tensors import IMAGE, PATCH, tensor


@pytest.fixture(scope="module")
def a100(package):
    return Gpu(package, "a100_sxm")


@pytest.fixture(scope="module")
def h100(package):
    return Gpu(package, "h100_sxm")


def linear(m, n, k):
    return Signature("aten.linear.default", [tensor(m, k), tensor(n, k)], flops=2.0 * m * n * k)


def attention(batch, queries, heads, width, causal=False, keys=None, kv=None):
    q, k = tensor(batch, heads, queries, width), tensor(batch, kv or heads, keys or queries, width)
    args = [q, k, k, None, 0.0, causal]
    return Signature("aten.scaled_dot_product_attention.default", args, flops=1.0)


def check(found, seconds, rule):
    assert found.rule == rule
    assert found.seconds == pytest.approx(seconds)


def test_products_are_those_of_the_newest_table_in_seconds(a100, h100):
    check(a100.estimate(linear(64, 256, 64)), 64 * 256 * 64 / 1e6 * 2e-3, "table")
    check(h100.estimate(linear(64, 256, 64)), 64 * 256 * 64 / 1e6 * 1e-3, "table")
    check(h100.estimate(linear(100, 128, 64)), 100 * 128 * 64 / 1e6 * 1e-3, "interpolated")


def test_products_outside_the_table_are_modelled(h100):
    big = linear(4096, 4096, 4096)
    check(h100.estimate(big), big.flops / (EFFICIENCY * 1e14) + 3e-6, "roofline")
    # never faster than the table's fastest point, 4.096 us
    check(h100.estimate(linear(1, 8, 8)), 64 * 64 / 1e6 * 1e-3, "roofline")
    batched = Signature("aten.bmm.default", [tensor(4, 8, 8), tensor(4, 8, 8)], flops=4096.0)
    check(h100.estimate(batched), 64 * 64 / 1e6 * 1e-3, "roofline")


def test_the_rest_moves_bytes(h100):
    gelu = Signature(
        "aten.gelu.default", [tensor(1000, 1000)], bytes_read=4_000_000, bytes_written=4_000_000
    )
    check(h100.estimate(gelu), 4e6 / (0.8 * 1e12) + 3e-6, "roofline")


def test_attention_is_taken_from_the_table_of_its_kind(a100, h100):
    check(h100.estimate(attention(1, 64, 8, 64)), 64 * 8 * 64 / 1e9, "table")
    check(h100.estimate(attention(2, 100, 4, 64)), 2 * 100 * 4 * 64 / 1e9, "interpolated")
    check(h100.estimate(attention(1, 64, 8, 128, causal=True)), 3 * 64 * 8 * 128 / 1e9, "table")
    check(a100.estimate(attention(1, 64, 8, 128, causal=True)), 3 * 64 * 8 * 128 / 1e9, "table")


def test_attention_that_no_table_has_is_modelled(a100, h100):
    # channels in all are kept: 8 heads of 64 are 4 of 128
    check(a100.estimate(attention(1, 64, 8, 64)), 3 * 64 * 4 * 128 / 1e9, "stand-in")
    check(h100.estimate(attention(1, 64, 8, 32)), 64 * 4 * 64 / 1e9, "stand-in")
    check(h100.estimate(attention(1, 64, 8, 64, keys=256)), 128 * 8 * 64 / 1e9, "stand-in")
    check(h100.estimate(attention(1, 64, 8, 64, kv=2)), 64 * 8 * 64 / 1e9, "stand-in")
    check(h100.estimate(attention(1, 64, 4, 128)), 64 * 8 * 64 / 1e9, "stand-in")
    # 16 heads of 64 are beyond the table of full attention, but the causal one has 8 of 128
    check(h100.estimate(attention(1, 64, 8, 128)), 3 * 64 * 8 * 128 / 1e9, "stand-in")
    check(h100.estimate(attention(64, 64, 8, 64)), h100.attention_floor, "roofline")
    assert h100.attention_floor == pytest.approx(64 * 64 / 1e9)


def test_the_gradient_of_attention(h100):
    x = tensor(1, 8, 64, 64)
    op = "aten._scaled_dot_product_flash_attention_for_cpu_backward.default"
    signature = Signature(op, [x, x, x, x, x, tensor(1, 8, 64), 0.0, False])
    check(h100.estimate(signature), 2.5 * 64 * 8 * 64 / 1e9, "backward")
    y = tensor(64, 8, 64, 64)  # a batch beyond the table
    signature = Signature(op, [y, y, y, y, y, tensor(64, 8, 64), 0.0, False])
    check(h100.estimate(signature), h100.attention_floor, "roofline")


def test_composed_operators(h100):
    patch = Signature("aten.conv2d.default", [IMAGE, tensor(64, 4, 8, 8), None, [8, 8]])
    image = tensor(4, 4, 32, 32)
    found = h100.estimate(Signature(patch.op, [image, *patch.args[1:]]))
    check(found, 64 * 64 * 256 / 1e9, "products")
    cell = [tensor(1, 64), [tensor(1, 64), tensor(1, 64)], tensor(256, 64), tensor(256, 64)]
    found = h100.estimate(Signature("aten.lstm_cell.default", cell, bytes_written=512))
    moved = (2 * 256 * 2 + 256) / (0.8 * 1e12)
    check(found, 2 * 256 * 64 / 1e9 + moved + 3e-6, "products")


def test_convolutions_have_no_time(h100):
    assert h100.estimate(Signature("aten.conv2d.default", [IMAGE, PATCH])) is None
