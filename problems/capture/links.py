"""Link files between two processes: through shared memory, and through TCP on the loopback.

One transfer is from the first byte leaving the sender's buffer to the last one standing in the
receiver's.
"""

from __future__ import annotations

import datetime
import multiprocessing
import random
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from statistics import median
from typing import Any

from problems.capture import Progress, machine, silent
from problems.capture.ends import HEADER, End, SharedEnd, SocketEnd, ping, serve
from problems.platform import AlphaBeta, LinkFile, LinkPoint

SIZES = tuple(2**k for k in range(8, 27))
HOW = {
    "shm": "shared memory: copied in by the sender, out by the receiver, who spins",
    "tcp-loopback": "TCP on the loopback without delay, the receiver sleeps until data come",
}
METHOD = (
    "rounds over all sizes in random order, both directions in turn, small sizes up to 16 times "
    "a round; min and median"
)
PATIENCE_S = 60.0  # for the other process to start


def capture_links(
    kind: str,
    budget_s: float = 20.0,
    *,
    sizes: Sequence[int] = SIZES,
    name: str | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> LinkFile:
    """Measure a link both ways, in rounds over all sizes.

    Parameters
    ----------
    kind : {'shm', 'tcp-loopback'}
        How the bytes travel.
    budget_s : float
        Seconds of measurement; at least 3 rounds are run.
    sizes : sequence of int
        Bytes, ascending.
    name : str, optional
        Of the link file; the kind where not given.
    force : bool
        Measure on a busy machine, too.

    Raises
    ------
    ValueError
        If there is no such kind, the sizes are not ascending and positive, or this process may
        use one core only.
    BusyError
        If the machine is not quiet.
    """
    if kind not in HOW:
        raise ValueError(f"no link {kind!r}; the links are {', '.join(HOW)}")
    if not sizes or sizes[0] < 1 or any(a >= b for a, b in pairwise(sizes)):
        raise ValueError("the sizes of a link must be positive and ascend")
    if budget_s <= 0:
        raise ValueError("budget_s <= 0")
    if machine.available_cores() < 2:
        raise ValueError("a link needs two cores, one for each end")
    if not force:
        machine.require_quiet()
    forth: dict[int, list[float]] = {n: [] for n in sizes}
    back: dict[int, list[float]] = {n: [] for n in sizes}
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
    forward, backward = (
        [LinkPoint(n, min(each), median(each)) for n, each in way.items()] for way in (forth, back)
    )
    return LinkFile(
        format="placebench-link/1",
        name=name or kind,
        kind="measured",
        provenance=machine.hardware()
        | {
            "link": HOW[kind],
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "method": METHOD,
            "rounds": count,
        },
        forward=forward,
        backward=backward,
        model=summary(forward),
    )


def summary(points: Sequence[LinkPoint]) -> AlphaBeta:
    """Latency of the smallest point and bandwidth between the ends: a summary, not for use."""
    first, last = points[0], points[-1]
    gained = max(last.min_s - first.min_s, 1e-12)
    return AlphaBeta(first.min_s, max(last.bytes - first.bytes, 1) / gained)


@contextmanager
def _joined(kind: str, most: int) -> Iterator[tuple[End, Connection]]:
    """Open a near end whose far end runs in a process of its own."""
    if kind == "shm":
        memory = SharedMemory(create=True, size=HEADER + most)
        try:
            with _far_end(memory.name, most, lambda: SharedEnd(memory.name, 0, most)) as pair:
                yield pair
        finally:
            memory.close()
            memory.unlink()
        return
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE_S)
        with _far_end(
            server.getsockname(), most, lambda: SocketEnd(server.accept()[0], most)
        ) as pair:
            yield pair


@contextmanager
def _far_end(address: Any, most: int, near: Callable[[], End]) -> Iterator[tuple[End, Connection]]:
    context = multiprocessing.get_context("spawn")
    talk, theirs = context.Pipe()
    process = context.Process(target=serve, args=(address, most, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        end = near()
        try:
            if not talk.poll(PATIENCE_S):
                raise TimeoutError(f"the other end did not start within {PATIENCE_S:.0f} s")
            talk.recv()  # "ready"
            assert process.pid is not None
            with machine.apart(process.pid):
                yield end, talk
        finally:
            end.close()
    finally:
        talk.close()
        process.join(5)
        if process.is_alive():
            process.kill()
