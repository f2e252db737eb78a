"""What a signature computes, in the terms of the tables: matrix products, attention, bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from problems.graph import Signature

# Operators whose result holds no floats whatever they read.
WITHOUT_FLOATS = ("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "argmax", "arange")
# Attention -> position of the queries and of `is_causal`. Others go by the roofline rule.
ATTENTION = {
    "scaled_dot_product_attention": (0, 5),
    "_scaled_dot_product_flash_attention": (0, 4),
    "_scaled_dot_product_flash_attention_for_cpu": (0, 4),
    "_scaled_dot_product_flash_attention_for_cpu_backward": (1, 7),
}
WHOLE_LAYERS = ("lstm", "gru", "rnn", "mkldnn_rnn_layer")


class Gemm(NamedTuple):
    """(m, k) times (k, n)."""

    m: int
    n: int
    k: int


@dataclass(frozen=True)
class Attention:
    """Scaled dot-product attention of `batch` samples.

    Attributes
    ----------
    queries, keys : int
        Sequence lengths.
    heads, kv_heads, width : int
        Heads of the queries and of the keys, size of a head.
    causal : bool
        Whether the operator itself masks the future; an explicit mask is not looked into.
    backward : bool
        Whether it is the gradient of that attention.
    """

    batch: int
    queries: int
    keys: int
    heads: int
    kv_heads: int
    width: int
    causal: bool
    backward: bool = False


@dataclass(frozen=True)
class Work:
    """What a signature computes.

    Attributes
    ----------
    gemms : tuple of Gemm
        Matrix products that it consists of.
    exactly : bool
        Whether it is one matrix product and nothing else (a bias apart).
    attention : Attention or None
        The attention that it is.
    moved_bytes : float
        Bytes read and written in bf16.
    refused : str
        Why it has no time here, empty where it has.
    """

    gemms: tuple[Gemm, ...] = ()
    exactly: bool = True
    attention: Attention | None = None
    moved_bytes: float = 0.0
    refused: str = ""


def work_of(signature: Signature) -> Work:
    """Say what a signature computes.

    A convolution whose windows tile its input (stride = window, no padding, one group; the patch
    embedding of a vision transformer) is a matrix product on rearranged data. Every other
    convolution is refused: there are no tables of convolutions.
    """
    name = _name(signature)
    moved = bf16_bytes(signature)
    tensors = [_shape(each) for each in signature.args]
    if name in ("linear", "mm", "matmul", "bmm", "addmm", "baddbmm"):
        return Work(_products(name, tensors), moved_bytes=moved)
    if name == "lstm_cell":
        return Work(_cell(signature), exactly=False, moved_bytes=moved)
    if name in WHOLE_LAYERS:
        return Work(refused=f"{signature.op}: there are no tables of whole recurrent layers")
    if "conv" in name and "convert" not in name:
        gemms = _patches(name, signature, tensors)
        if not gemms:
            return Work(refused=f"{signature.op}: there are no tables of convolutions")
        return Work(gemms, exactly=False, moved_bytes=moved)
    attention = None
    if name in ATTENTION:
        attention = _attention(name, signature, tensors)
    return Work(attention=attention, moved_bytes=moved)


def bf16_bytes(signature: Signature) -> float:
    """Bytes that a signature reads and writes when its fp32 tensors are bf16.

    What it reads beyond its tensors of other types counts as floats; what it writes counts as
    floats unless the operator or its `dtype` argument says otherwise.
    """
    others, floats = _storage([signature.args, signature.kwargs])
    read = signature.bytes_read
    share = floats / (floats + others) if floats + others else 1.0
    if _name(signature) == "embedding":  # reads few rows of its table, all of its indices
        share = max(0.0, 1 - others / read) if read else 1.0
    written = signature.bytes_written / (2 if writes_floats(signature) else 1)
    return read * (1 - share / 2) + written


def writes_floats(signature: Signature) -> bool:
    """Whether a signature writes fp32, as far as its arguments tell."""
    asked = [signature.kwargs.get("dtype"), *signature.args]
    named = [each["dtype"] for each in asked if isinstance(each, dict) and "dtype" in each]
    if named:
        return bool(named[0] == "float32")
    return _storage([signature.args, signature.kwargs])[1] > 0 and (
        _name(signature) not in WITHOUT_FLOATS
    )


def _name(signature: Signature) -> str:
    return signature.op.split(".")[1] if "." in signature.op else signature.op


def _storage(value: Any) -> tuple[float, float]:
    """Bytes of the tensors inside `value`: of other types, of fp32."""
    if isinstance(value, list):
        pairs = [_storage(each) for each in value]
    elif isinstance(value, dict) and "tensor" in value:
        shape, stride, dtype = value["tensor"]
        held = math.prod(n for n, s in zip(shape, stride, strict=True) if s != 0)
        if dtype == "float32":
            return 0.0, 4.0 * held
        return float(held * {"int64": 8, "float64": 8, "int32": 4}.get(dtype, 1)), 0.0
    elif isinstance(value, dict):
        pairs = [_storage(each) for each in value.values()]
    else:
        return 0.0, 0.0
    return sum(a for a, _ in pairs), sum(b for _, b in pairs)


def _shape(value: Any) -> list[int] | None:
    return list(value["tensor"][0]) if isinstance(value, dict) and "tensor" in value else None


def _products(name: str, tensors: list[list[int] | None]) -> tuple[Gemm, ...]:
    """Turn a product operator into a GEMM; none where it is a batch of several."""
    operands = [shape for shape in tensors if shape is not None]
    a, b = operands[1:3] if name in ("addmm", "baddbmm") else operands[:2]
    if name == "linear":
        return (Gemm(math.prod(a[:-1]), b[0] if len(b) > 1 else 1, a[-1]),)
    k, n = (b[0], 1) if len(b) == 1 else (b[-2], b[-1])
    if math.prod(b[:-2]) != 1:  # every sample has a right-hand side of its own
        return ()
    return (Gemm(math.prod(a[:-1]), n, k),)


def _cell(signature: Signature) -> tuple[Gemm, ...]:
    """Two products: input and state, each by a matrix of four gates."""
    x, _, from_input, from_state = signature.args[:4]
    batch = math.prod(x["tensor"][0][:-1])
    return tuple(Gemm(batch, *each["tensor"][0]) for each in (from_input, from_state))


def _patches(name: str, signature: Signature, tensors: list[list[int] | None]) -> tuple[Gemm, ...]:
    backward = name == "convolution_backward"
    x, w = tensors[1:3] if backward else tensors[:2]
    assert x is not None
    assert w is not None
    given = signature.args[4 if backward else 3 :]
    dims = len(w) - 2
    rest = {"stride": 1, "padding": 0, "dilation": 1}
    rest.update(zip(rest, given, strict=False))
    rest.update({key: value for key, value in signature.kwargs.items() if key in rest})
    # The general forms have transposed, output padding and groups after the dilation.
    whole = name in ("convolution", "convolution_backward")
    place = 5 if whole else 3
    groups = given[place] if len(given) > place else signature.kwargs.get("groups", 1)
    tiles = (
        _each(rest["stride"], dims) == w[2:]
        and _each(rest["padding"], dims) == [0] * dims
        and _each(rest["dilation"], dims) == [1] * dims
        and groups == 1
        and not (whole and given[3])
        and len(x) == len(w)
    )
    if not tiles or not (whole or name in ("conv1d", "conv2d", "conv3d")):
        return ()
    window = math.prod(w[1:])
    places = x[0] * math.prod(n // size for n, size in zip(x[2:], w[2:], strict=True))
    if not backward:
        return (Gemm(places, w[0], window),)
    wanted = given[-1]
    gemms = [Gemm(places, window, w[0])] * bool(wanted[0])  # of the input
    return (*gemms, *[Gemm(w[0], window, places)] * bool(wanted[1]))  # of the weights


def _each(value: Any, dims: int) -> list[Any]:
    values = list(value) if isinstance(value, list) else [value]
    return values * dims if len(values) == 1 else values


def _attention(
    name: str, signature: Signature, tensors: list[list[int] | None]
) -> Attention | None:
    first, place = ATTENTION[name]
    q, k, v = tensors[first : first + 3]
    if q is None or k is None or v is None or not len(q) == len(k) == 4 or q[3] != v[3]:
        return None
    given = signature.args[place] if len(signature.args) > place else False
    return Attention(
        batch=q[0],
        queries=q[2],
        keys=k[2],
        heads=q[1],
        kv_heads=k[1],
        width=q[3],
        causal=signature.kwargs.get("is_causal", given) is True,
        backward=name.endswith("_backward"),
    )
