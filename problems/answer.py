"""Answers: what a method returns and what files carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import msgspec
import numpy as np

from problems import notebook
from problems.files import FileError, encode


@dataclass(frozen=True, eq=False)
class Answer:
    """A placement.

    Attributes
    ----------
    device : int64 array, shape (n,)
        Device of every node.
    order : tuple of int64 arrays, one a device, or None
        `latency` only: the nodes of every device in the order in which it runs them. None: the
        mapping is completed by :func:`problems.latency.dispatch`.
    start : float64 array, shape (n,), or None
        Claimed start times in seconds; checked, never believed.
    slot : int64 array, shape (n,), or None
        `calls` only: the subgraph call of its accelerator in which a node runs, 0, 1, ... in the
        order in which the accelerator makes them; -1 for nodes on a host.
    send, receive : tuples of int64 arrays, one a device, or None
        `latency` with ``contention: ports`` only: the transfers that leave and reach a device in
        the order in which its port serves them. A transfer is ``producer * K + destination``.
        None: first come, first served (see :mod:`problems.latency`).
    others : tuple of int64 arrays of shape (n,), or None
        `throughput` with ``replicate: mixture`` only: the mappings besides `device`.
    rates : float64 array, shape (1 + mappings in `others`,), or None
        The samples a second that go by `device` and by each of `others`. None: all go by
        `device`, as many as it takes.
    """

    device: np.ndarray
    order: tuple[np.ndarray, ...] | None = None
    start: np.ndarray | None = None
    slot: np.ndarray | None = None
    send: tuple[np.ndarray, ...] | None = None
    receive: tuple[np.ndarray, ...] | None = None
    others: tuple[np.ndarray, ...] | None = None
    rates: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"<Answer: {self._summary()}>"

    def _summary(self) -> str:
        parts = [f"{np.size(self.device)} nodes"]
        if self.rates is not None:
            parts.append(f"{1 + len(self.others or ())} mappings with rates")
        given = ("order", "start", "slot", "send", "receive")
        return ", ".join(parts + [name for name in given if getattr(self, name) is not None])

    def _repr_html_(self) -> str:
        """What a notebook shows: nodes on each device; of a mixture those of every mapping."""
        mappings = [np.asarray(each) for each in (self.device, *(self.others or ()))]
        used = sorted({int(k) for each in mappings for k in each})
        rows: list[list[object]] = [[int((each == k).sum()) for k in used] for each in mappings]
        heads = [f"device {k}" for k in used]
        if self.rates is not None:
            rows = [[f"{r:.4g}", *row] for r, row in zip(self.rates, rows, strict=False)]
            heads = ["samples a second", *heads]
        told = notebook.facts("Answer", [("has", self._summary())])
        return told + "<p>Nodes on each device:</p>" + notebook.table(heads, rows)

    @staticmethod
    def of(
        device: Sequence[int] | np.ndarray,
        order: Sequence[Sequence[int] | np.ndarray] | None = None,
        start: Sequence[float] | np.ndarray | None = None,
        slot: Sequence[int] | np.ndarray | None = None,
        send: Sequence[Sequence[int] | np.ndarray] | None = None,
        receive: Sequence[Sequence[int] | np.ndarray] | None = None,
        others: Sequence[Sequence[int] | np.ndarray] | None = None,
        rates: Sequence[float] | np.ndarray | None = None,
    ) -> Answer:
        """Build an answer from any sequences (copied)."""
        return Answer(
            np.array(device, np.int64),
            _sequences(order),
            None if start is None else np.array(start, float),
            None if slot is None else np.array(slot, np.int64),
            _sequences(send),
            _sequences(receive),
            _sequences(others),
            None if rates is None else np.array(rates, float),
        )


def _sequences(
    each: Sequence[Sequence[int] | np.ndarray] | None,
) -> tuple[np.ndarray, ...] | None:
    return None if each is None else tuple(np.array(one, np.int64) for one in each)


class AnswerFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A serialized answer; `instance` is the digest of the instance that it answers."""

    format: Literal["placebench-answer/1"]
    instance: str
    device: list[int]
    order: list[list[int]] | None = None
    start: list[float] | None = None
    slot: list[int] | None = None
    send: list[list[int]] | None = None
    receive: list[list[int]] | None = None
    others: list[list[int]] | None = None
    rates: list[float] | None = None


def to_file(answer: Answer, instance_digest: str) -> AnswerFile:
    """Serialize an answer.

    Raises
    ------
    FileError
        If the answer has no serial form: wrong types or dimensions, numbers that are not finite.
    """
    plain: dict[str, Any] = {
        "format": "placebench-answer/1",
        "instance": instance_digest,
        "device": _plain(answer.device),
    }
    for name in ("order", "send", "receive", "others"):
        each = getattr(answer, name)
        plain[name] = None if each is None else [_plain(one) for one in each]
    for name in ("start", "slot", "rates"):
        values = getattr(answer, name)
        plain[name] = None if values is None else _plain(values)
    try:
        file = msgspec.convert(plain, AnswerFile)
        encode(file)
    except (ValueError, OverflowError) as error:  # includes msgspec.ValidationError
        raise FileError(f"answer: {error}") from None
    return file


def _plain(values: Any) -> Any:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def from_file(file: AnswerFile) -> Answer:
    """The answer in a file; whether it fits an instance is for the checker to say.

    Raises
    ------
    FileError
        If a number does not fit 64 bits.
    """
    try:
        return Answer.of(
            file.device, file.order, file.start, file.slot, file.send, file.receive, file.others,
            file.rates,
        )  # fmt: skip
    except OverflowError as error:
        raise FileError(f"answer: {error}") from None


def digest(file: AnswerFile) -> str:
    """SHA-256 of the canonical form: the address of a stored answer."""
    return sha256(encode(file)).hexdigest()
