"""Times and sizes as people write them."""

from __future__ import annotations

import math
import re

from bench.cli import UsageError

TIMES = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "": 1.0}
SIZES = {
    "": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9,
    "KIB": 2**10, "MIB": 2**20, "GIB": 2**30,
}  # fmt: skip
_QUANTITY = re.compile(r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*([A-Za-z]*)\s*", re.IGNORECASE)


def seconds(text: str) -> float:
    """Read ``500ms``, ``10s``, ``2m``, ``1h``; a bare number is in seconds.

    Raises
    ------
    UsageError
        If it is none of these, or not above 0.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2].lower() not in TIMES:
        raise UsageError(f"time {text!r} is not like 500ms, 10s, 2m or 1h")
    # Exactly what the digits say: 0.1 h must not differ from 6 m in its last bit.
    value = float(f"{float(match[1]) * TIMES[match[2].lower()]:.12g}")
    if not (math.isfinite(value) and value > 0):
        raise UsageError(f"time {text!r} must be above 0")
    return value


def size(text: str) -> int:
    """Read ``4GB``, ``512MiB``; a bare number is in bytes.

    Raises
    ------
    UsageError
        If it is none of these, or not above 0.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2].upper() not in SIZES:
        raise UsageError(f"size {text!r} is not like 4GB or 512MiB")
    value = float(match[1]) * SIZES[match[2].upper()]
    if not (math.isfinite(value) and value >= 1):
        raise UsageError(f"size {text!r} must be at least 1 byte")
    return int(value)
