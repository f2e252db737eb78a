"""SIGTERM and SIGHUP end the command line in the same order as Ctrl-C does."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import AbstractContextManager
from types import FrameType, TracebackType
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Ctrl-C again and again is impatience; long after the first, it is a need.
PATIENCE_S = 15.0


class Ending(AbstractContextManager["Ending"]):
    """Turns the first ending signal into KeyboardInterrupt, and ignores more while that is served.

    Signals that were ignored before (``nohup``) still are. Afterwards all is as before, unless a
    signal came: the process is about to leave then, and more of them must not disturb it.

    Attributes
    ----------
    received : int or None
        Number of the first signal.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._raised_at = 0.0
        self._before: dict[signal.Signals, Any] = {}

    @property
    def code(self) -> int:
        """Exit code after a signal, as shells have it."""
        assert self.received is not None
        return 128 + self.received

    def __enter__(self) -> Ending:
        """Listen, where this thread can."""
        if threading.current_thread() is threading.main_thread():
            for each in ENDING:
                before = signal.getsignal(each)
                if before not in (signal.SIG_IGN, None):
                    self._before[each] = before
                    signal.signal(each, self._on_signal)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening."""
        for each, before in self._before.items():
            # Ignored, not handled: Python takes its own handlers away before it has ended.
            signal.signal(each, before if self.received is None else signal.SIG_IGN)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.received is None:
            self.received = number
        elif now < self._raised_at + PATIENCE_S:
            return
        self._raised_at = now
        raise KeyboardInterrupt
