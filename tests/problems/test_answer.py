import msgspec
import numpy as np
import pytest

from problems.answer import Answer, AnswerFile, digest, from_file, to_file
from problems.files import FileError, decode, encode


@pytest.mark.parametrize(
    "answer",
    [
        Answer.of([0, 1, 0]),
        Answer.of([0, 1, 0], [[2, 0], [1]]),
        Answer.of([0, 1, 0], [[2, 0], [1], []], [0.1, 1 / 3, 1e-300]),
    ],
)
def test_round_trip(answer):
    file = to_file(answer, "d" * 64)
    back = from_file(decode(encode(file), AnswerFile, "x"))
    assert back.device.tolist() == answer.device.tolist()
    assert back.device.dtype == np.int64
    assert (back.order is None) == (answer.order is None)
    if answer.order is not None:
        assert [each.tolist() for each in back.order] == [each.tolist() for each in answer.order]
    assert (back.start is None) == (answer.start is None)
    if answer.start is not None:
        assert back.start.tolist() == answer.start.tolist()
    assert to_file(back, "d" * 64) == file


def test_digest_is_the_content():
    one = to_file(Answer.of([0, 1]), "a")
    assert digest(one) == digest(to_file(Answer(np.array([0, 1], np.int32)), "a"))
    assert digest(one) != digest(to_file(Answer.of([0, 1]), "b"))
    assert digest(one) != digest(to_file(Answer.of([1, 0]), "a"))


@pytest.mark.parametrize(
    "answer",
    [
        Answer(np.array([0.5, 1.0])),
        Answer(np.zeros((2, 2), np.int64)),
        Answer(np.array(["x"])),
        Answer(np.array(3)),
        Answer.of([0], [[0]], [float("nan")]),
        Answer.of([0], [[0]], [float("inf")]),
        Answer(np.array([0]), (np.array([0.5]),)),
    ],
)
def test_garbage_has_no_serial_form(answer):
    with pytest.raises(FileError, match="answer"):
        to_file(answer, "d")


def test_numbers_beyond_64_bits():
    file = msgspec.structs.replace(to_file(Answer.of([0]), "d"), device=[2**70])
    with pytest.raises(FileError, match="answer"):
        from_file(file)
