"""Text from strangers, made fit to be shown: a raised message may hold anything."""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)?|\x9b[0-?]*[@-~]")
LINE = 300


def one_line(text: str, limit: int = LINE) -> str:
    """The text on one line, without escape codes and what cannot be printed, cut at the end."""
    seen = _ESCAPES.sub("", text)
    line = " ".join("".join(c if c.isprintable() else " " for c in seen).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


def headline(error: BaseException) -> str:
    """Type and message of an exception on one line."""
    name = type(error).__name__
    try:
        message = one_line(str(error))
    except Exception:  # a stranger's `__str__`
        message = "(its message cannot be read)"
    return f"{name}: {message}" if message else name
