"""A walk in pieces, between which it looks at the clock and says what it has found."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 0.004
"""Seconds between two looks at the clock, about."""
APART = 2**14
"""Moves between two offers at most."""


def in_pieces(
    moves: int,
    some: Callable[[int, int], None],
    done: Callable[[], bool],
    offer: Callable[[], None] = lambda: None,
    at_once: int = 0,
) -> None:
    """Make the moves of a walk in calls of about :data:`PATIENCE`.

    How many moves a call makes is the clock's choice, but not what is seen of the walk: it is
    offered after 1, 2, 4, ... moves, then every :data:`APART`, and at its end. Only where the clock
    cuts the walk is the last offer the clock's.

    Parameters
    ----------
    moves : int
        In all.
    some : callable
        Makes moves ``at`` to ``at + count - 1``, given `at` and `count`.
    done : callable
        Whether to stop; asked between calls.
    offer : callable
        Takes what is better than what was offered before, if anything is.
    at_once : int
        Moves that are made in any case.
    """
    at, piece, mark = 0, 1, 1
    while at < moves and (at < at_once or not done()):
        count = min(piece, mark - at, moves - at)
        begin = time.monotonic()
        some(at, count)
        taken = time.monotonic() - begin
        at += count
        if at == mark:
            offer()
            mark += min(mark, APART)
        piece = max(1, min(4 * piece, int(count * PATIENCE / max(taken, 1e-7))))
    offer()
