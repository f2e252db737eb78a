from __future__ import annotations

import pytest

from bench.cli import units


@pytest.mark.parametrize(
    ("text", "value"),
    [("500ms", 0.5), ("10s", 10.0), ("10", 10.0), ("2m", 120.0), ("1h", 3600.0), ("0.1h", 360.0),
     (" 1.5 s ", 1.5)],
)  # fmt: skip
def test_seconds(text, value):
    assert units.seconds(text) == value


@pytest.mark.parametrize("text", ["", "ten", "-1s", "0", "10 days", "inf", "nan", "1e999s", "1s2"])
def test_what_is_no_time(text):
    with pytest.raises(ValueError, match="time"):
        units.seconds(text)


@pytest.mark.parametrize(
    ("text", "value"), [("4GB", 4 * 10**9), ("512MiB", 512 * 2**20), ("100", 100), ("1.5kb", 1500)]
)
def test_size(text, value):
    assert units.size(text) == value


@pytest.mark.parametrize("text", ["", "big", "0", "-4GB", "4 TB", "1e400"])
def test_what_is_no_size(text):
    with pytest.raises(ValueError, match="size"):
        units.size(text)


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [(units.seconds, "1e400", "too long"), (units.seconds, "1e30h", "too long"),
     (units.seconds, "nan", "is not like"), (units.seconds, "0", "above 0"),
     (units.size, "1e30", "too large"), (units.size, "1e400", "too large"),
     (units.size, "0", "at least 1")],
)  # fmt: skip
def test_the_message_says_what_is_wrong(read, text, message):
    with pytest.raises(ValueError, match=message):
        read(text)
