"""Times one call on a card: events around it, behind a flush of the L2 cache.

The flush does two things: nothing of the operands is left in the L2 cache, and the card is busy
while the host dispatches, so that the events enclose the kernels and not the gaps between their
launches. Needs torch and the standard library only.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import torch

FLUSH_BYTES = 256 << 20
"""Several times the L2 cache of an H100 (50 MB: NVIDIA H100 architecture whitepaper, 2022)."""
HOLDS = 32
"""Most flushes before one call."""


class Stopwatch:
    """Times calls on the current stream of a card.

    Parameters
    ----------
    device : str
        The card, ``cuda:0`` for example.
    cuda : module
        ``torch.cuda``, or what stands for it in tests.

    Attributes
    ----------
    flush_s : float
        Seconds of one flush.
    empty_s : float
        What two events with nothing between them show: the floor of every time, not subtracted.
    """

    def __init__(self, device: str, cuda: Any = torch.cuda) -> None:
        self.cuda = cuda
        self.junk = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device=device)
        self.first = cuda.Event(enable_timing=True)
        self.last = cuda.Event(enable_timing=True)
        self.flush_s = 1.0  # one flush before each of the calls below
        self.junk.zero_()
        self.flush_s = median(self.time(self.junk.zero_)[0] for _ in range(5))
        self.empty_s = median(self.time(lambda: None)[0] for _ in range(21))

    def time(self, call: Callable[[], Any], dispatch_s: float = 0.0) -> tuple[float, float]:
        """Time one call.

        Parameters
        ----------
        call : callable
            Launches the work.
        dispatch_s : float
            How long the host is known to need for it.

        Returns
        -------
        card_s, host_s : float
            Seconds between the events, and seconds that the host took to dispatch.
        """
        holds = math.ceil(1.5 * dispatch_s / max(self.flush_s, 1e-9))
        for _ in range(min(max(holds, 1), HOLDS)):
            self.junk.zero_()
        self.first.record()
        begin = time.perf_counter_ns()
        result = call()
        end = time.perf_counter_ns()
        self.last.record()
        self.last.synchronize()
        del result
        return self.first.elapsed_time(self.last) * 1e-3, (end - begin) * 1e-9


@contextmanager
def share(multiprocessors: int | None, card: int, cuda: Any = torch.cuda) -> Iterator[None]:
    """Work inside on so many multiprocessors of a card; None: on the whole card.

    Raises
    ------
    RuntimeError
        If this torch or driver has no green contexts.
    """
    if multiprocessors is None:
        yield
        return
    contexts = getattr(cuda, "green_contexts", None)
    if contexts is None or not contexts.SUPPORTED:
        raise RuntimeError("this torch has no green contexts (torch 2.10 or later on CUDA has)")
    context = contexts.GreenContext.create(num_sms=multiprocessors, device_id=card)
    if hasattr(context, "Stream"):
        with cuda.stream(context.Stream()):
            yield
        return
    context.set_context()
    try:
        yield
    finally:
        context.pop_context()
