"""What is believable in an instance: names, seconds, bytes."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

import msgspec

from problems.files import FileError, encode

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
        raise FileError(f"{what} needs a name on one line, not {shown(name)}")
    return name


def shown(value: object) -> str:
    """What was given, on one line and not too long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def check_types(call: Any, given: Mapping[str, Any], where: str) -> None:
    """Hold arguments against the annotations of the function that got them.

    Left to :func:`seconds`, :func:`whole_bytes` and :func:`name_of` is what these refuse with
    better words: numbers, and what is named ``name``.

    Raises
    ------
    FileError
        On an argument of another type; the message names it and, of a choice, what there is.
    """
    hints = _hints(call)
    for key, value in given.items():
        hint = hints[key]
        try:
            msgspec.convert(value, hint)
        except msgspec.ValidationError as error:
            parts = [each for part in (hint, *get_args(hint)) for each in get_args(part)]
            choices = [each for each in parts if isinstance(each, str)]
            wanted = str(error).partition(", got")[0].removeprefix("Expected ")
            wanted = " or ".join(choices) or wanted
            raise FileError(f"{where}: {key} is {wanted}, not {shown(value)}") from None


_hints = functools.cache(get_type_hints)


def plain_mapping(value: object, where: str) -> dict[str, Any]:
    """A copy of a mapping that JSON can hold; None is an empty one.

    Raises
    ------
    FileError
        If it is no mapping from text, or holds NaN, infinity or what JSON has no word for.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise FileError(f"{where}: names and what they stand for are needed, not {shown(value)}")
    try:
        encode(dict(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise FileError(f"{where}: no content for a JSON file: {error}") from None
    return dict(value)


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
    value = number(time, where, "a time is a number of seconds")
    if math.isnan(value) or value < 0:
        raise FileError(f"{where}: a time of {value} s")
    if value >= FORBIDDING_S:
        raise FileError(f"{where}: a time of {value:g} s; say None where it cannot run")
    return value + 0.0  # no negative zero


def number(value: Any, where: str, what: str) -> float:
    """A number of any numeric type as a float; text and flags are none.

    Raises
    ------
    FileError
        If it is none; `what` says what is needed.
    """
    try:
        if isinstance(value, str | bytes | bytearray | bool):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise FileError(f"{where}: {what}, not {shown(value)}") from None


def whole_bytes(size: int, where: str) -> int:
    """A number of bytes as it is.

    Raises
    ------
    FileError
        If it is not whole, negative, or beyond 2**53.
    """
    if isinstance(size, bool) or not isinstance(size, int):
        raise FileError(f"{where}: a whole number of bytes is needed, not {shown(size)}")
    if not 0 <= size <= MOST_BYTES:
        raise FileError(f"{where}: {size} bytes, not in 0..2**53")
    return size
