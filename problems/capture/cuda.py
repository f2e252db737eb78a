"""What ``cuda:...`` names: a card, a share of its multiprocessors, a precision.

Standard library only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

PRECISIONS = ("fp32", "tf32", "bf16")
FORM = "cuda:[gpuN:][Nsm:]{fp32,tf32,bf16}, such as cuda:fp32 or cuda:32sm:bf16"

METHOD = (
    "every signature replayed on random tensors, in rounds over all of them in random order; "
    "between two CUDA events, behind an L2 flush that keeps the card busy until the host has "
    "dispatched; min, median and max over all rounds, first two calls left out"
)


@dataclass(frozen=True)
class CudaSpec:
    """A CUDA device as the suite names it.

    Attributes
    ----------
    precision : {'fp32', 'tf32', 'bf16'}
        `tf32` lets products of float32 round their factors; `bf16` makes every float32 tensor a
        bfloat16 one.
    multiprocessors : int or None
        Share of the card, by a green context; None: the whole card. Bandwidth is not shared out.
    card : int
        Index of the card.
    """

    precision: str
    multiprocessors: int | None = None
    card: int = 0

    def __str__(self) -> str:
        parts = ["cuda"]
        if self.card:
            parts.append(f"gpu{self.card}")
        if self.multiprocessors is not None:
            parts.append(f"{self.multiprocessors}sm")
        return ":".join([*parts, self.precision])


def parse(text: str) -> CudaSpec:
    """Read a device such as ``cuda:fp32``, ``cuda:32sm:fp32`` or ``cuda:gpu1:bf16``.

    Raises
    ------
    ValueError
        If it is none.
    """
    found = re.fullmatch(
        rf"cuda(?::gpu(\d+))?(?::([1-9]\d*)sm)?:({'|'.join(PRECISIONS)})", text, re.ASCII
    )
    if found is None:
        raise ValueError(f"no CUDA device {text!r}; the form is {FORM}")
    return CudaSpec(found[3], int(found[2]) if found[2] else None, int(found[1] or 0))


def recast(value: Any, precision: str) -> Any:
    """Arguments of a signature in a precision: `bf16` has bfloat16 wherever float32 stood.

    Also where an operator is told its result's type: the network would run in bfloat16 as a whole.
    """
    if precision != "bf16":
        return value
    if isinstance(value, list):
        return [recast(item, precision) for item in value]
    if isinstance(value, dict):
        if "tensor" in value:
            shape, stride, dtype = value["tensor"]
            return {"tensor": [shape, stride, "bfloat16" if dtype == "float32" else dtype]}
        if value == {"dtype": "float32"}:
            return {"dtype": "bfloat16"}
        return {key: recast(item, precision) for key, item in value.items()}
    return value
