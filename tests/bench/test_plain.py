"""Text from strangers, as it is shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bench.plain import headline, one_line


@given(st.text())
def test_one_printable_line(text):
    line = one_line(text, 40)
    assert line.isprintable()
    assert len(line) <= 40


def test_escape_codes_go():
    assert one_line("a\x1b[1;31mb\x1b[0m\x1b]0;title\x07c\x9b2Jd\x1b") == "abcd"
    assert one_line("one\r\n\ttwo\x00three") == "one two three"


def test_headlines_name_the_type():
    class Rude(Exception):
        def __str__(self):
            raise ValueError

    assert headline(ValueError("a\nb")) == "ValueError: a b"
    assert headline(MemoryError()) == "MemoryError"
    assert headline(Rude()) == "Rude: (its message cannot be read)"
