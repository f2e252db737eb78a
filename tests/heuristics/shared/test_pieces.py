"""Walks in pieces: whatever the clock does, the same is seen of them."""

from __future__ import annotations

import time

import pytest

from heuristics.shared import pieces
from heuristics.shared.pieces import in_pieces


class Walk:
    """Counts its moves, and when it was looked at."""

    def __init__(self, seconds=lambda: 0.0):
        self.made, self.seen, self.seconds = 0, [], seconds

    def some(self, at, count):
        assert at == self.made
        assert count >= 1
        self.made += count
        if seconds := self.seconds():
            time.sleep(seconds)

    def offer(self):
        self.seen.append(self.made)


def never():
    return False


def test_offers_come_after_the_same_moves_whatever_the_pieces(monkeypatch):
    monkeypatch.setattr(pieces, "APART", 8)
    naps = iter([0.0, 0.02, 0.0, 0.006] * 100)
    fast, slow = Walk(), Walk(lambda: next(naps))
    for walk in (fast, slow):
        in_pieces(30, walk.some, never, walk.offer)
    assert fast.seen == slow.seen == [1, 2, 4, 8, 16, 24, 30]
    assert fast.made == slow.made == 30


def test_the_clock_cuts_and_what_is_found_by_then_is_offered():
    walk = Walk()
    in_pieces(1000, walk.some, lambda: walk.made >= 5, walk.offer)
    assert walk.made < 1000
    assert walk.seen[-1] == walk.made


@pytest.mark.parametrize(("at_once", "made"), [(0, 0), (1, 1)])
def test_some_moves_are_made_in_any_case(at_once, made):
    walk = Walk()
    in_pieces(10, walk.some, lambda: True, walk.offer, at_once)
    assert walk.made == made


def test_pieces_grow_where_moves_are_cheap():
    calls = []
    in_pieces(2**16, lambda at, count: calls.append(count), never)
    assert sum(calls) == 2**16
    assert max(calls) > 100
