"""The wire between the supervisor and the process of a run.

A frame is a 4-byte little-endian length, one byte of kind, and a msgpack body. Nothing that comes
up the wire is trusted: bodies are typed, lengths are bounded, and what does not fit is counted.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from problems.answer import Answer
from solvers.method import Claim

_HEADER = struct.Struct("<IB")
TEXT_LIMIT = 16 * 1024


class Task(msgspec.Struct, frozen=True):
    """Down, first: what to run. `instance` and `tiny` are descriptors (:mod:`bench.transport`).

    With `verify` the run fails where the method has changed the arrays of the instance.
    """

    instance: int
    digest: str
    tiny: int
    tiny_digest: str
    method: str
    options: dict[str, Any]
    file: str | None
    source: str
    seed: int
    threads: int
    memory_limit_bytes: int | None
    hash_seed: int = 0
    verify: bool = False


class Go(msgspec.Struct, frozen=True):
    """Down, second: the clock runs; `deadline` is on the scale of :func:`time.monotonic`."""

    deadline: float


class Ready(msgspec.Struct, frozen=True):
    """Up: loaded and warm; seconds of the warm-up, and CPU seconds used so far."""

    warm_s: float
    cpu_s: float


class AnswerFrame(msgspec.Struct, frozen=True):
    """Up: an answer as little-endian arrays, or why it is none (`bad`)."""

    device: bytes = b""
    order: list[bytes] | None = None
    start: bytes | None = None
    slot: bytes | None = None
    send: list[bytes] | None = None
    receive: list[bytes] | None = None
    bad: str = ""
    others: list[bytes] | None = None
    rates: bytes | None = None


class BoundFrame(msgspec.Struct, frozen=True):
    """Up: a bound in seconds."""

    value: float


class ClaimFrame(msgspec.Struct, frozen=True):
    """Up: what the method says of its result."""

    claim: Claim
    objective: float | None
    note: str


class Done(msgspec.Struct, frozen=True):
    """Up: the method returned. `peak_bytes` is the process's largest resident memory."""

    peak_bytes: int


class Failed(msgspec.Struct, frozen=True):
    """Up: loading or running raised."""

    error: str
    memory: bool = False


class Built(msgspec.Struct, frozen=True):
    """Up: the model is built and its solver starts."""


Frame = Task | Go | Ready | AnswerFrame | BoundFrame | ClaimFrame | Done | Failed | Built
_KINDS: tuple[type[Frame], ...] = (
    Task, Go, Ready, AnswerFrame, BoundFrame, ClaimFrame, Done, Failed, Built,
)  # fmt: skip
ANSWER = _KINDS.index(AnswerFrame)


def pack(frame: Frame) -> bytes:
    """Frame -> bytes on the wire."""
    body = msgspec.msgpack.encode(frame)
    return _HEADER.pack(len(body), _KINDS.index(type(frame))) + body


def unpack(kind: int, body: bytes) -> Frame:
    """Body of a frame -> frame.

    Raises
    ------
    ValueError
        If it is none.
    """
    if kind >= len(_KINDS):
        raise ValueError(f"no kind of frame is {kind}")
    return msgspec.msgpack.decode(body, type=_KINDS[kind])


def clean(text: str, limit: int) -> str:
    """The last `limit` characters, without what cannot be encoded."""
    return text[-limit:].encode(errors="replace").decode()


def size_limit(n: int) -> int:
    """Bytes that the body of a frame may have for an instance of n nodes.

    Three times what a full answer needs, and room for a traceback.
    """
    return 64 * 1024 + 72 * n


class Parser:
    """Bytes as they come -> (kind, body); bodies over `limit` bytes are skipped and counted."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.oversized = 0
        self._buffer = bytearray()
        self._skip = 0

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the frames that `data` completes."""
        self._buffer += data
        position = 0
        while True:
            dropped = min(self._skip, len(self._buffer) - position)
            self._skip -= dropped
            position += dropped
            if self._skip or len(self._buffer) - position < _HEADER.size:
                break
            length, kind = _HEADER.unpack_from(self._buffer, position)
            if length > self.limit:
                self.oversized += 1
                self._skip = length + _HEADER.size
                continue
            end = position + _HEADER.size + length
            if end > len(self._buffer):
                break
            yield kind, bytes(self._buffer[position + _HEADER.size : end])
            position = end
        del self._buffer[:position]


def encode_answer(answer: object, limit: int) -> AnswerFrame:
    """Whatever a method handed over -> frame; `bad` says why it is no answer."""
    try:
        if not isinstance(answer, Answer):
            raise _NotAnAnswerError(f"a {type(answer).__name__} is not an Answer")
        frame = AnswerFrame(
            _integers("device", answer.device),
            _lists("order", answer.order),
            None if answer.start is None else _floats("start", answer.start),
            None if answer.slot is None else _integers("slot", answer.slot),
            _lists("send", answer.send),
            _lists("receive", answer.receive),
            others=None if answer.others is None else [_narrow(each) for each in answer.others],
            rates=None if answer.rates is None else _floats("rates", answer.rates),
        )
    except _NotAnAnswerError as error:
        return AnswerFrame(bad=str(error))
    except Exception as error:  # whatever conversion of a stranger's object may raise
        what = f"the answer cannot be read: {type(error).__name__}: {error}"
        return AnswerFrame(bad=clean(what, 500))
    several = (frame.order, frame.send, frame.receive, frame.others)
    lists = [each for part in several for each in part or []]
    single = (frame.device, frame.start, frame.slot, frame.rates)
    size = sum(len(each or b"") for each in [*lists, *single])
    if size + 1024 + 16 * len(lists) > limit:
        return AnswerFrame(bad=f"an answer of {size} bytes is too large for the instance")
    return frame


def decode_answer(frame: AnswerFrame) -> Answer:
    """Frame (not a bad one) -> answer.

    Raises
    ------
    ValueError
        If the bytes are no whole numbers of elements, or of no known width.
    """
    return Answer(
        np.frombuffer(frame.device, "<i8"),
        _arrays(frame.order),
        None if frame.start is None else np.frombuffer(frame.start, "<f8"),
        None if frame.slot is None else np.frombuffer(frame.slot, "<i8"),
        _arrays(frame.send),
        _arrays(frame.receive),
        None if frame.others is None else tuple(map(_wide, frame.others)),
        None if frame.rates is None else np.frombuffer(frame.rates, "<f8"),
    )


def _arrays(lists: list[bytes] | None) -> tuple[np.ndarray, ...] | None:
    return None if lists is None else tuple(np.frombuffer(each, "<i8") for each in lists)


def _narrow(values: object) -> bytes:
    """One byte a node where that does, since mixtures have many mappings; the width goes first."""
    whole = _integers("others", values)
    array = np.frombuffer(whole, "<i8")
    if ((array >= 0) & (array < 256)).all():
        return b"\x01" + array.astype("<u1").tobytes()
    return b"\x08" + whole


def _wide(data: bytes) -> np.ndarray:
    if data[:1] not in (b"\x01", b"\x08"):
        raise ValueError("a mapping in `others` has no known width")
    return np.frombuffer(data[1:], "<u1" if data[:1] == b"\x01" else "<i8").astype(np.int64)


class _NotAnAnswerError(ValueError):
    pass


def _lists(name: str, sequences: tuple[np.ndarray, ...] | None) -> list[bytes] | None:
    return None if sequences is None else [_integers(name, each) for each in sequences]


def _integers(name: str, values: object) -> bytes:
    array = _array(name, values)
    if array.size and array.dtype.kind not in "iu":
        raise _NotAnAnswerError(f"`{name}` holds {array.dtype}, not integers{_example(array)}")
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise _NotAnAnswerError(f"`{name}` holds a number over 64 bits")
    return array.astype("<i8").tobytes()


def _floats(name: str, values: object) -> bytes:
    array = _array(name, values)
    if array.size and array.dtype.kind not in "iuf":
        raise _NotAnAnswerError(f"`{name}` holds {array.dtype}, not numbers")
    return array.astype("<f8").tobytes()


def _array(name: str, values: object) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise _NotAnAnswerError(f"`{name}` has shape {array.shape}, not one dimension")
    return array


def _example(array: np.ndarray) -> str:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        worst = float(array[~np.isfinite(array)][0])
        return " (NaN among them)" if math.isnan(worst) else " (infinity among them)"
    return ""
