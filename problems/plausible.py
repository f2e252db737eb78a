"""What is believable in an instance: names, seconds, bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping

from problems.files import FileError

# No operator runs for a day. Numbers such as 9999999999 stand for "not on this device" in some
# data sets, and distort every sum that they enter.
FORBIDDING_S = 86_400.0
MOST_DEVICES = 1024
MOST_BYTES = 2**53


def name_of(name: str, what: str) -> str:
    """A name that fits on one line of a message.

    Raises
    ------
    FileError
        If it is empty, not printable or not text.
    """
    if not isinstance(name, str) or not name or not name.isprintable():
        raise FileError(f"{what} needs a name on one line, not {name!r}")
    return name


def unknown(what: str, name: str, valid: Mapping[str, object]) -> str:
    """What to say of a name that nothing has, with those that there are."""
    shown = ", ".join(map(str, list(valid)[:8])) + (", ..." if len(valid) > 8 else "")
    return f"no {what} {name!r}; there are {shown or 'none'}"


def seconds(time: float, where: str) -> float:
    """A time as a float.

    Raises
    ------
    FileError
        If it is no number, negative, NaN, or so large that it must stand for "cannot run".
    """
    try:
        value = float(time)
    except (TypeError, ValueError, OverflowError):
        raise FileError(f"{where}: a time is a number of seconds, not {time!r}") from None
    if math.isnan(value) or value < 0:
        raise FileError(f"{where}: a time of {value} s")
    if value >= FORBIDDING_S:
        raise FileError(f"{where}: a time of {value:g} s; say None where it cannot run")
    return value + 0.0  # no negative zero


def whole_bytes(size: int, where: str) -> int:
    """A number of bytes as it is.

    Raises
    ------
    FileError
        If it is not whole, negative, or beyond 2**53.
    """
    if isinstance(size, bool) or not isinstance(size, int):
        raise FileError(f"{where}: a whole number of bytes is needed, not {size!r}")
    if not 0 <= size <= MOST_BYTES:
        raise FileError(f"{where}: {size} bytes, not in 0..2**53")
    return size
