"""Transfers between two processes, timed in rounds; with numpy and the standard library only."""

from __future__ import annotations

import multiprocessing
import os
import random
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

from problems.capture import Progress
from problems.capture.cores import apart
from problems.capture.ends import HEADER, End, SharedEnd, SocketEnd, ping, serve

HOW = {
    "shm": "shared memory: copied in by the sender, out by the receiver, who spins",
    "tcp-loopback": "TCP on the loopback without delay, the receiver sleeps until data come",
}
METHOD = (
    "rounds over all sizes in random order, both directions in turn, small sizes up to 16 times "
    "a round; min and median"
)
PATIENCE_S = 60.0  # for the other process to start
SHARED = Path("/dev/shm")  # where Linux keeps shared memory

Samples = dict[int, list[float]]


def measure(
    kind: str, budget_s: float, sizes: Sequence[int], progress: Progress
) -> tuple[Samples, Samples, int]:
    """Time transfers both ways, in rounds over all sizes; at least 3 rounds are run.

    Returns
    -------
    forth, back, rounds : dict, dict, int
        Bytes -> seconds of each transfer, from the near end and to it.

    Raises
    ------
    RuntimeError
        If there is too little shared memory, or the other end does not last.
    """
    forth: Samples = {n: [] for n in sizes}
    back: Samples = {n: [] for n in sizes}
    order, shuffle, count = list(sizes), random.Random(0), 0
    with _joined(kind, sizes[-1]) as (end, talk):
        ping(end, talk, sizes[-1])  # touches every page once
        start = time.perf_counter()
        while count < 3 or time.perf_counter() - start < budget_s:
            shuffle.shuffle(order)
            for n in order:
                there, here = ping(end, talk, n)
                forth[n] += there
                back[n] += here
            count += 1
            progress(min((time.perf_counter() - start) / budget_s, 1.0), f"{kind}: round {count}")
    return forth, back, count


@contextmanager
def _joined(kind: str, most: int) -> Iterator[tuple[End, Connection]]:
    """Open a near end whose far end runs in a process of its own."""
    if kind == "shm":
        _require_shared(HEADER + most)
        memory = SharedMemory(create=True, size=HEADER + most)
        try:
            with _far_end(
                memory.name, most, lambda alive: SharedEnd(memory.name, 0, most, alive)
            ) as pair:
                yield pair
        finally:
            memory.close()
            memory.unlink()
        return
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE_S)
        with _far_end(
            server.getsockname(), most, lambda _: SocketEnd(server.accept()[0], most)
        ) as pair:
            yield pair


def _require_shared(size: int) -> None:
    """Raise where shared memory is too small: writing beyond it would end the process."""
    if not SHARED.is_dir():  # not a Linux
        return
    there = os.statvfs(SHARED)
    free = there.f_bavail * there.f_frsize
    if free < size:
        raise RuntimeError(
            f"{SHARED} has {free} bytes left, the link through shared memory needs {size}:"
            " make room or enlarge it (docker run --shm-size=1g)"
        )


@contextmanager
def _far_end(
    address: Any, most: int, near: Callable[[Callable[[], bool]], End]
) -> Iterator[tuple[End, Connection]]:
    context = multiprocessing.get_context("spawn")
    talk, theirs = context.Pipe()
    process = context.Process(target=serve, args=(address, most, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        end = near(process.is_alive)
        try:
            if not talk.poll(PATIENCE_S):
                raise TimeoutError(f"the other end did not start within {PATIENCE_S:.0f} s")
            talk.recv()  # "ready"
            assert process.pid is not None
            with apart(process.pid):
                yield end, talk
        finally:
            end.close()
    except (EOFError, ConnectionError):
        process.join(5)
        raise RuntimeError(f"the other end ended early, with code {process.exitcode}") from None
    finally:
        talk.close()
        process.join(5)
        if process.is_alive():
            process.kill()
