"""Shared memory between the two or more processes that execute a placement.

As in :mod:`problems.capture.ends`: a payload is copied in by the sender and out by the receiver,
who spins until it is there. Every payload has places of its own for a few samples, so that a stage
can be ahead of the next one. Stores become visible in program order on x86, which the counters rest
on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np
import torch

DEPTH = 3
"""Samples that a payload can be ahead of its receiver."""
LINE = 64
WORKERS = 8  # most that a block has room for


def tensors_of(value: Any) -> list[torch.Tensor]:
    """The tensors of a result, which is one, or several in a list."""
    return [value] if isinstance(value, torch.Tensor) else list(value)


def room(sizes: Sequence[int]) -> int:
    """Bytes of a block for payloads of these sizes; generous with many tensors a payload."""
    return LINE * (2 * len(sizes) + 2 * WORKERS + 4) + DEPTH * sum(n + 64 * LINE for n in sizes)


class Channel:
    """One process's view of the block.

    Parameters
    ----------
    memory : SharedMemory
        Zeroed; at least :func:`room` bytes.
    like : sequence
        One a payload: tensors of its shape (fake ones will do).
    own, workers : int
        Which process this is, of how many.
    """

    def __init__(self, memory: SharedMemory, like: Sequence[Any], own: int, workers: int) -> None:
        words = LINE // 8
        self.own, self.workers = own, workers
        header = 2 * len(like) + 2 * WORKERS + 1
        counters = np.ndarray(header * words, np.int64, memory.buf)[::words]
        # Which samples were sent, which were taken, who waits at the start, which start is free.
        self.sent = counters[: len(like)]
        self.taken = counters[len(like) : 2 * len(like)]
        self.waiting = counters[2 * len(like) : 2 * len(like) + WORKERS]
        self.begun = counters[2 * len(like) + WORKERS : header - 1]
        self.moment = np.ndarray(1, np.float64, memory.buf, (header - 1) * LINE)
        self.several = [not isinstance(each, torch.Tensor) for each in like]
        self.places: list[list[list[torch.Tensor]]] = []
        at = header * LINE
        for each in like:
            places: list[list[torch.Tensor]] = []
            for _ in range(DEPTH):
                place = []
                for tensor in tensors_of(each):
                    shape, stride = tuple(tensor.shape), tuple(tensor.stride())
                    size = 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))
                    count = 0 if 0 in shape else size
                    flat = torch.frombuffer(
                        memory.buf, dtype=tensor.dtype, count=max(count, 1), offset=at
                    )
                    place.append(flat.as_strided(shape, stride))
                    at += -(-max(count, 1) * tensor.element_size() // LINE) * LINE
                places.append(place)
            self.places.append(places)
        self.starts = 0

    def reset(self) -> None:
        """Count samples from 0 again; all processes do it between two :meth:`start`."""
        if self.own == 0:
            self.sent[:] = 0
            self.taken[:] = 0

    def send(self, payload: int, value: Any, sample: int) -> None:
        """Copy a result in, once its place has been emptied."""
        taken = self.taken
        while sample - taken[payload] >= DEPTH:
            pass
        place = self.places[payload][sample % DEPTH]
        if self.several[payload]:
            for slot, tensor in zip(place, value, strict=True):
                slot.copy_(tensor)
        else:
            place[0].copy_(value)
        self.sent[payload] = sample + 1

    def receive(self, payload: int, sample: int) -> Any:
        """Copy a result out, once it is there."""
        sent = self.sent
        while sent[payload] <= sample:
            pass
        place = self.places[payload][sample % DEPTH]
        got = [slot.clone() for slot in place] if self.several[payload] else place[0].clone()
        self.taken[payload] = sample + 1
        return got

    def start(self) -> float:
        """Wait for all others; the common moment to begin, just reached, in seconds."""
        self.starts += 1
        self.waiting[self.own] = self.starts
        if self.own == 0:
            while (self.waiting[: self.workers] < self.starts).any():
                time.sleep(1e-4)
            self.moment[0] = time.perf_counter() + 2e-3
            self.begun[0] = self.starts
        while self.begun[0] < self.starts:
            time.sleep(1e-4)
        moment = float(self.moment[0])
        while time.perf_counter() < moment:
            pass
        return moment
