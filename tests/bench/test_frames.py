"""The wire: what is sent arrives, however it is cut; what is no frame does no harm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import frames
from bench.frames import AnswerFrame, BoundFrame, Done, Failed, Parser, pack, unpack
from problems.answer import Answer

FRAMES = st.one_of(
    st.builds(BoundFrame, st.floats(allow_nan=False)),
    st.builds(Failed, st.text(max_size=50), st.booleans()),
    st.builds(Done, st.integers(0, 2**60)),
    st.builds(AnswerFrame, st.binary(max_size=40), st.none() | st.lists(st.binary(max_size=16))),
)


@given(st.lists(FRAMES, max_size=8), st.lists(st.integers(1, 30), min_size=1))
def test_frames_arrive_whole_however_they_are_cut(sent, cuts):
    data = b"".join(map(pack, sent))
    parser, got, position = Parser(1 << 16), [], 0
    while position < len(data):
        cut = cuts[len(got) % len(cuts)]
        got += [unpack(*each) for each in parser.feed(data[position : position + cut])]
        position += cut
    assert got == sent
    assert parser.oversized == 0


@given(st.integers(0, 200), st.integers(1, 64))
def test_what_is_too_large_is_skipped(size, cut):
    large = pack(Failed("x" * (101 + size)))
    data = pack(Done(1)) + large + pack(Done(2))
    parser, got = Parser(100), []
    for position in range(0, len(data), cut):
        got += [unpack(*each) for each in parser.feed(data[position : position + cut])]
    assert got == [Done(1), Done(2)]
    assert parser.oversized == 1


@given(st.binary(max_size=200))
def test_garbage_gives_errors_of_one_kind(data):
    for kind, body in Parser(100).feed(data):
        try:
            unpack(kind, body)
        except ValueError:
            continue


def test_answers_travel():
    answer = Answer.of([0, 1, 0], [[0, 2], [1]], [0.0, 1.5, 2.0])
    got = frames.decode_answer(frames.encode_answer(answer, 1 << 16))
    assert got.device.tolist() == [0, 1, 0]
    assert [each.tolist() for each in got.order or ()] == [[0, 2], [1]]
    assert got.start is not None
    assert got.start.tolist() == [0.0, 1.5, 2.0]
    bare = frames.decode_answer(frames.encode_answer(Answer(np.zeros(2, np.int8)), 1 << 16))
    assert (bare.device.tolist(), bare.order, bare.start) == ([0, 0], None, None)
    empty = frames.encode_answer(Answer.of([0], [[], [0]]), 1 << 16)
    assert frames.decode_answer(empty).order[0].tolist() == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("heft", "a str is not an Answer"),
        (Answer(np.array([0.0, np.nan])), "holds float64, not integers (NaN among them)"),
        (Answer(np.array([True])), "holds bool"),
        (Answer(np.zeros((2, 2), int)), "has shape (2, 2)"),
        (Answer(["a"]), "not integers"),
        (Answer(np.zeros(1, int), order=3), "cannot be read: TypeError"),
        (Answer(np.zeros(1, int), start=["soon"]), "`start` holds"),
        (Answer(np.array([2**63], np.uint64)), "over 64 bits"),
        (Answer(np.zeros(10_000, int)), "too large"),
    ],
)
def test_what_is_no_answer_says_why(answer, message):
    frame = frames.encode_answer(answer, 1 << 16)
    assert message in frame.bad
    assert frame.device == b""


def test_a_full_answer_fits_every_limit():
    for n in (1, 10, 1000):
        answer = Answer.of(range(n), [range(n)] + [[]] * 200, np.zeros(n))
        frame = frames.encode_answer(answer, frames.size_limit(n))
        assert not frame.bad
        assert len(pack(frame)) < frames.size_limit(n)
