"""What every importer does first: bytes to text, text to typed JSON, numbers within reason."""

from __future__ import annotations

import decimal
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from problems.files import FileError, unpacked
from problems.instance import Bundle
from problems.plausible import FORBIDDING_S, MOST_BYTES

T = TypeVar("T")
_WIDE = decimal.Context(prec=1_000)  # shifts a decimal point without rounding any sane number
_DIGITS = 400


@dataclass(frozen=True)
class Imported:
    """What an importer returns.

    Attributes
    ----------
    notes : list of str
        What was dropped, assumed, or looks wrong: one line each, for stderr.
    """

    bundle: Bundle
    notes: list[str] = field(default_factory=list)


def load(path: Path) -> bytes:
    """The content of a file, unpacked where its name ends in ``.gz``.

    Raises
    ------
    FileError
        If it cannot be read.
    """
    try:
        data = path.read_bytes()
        return unpacked(data) if path.name.endswith(".gz") else data
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise FileError(f"{path}: cannot be read: {why}") from None


def text(data: bytes, where: str) -> str:
    """UTF-8 text with plain newlines; a byte order mark is dropped.

    Raises
    ------
    FileError
        If it is not UTF-8, or has NUL bytes.
    """
    try:
        result = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{where}: not UTF-8 text: byte {error.start}") from None
    if "\0" in result:
        line = result.count("\n", 0, result.index("\0")) + 1
        raise FileError(f"{where}: a NUL byte in line {line}: not a text file")
    return result.replace("\r\n", "\n").replace("\r", "\n")


def typed_json(data: bytes, kind: type[T], where: str) -> T:
    """Decode JSON into `kind`, more strictly than usual; numbers keep all their digits.

    Raises
    ------
    FileError
        If it is not JSON, has NaN or infinity, a key twice in one object, or does not fit `kind`.
    """

    def refuse(token: str) -> NoReturn:
        raise FileError(f"{where}: {token} is no number of JSON")

    def real(token: str) -> Decimal:
        value = float(token)
        if math.isinf(value):
            raise FileError(f"{where}: the number {short(token)} is too large")
        # The exponent of a tiny one may be astronomic.
        return Decimal(token) if value else Decimal(0)

    def whole(token: str) -> int:
        if len(token) > _DIGITS:
            raise FileError(f"{where}: the number {short(token)} is too large")
        return int(token)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in pairs:
            if key in result:
                named = f" (id {short(result['id'])})" if "id" in result else ""
                raise FileError(f"{where}: key {short(key)!r} twice in one object{named}")
            result[key] = value
        return result

    try:
        plain = json.loads(
            text(data, where),
            parse_constant=refuse,
            parse_float=real,
            parse_int=whole,
            object_pairs_hook=once,
        )
        result = msgspec.convert(plain, kind)
    except RecursionError:
        raise FileError(f"{where}: nested too deeply") from None
    except FileError:
        raise
    except (ValueError, decimal.InvalidOperation) as wrong:
        raise FileError(f"{where}: {short(str(wrong), 300)}") from None
    _refuse_unbounded(result, where)
    return result


def _refuse_unbounded(result: Any, where: str) -> None:
    """Refuse NaN and infinity where a string said them: JSON has no such numbers.

    Not recursive: fields of any type may be nested as deep as the parser goes.
    """
    left: list[tuple[Any, Any]] = [(result, None)]  # a value, and the way to it
    while left:
        value, way = left.pop()
        if isinstance(value, Decimal) and not value.is_finite():
            at = ""
            while way is not None:
                way, step = way
                at = (f"[{step}]" if isinstance(step, int) else f".{step}") + at
            raise error(where, f"{value} is not a number", f"${short(at, 80)}")
        if isinstance(value, msgspec.Struct):
            inside: Any = ((key, getattr(value, key)) for key in value.__struct_fields__)
        elif isinstance(value, dict):
            inside = value.items()
        elif isinstance(value, list):
            inside = enumerate(value)
        else:
            continue
        left += [(each, (way, key)) for key, each in inside]


def unknown_keys(data: bytes, known: Mapping[str, type[msgspec.Struct]]) -> list[str]:
    """Notes on fields that nobody reads: a misspelt one would otherwise go unseen.

    `known` maps ``""`` (the file itself) and the names of its lists to what is read of them.
    """
    plain = json.loads(text(data, ""))
    notes = []
    for name, kind in known.items():
        objects = plain.get(name, []) if name else [plain]
        keys = {key for each in objects for key in each} - set(_fields(kind))
        if keys:
            place = f"`{name}[].`" if name else "the file"
            shown = ", ".join(short(key) for key in sorted(keys)[:6])
            notes.append(f"not used in {place}: {shown}")
    return notes


def _fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    return kind.__struct_encode_fields__


@contextmanager
def located(where: str, *others: str) -> Iterator[None]:
    """Put the file before errors of the builder and of the rules, which name the part only.

    Errors that begin with `where`, or with another of the files read, stay as they are.
    """
    try:
        yield
    except FileError as wrong:
        if str(wrong).startswith(tuple(f"{each}: " for each in (where, *others))):
            raise
        raise FileError(f"{where}: {wrong}") from None


def error(where: str, what: str, at: str) -> FileError:
    """An error with its place: ``FILE: what is wrong - at `$.nodes[3].size```."""
    return FileError(f"{where}: {what} - at `{at}`")


def seconds(
    value: Decimal | int,
    where: str,
    at: str,
    *,
    milli: bool = False,
    hint: str = "say null where an operator cannot run",
) -> float:
    """A time in seconds, from seconds or milliseconds, rounded once.

    Raises
    ------
    FileError
        If it is negative, not finite, or so large that it must stand for "cannot run".
    """
    unit = "ms" if milli else "s"
    value = _sane(value, where, at)
    result = float(_WIDE.scaleb(value, -3) if milli else value)
    if result < 0:
        raise error(where, f"a time of {short(value)} {unit}", at)
    if result >= FORBIDDING_S:
        raise error(where, f"a time of {short(value)} {unit}; {hint}", at)
    return result + 0.0  # no negative zero


def number(token: str, where: str, at: str) -> Decimal:
    """The number that some text says, with all its digits.

    Raises
    ------
    FileError
        If it says none.
    """
    try:
        if not token.strip().isascii() or "_" in token:
            raise ValueError
        value = Decimal(token.strip())
        if not value.is_finite():
            raise ValueError
        return value
    except (ValueError, decimal.InvalidOperation):
        raise error(where, f"{short(token)!r} is not a number", at) from None


def whole_bytes(value: Decimal | int, where: str, at: str) -> int:
    """A number of bytes; a fraction counts as one byte more.

    Raises
    ------
    FileError
        If it is negative, not finite, or beyond 2**53.
    """
    value = _sane(value, where, at)
    if not 0 <= value <= MOST_BYTES:
        raise error(where, f"{short(value)} bytes, not in 0..2**53", at)
    return int(value.to_integral_value(decimal.ROUND_CEILING))


def short(value: object, most: int = 40) -> str:
    """Text of a value that may come from anywhere: on one line, not too long."""
    plain = "".join(c if c.isprintable() else "?" for c in str(value))
    return plain if len(plain) <= most else plain[: most - 3] + "..."


def _sane(value: Decimal | int, where: str, at: str) -> Decimal:
    """Refuse NaN and what only strings can hold; lose what is too small to matter."""
    if isinstance(value, Decimal) and not value.is_finite():
        raise error(where, f"{value} is not a number", at)
    value = Decimal(value)
    if value.adjusted() > _DIGITS:
        raise error(where, f"the number {short(value)} is too large", at)
    return value if value and value.adjusted() > -_DIGITS else Decimal(0)
