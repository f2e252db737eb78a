"""Keep compiled libraries off standard output, where a program's own output belongs."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Send what is written to file descriptor 1 to nowhere.

    Not for use by several threads at once: the descriptor is the whole process's.
    """
    try:
        flush = ctypes.CDLL(None).fflush  # the C library's buffer is another than Python's
    except (OSError, TypeError, AttributeError):  # elsewhere than on POSIX
        yield
        return
    if sys.stdout is not None:
        sys.stdout.flush()
    flush(None)
    try:
        kept = os.dup(1)
    except OSError:  # closed: nothing to keep clean
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        flush(None)
        os.dup2(kept, 1)
        os.close(nowhere)
        os.close(kept)
