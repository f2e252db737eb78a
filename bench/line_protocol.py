"""What a program prints, line by line: answers, bounds and claims, each a JSON object."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Iterator
from typing import Literal

import msgspec

from bench.plain import one_line
from problems.answer import Answer
from problems.instance import Instance
from solvers.method import Claim, Context, Unsupported

_POLL_S = 0.05


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line; an answer as in answer files (`placement` is another word for `device`)."""

    format: Literal["placebench-answer/1"] | None = None
    instance: str | None = None
    device: list[int] | None = None
    placement: list[int] | None = None
    order: list[list[int]] | None = None
    start: list[float] | None = None
    slot: list[int] | None = None
    send: list[list[int]] | None = None
    receive: list[list[int]] | None = None
    others: list[list[int]] | None = None
    rates: list[float] | None = None
    bound: float | None = None
    claim: Claim | None = None
    objective: float | None = None
    note: str = ""
    unsupported: str | None = None


class Lines:
    """Bytes as they come -> lines; one of over `limit` bytes is cut, which makes it none."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the lines that `data` completes."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._add(end)
            yield bytes(self._rest)
            self._rest.clear()
            self._skipping = False
        self._add(rest)

    def last(self) -> Iterator[bytes]:
        """A line without an end, if there is one."""
        if self._rest:
            yield bytes(self._rest)

    def _add(self, data: bytes) -> None:
        if not self._skipping:
            self._rest += data
        if len(self._rest) > self._limit:
            del self._rest[self._limit :]
            self._skipping = True


class Relay:
    """Hands lines on to the harness, and counts them."""

    def __init__(self, instance: Instance, context: Context) -> None:
        self.instance, self.context = instance, context
        self.count = self.answers = self.strange = 0

    def __call__(self, line: bytes) -> None:
        """Take one line; what is not of the protocol goes to the log, with why and a count.

        Raises
        ------
        Unsupported
            If the program says that it cannot take the instance.
        """
        if not line.strip():
            return
        self.count += 1
        try:
            self._take(msgspec.json.decode(line, type=Line))
        except Unsupported:
            raise
        except (ValueError, OverflowError, RecursionError) as error:
            self.strange += 1
            text = one_line(line.decode(errors="replace"), 200)
            why = one_line(str(error), 100)
            print(
                f"[exec] line {self.count} is not of the protocol, {self.strange} so far"
                f" ({why}): {text}",
                flush=True,
            )

    def _take(self, said: Line) -> None:
        if said.unsupported is not None:
            raise Unsupported(said.unsupported)
        if said.instance not in (None, self.instance.digest):
            raise ValueError("the answer is for another instance")
        if said.device is not None and said.placement is not None:
            raise ValueError("`device` and `placement` are the same thing")
        device = said.placement if said.device is None else said.device
        parts = (
            said.order, said.start, said.slot, said.send, said.receive, said.others, said.rates,
        )  # fmt: skip
        if device is None:
            if any(part is not None for part in parts):
                raise ValueError("an answer needs `device`")
            if said.bound is None and said.claim is None:
                raise ValueError("neither an answer nor a bound nor a claim")
        else:
            self.context.report(Answer.of(device, *parts))
            self.answers += 1
        if said.bound is not None:
            self.context.report_bound(said.bound)
        if said.claim is not None:
            self.context.claim(said.claim, said.objective, said.note)


def relay(process: subprocess.Popen[bytes], instance: Instance, context: Context) -> int:
    """Hand on what a program prints until it ends; returns how many answers there were.

    Raises
    ------
    Unsupported
        If the program says so.
    """
    assert process.stdout is not None
    relayed = Relay(instance, context)
    # Several times what the longest answer takes: its numbers written out, with indentation.
    lines = Lines((1 << 16) + 400 * instance.n + 80 * instance.n * instance.K)
    descriptor = process.stdout.fileno()
    while True:
        if select.select([descriptor], [], [], _POLL_S)[0]:
            data = os.read(descriptor, 1 << 18)
            if not data:
                break
            for line in lines.feed(data):
                relayed(line)
        elif process.poll() is not None:
            break  # something that it started holds the pipe open
    for line in lines.last():
        relayed(line)
    return relayed.answers
