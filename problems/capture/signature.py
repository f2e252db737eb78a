"""Signatures: what an operator executes, as plain JSON that can be replayed anywhere.

Every value that JSON does not know is an object with one key that names its type:

* ``{"tensor": [shape, stride, dtype]}``, shape and stride in elements,
* ``{"dtype": "float32"}``, ``{"layout": "strided"}``, ``{"memory_format": "contiguous_format"}``,
* ``{"device": ""}``, the device under test, whichever it is,
* ``{"float": "inf"}`` for what JSON has no number for.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from typing import Any

import torch

Make = Callable[[tuple[int, ...], tuple[int, ...], torch.dtype], torch.Tensor]


def encode(value: Any) -> Any:
    """Describe one argument as plain JSON; see the module docstring for the form.

    Raises
    ------
    TypeError
        If the value cannot be described (a symbolic size, a generator, ...).
    """
    if value is None or isinstance(value, bool | str) or type(value) is int:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, torch.Tensor):
        return {"tensor": [list(value.shape), list(value.stride()), _short(value.dtype)]}
    if isinstance(value, torch.dtype):
        return {"dtype": _short(value)}
    if isinstance(value, torch.layout):
        return {"layout": _short(value)}
    if isinstance(value, torch.memory_format):
        return {"memory_format": _short(value)}
    if isinstance(value, torch.device):
        return {"device": ""}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    raise TypeError(f"an argument of type {type(value).__name__} cannot be replayed: {value!r}")


def decode(value: Any, make: Make, device: str) -> Any:
    """Rebuild one argument; `make(shape, stride, dtype)` supplies the tensors.

    Raises
    ------
    ValueError
        If the description is not one that :func:`encode` writes.
    """
    if isinstance(value, list):
        return [decode(item, make, device) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise ValueError(f"an argument has one key that names its type, not {sorted(value)}")
    ((kind, data),) = value.items()
    if kind == "tensor":
        shape, stride, dtype = data
        return make(tuple(shape), tuple(stride), getattr(torch, dtype))
    if kind == "device":
        return torch.device(device)
    if kind == "float":
        return float(data)
    if kind in ("dtype", "layout", "memory_format"):
        return getattr(torch, data)
    raise ValueError(f"unknown argument type {kind!r}")


def digest(op: str, args: list[Any], kwargs: dict[str, Any]) -> str:
    """Name a signature by its content: 16 hexadecimal digits of the SHA-256 of canonical JSON."""
    content = json.dumps([op, args, kwargs], separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def extent(shape: tuple[int, ...], stride: tuple[int, ...]) -> int:
    """Elements of storage that a tensor spans from its first to its last element."""
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))


def distinct_bytes(tensor: torch.Tensor) -> int:
    """Bytes of memory behind a tensor: an expanded dimension (stride 0) is held once."""
    shape, stride = tuple(tensor.shape), tuple(tensor.stride())
    return min(int(tensor.numel()), extent(shape, stride)) * int(tensor.element_size())


def resolve(op: str) -> Callable[..., Any]:
    """Find the operator of a name such as ``aten.conv2d.default``.

    Raises
    ------
    ValueError
        If this version of torch does not have it.
    """
    target: Any = torch.ops
    for part in op.split("."):
        target = getattr(target, part, None)
        if target is None:
            raise ValueError(f"this torch ({torch.__version__}) has no operator {op!r}")
    found: Callable[..., Any] = target
    return found


def _short(value: object) -> str:
    return str(value).removeprefix("torch.")
