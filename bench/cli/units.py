"""Times and sizes as people write them."""

from __future__ import annotations

import re

from bench.cli import UsageError

TIMES = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "": 1.0}
SIZES = {
    "": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9,
    "KIB": 2**10, "MIB": 2**20, "GIB": 2**30,
}  # fmt: skip
LONGEST_S = 3.6e6  # a thousand hours: what nobody means, and what no clock overflows at
LARGEST = 2**60  # likewise, in bytes
_QUANTITY = re.compile(r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*([A-Za-z]*)\s*", re.IGNORECASE)


def seconds(text: str) -> float:
    """Read ``500ms``, ``10s``, ``2m``, ``1h``; a bare number is in seconds.

    Raises
    ------
    UsageError
        If it is none of these, not above 0, or too long.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2].lower() not in TIMES:
        raise UsageError(f"time {text!r} is not like 500ms, 10s, 2m or 1h")
    # Exactly what the digits say: 0.1 h must not differ from 6 m in its last bit.
    value = float(f"{float(match[1]) * TIMES[match[2].lower()]:.12g}")
    if not value > 0:
        raise UsageError(f"time {text!r} must be above 0")
    if value > LONGEST_S:
        raise UsageError(f"time {text!r} is too long: at most {LONGEST_S / 3600:g} h")
    return value


def size(text: str) -> int:
    """Read ``4GB``, ``512MiB``; a bare number is in bytes.

    Raises
    ------
    UsageError
        If it is none of these, less than a byte, or too large.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2].upper() not in SIZES:
        raise UsageError(f"size {text!r} is not like 4GB or 512MiB")
    value = float(match[1]) * SIZES[match[2].upper()]
    if not value >= 1:
        raise UsageError(f"size {text!r} must be at least 1 byte")
    if value > LARGEST:
        raise UsageError(f"size {text!r} is too large: at most {LARGEST / 2**50:g} PiB")
    return int(value)
