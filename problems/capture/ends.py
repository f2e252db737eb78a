"""The two ends of a measured link, and the process at the far one.

Both know the plan, so a transfer needs no more talk than a word before and a time after, on a
pipe of their own, off the clock. Clock values of the two processes compare: on Linux
``time.perf_counter`` counts from the start of the machine.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from typing import Any, Protocol

import numpy as np

HEADER = 128  # bytes before the payload: one counter a direction, each in its own cache line
SETTLE_S = 50e-6  # for the receiver to be back at its post
SPINS = 1 << 20  # looks at the counter, some 0.1 s, between looks for the other process


class End(Protocol):
    """One end of a link; the near one is 0, the far one 1."""

    def send(self, size: int) -> float:
        """Send `size` bytes; the moment before the first one leaves, in seconds."""

    def receive(self, size: int) -> float:
        """Receive `size` bytes; the moment after the last one has come, in seconds."""

    def close(self) -> None:
        """Let go of what the end holds."""


class SharedEnd:
    """A block of shared memory: copied in by the sender, out by the receiver, who spins.

    Stores become visible in program order on x86, which the counter after the payload rests on.
    `alive` says whether the process at the other end is still there; a receiver asks now and then.
    """

    def __init__(
        self, name: str, side: int, most: int, alive: Callable[[], bool] = lambda: True
    ) -> None:
        self.alive = alive
        self.memory = SharedMemory(name)
        self.counters = np.ndarray(HEADER // 8, np.int64, self.memory.buf)[:: HEADER // 16]
        self.payload = np.ndarray(most, np.uint8, self.memory.buf, HEADER)
        self.buffer = np.ones(most, np.uint8)
        self.side = side
        self.received = 0

    def send(self, size: int) -> float:
        """See :class:`End`."""
        start = time.perf_counter()
        self.payload[:size] = self.buffer[:size]
        self.counters[self.side] += 1
        return start

    def receive(self, size: int) -> float:
        """See :class:`End`."""
        self.received += 1
        while not self._arrived():
            if not self.alive():
                raise ConnectionError("the other end is gone")
        self.buffer[:size] = self.payload[:size]
        return time.perf_counter()

    def _arrived(self) -> bool:
        counters, other, due = self.counters, 1 - self.side, self.received
        for _ in range(SPINS):  # noqa: SIM110 - a generator is slower, and this is on the clock
            if counters[other] == due:
                return True
        return False

    def close(self) -> None:
        """See :class:`End`."""
        del self.counters, self.payload  # they hold the memory open
        self.memory.close()


class SocketEnd:
    """A TCP connection without delay, received into one buffer."""

    def __init__(self, connection: socket.socket, most: int) -> None:
        self.connection = connection
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = memoryview(bytearray(most))

    def send(self, size: int) -> float:
        """See :class:`End`."""
        start = time.perf_counter()
        self.connection.sendall(self.buffer[:size])
        return start

    def receive(self, size: int) -> float:
        """See :class:`End`."""
        got = 0
        while got < size:
            count = self.connection.recv_into(self.buffer[got:size])
            if not count:
                raise ConnectionError("the other end is gone")
            got += count
        return time.perf_counter()

    def close(self) -> None:
        """See :class:`End`."""
        self.connection.close()


def forth(end: End, talk: Connection, size: int) -> float:
    """Seconds of one transfer from the near end, where this runs, to the far one."""
    talk.send(("receive", size))
    _settle()
    start = end.send(size)
    arrived: float = talk.recv()
    return arrived - start


def back(end: End, talk: Connection, size: int) -> float:
    """Seconds of one transfer from the far end to the near one, where this runs."""
    talk.send(("send", size))
    arrived = end.receive(size)
    start: float = talk.recv()
    return arrived - start


def serve(address: Any, most: int, talk: Connection) -> None:
    """Far end, in a process of its own: do what the near one says until it hangs up.

    `address` is the name of a shared block, or host and port of a listening socket.
    """
    end: End
    if isinstance(address, str):
        parent = os.getppid()
        end = SharedEnd(address, 1, most, lambda: os.getppid() == parent)
    else:
        end = SocketEnd(socket.create_connection(address), most)
    talk.send("ready")
    try:
        while True:
            order, size = talk.recv()
            if order == "send":
                _settle()
                talk.send(end.send(size))
            else:
                talk.send(end.receive(size))
    except (EOFError, ConnectionError):
        end.close()


def ping(end: End, talk: Connection, size: int) -> tuple[list[float], list[float]]:
    """Transfers of one size, forth and back in turn: seconds of each. Small ones repeat most."""
    both = [
        (forth(end, talk, size), back(end, talk, size))
        for _ in range(min(max(2**20 // size, 1), 16))
    ]
    return [f for f, _ in both], [b for _, b in both]


def _settle() -> None:
    until = time.perf_counter() + SETTLE_S
    while time.perf_counter() < until:
        pass
