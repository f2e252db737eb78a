"""Tables on the terminal, the same as JSON, and messages on stderr."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.plain import one_line

PIPE_COLUMNS = 1000
FAULTS = 10
FAULT = 1000  # characters of one: it begins with a path


def console() -> Console:
    """The terminal; in a pipe no colour and no wrapping: a row is a line, whatever reads it."""
    terminal = Console(highlight=False)
    if terminal.is_terminal:
        return terminal
    return Console(highlight=False, width=PIPE_COLUMNS, no_color=True)


def as_json(value: Any) -> None:
    """Print JSON; numbers that are not finite become null."""
    print(json.dumps(_finite(msgspec.to_builtins(value)), indent=1))


def rows(
    columns: Mapping[str, str],
    values: Sequence[Sequence[str]],
    title: str | None = None,
    to: Console | None = None,
) -> None:
    """Print a table; `columns` maps headings to ``left``, ``right`` or ``fold`` (may wrap)."""
    table = Table(
        title=title,
        title_justify="left",
        box=None,
        pad_edge=False,
        title_style="bold",
        show_header=any(heading.strip() for heading in columns),
    )
    for heading, kind in columns.items():
        table.add_column(
            heading,
            justify="right" if kind == "right" else "left",
            overflow="fold",
            no_wrap=kind == "right",
        )
    for row in values:
        table.add_row(*map(Text, row))
    (to or console()).print(table)


def warn(text: str) -> None:
    """One line on stderr."""
    print(text, file=sys.stderr, flush=True)


def faults(found: Sequence[str]) -> None:
    """One line on stderr for each record or file that was set aside, not too many of them."""
    for text in found[:FAULTS]:
        # Records are strangers' files: their text could give orders to the terminal.
        warn(f"placebench: set aside: {one_line(text, FAULT)}")
    if len(found) > FAULTS:
        warn(f"placebench: set aside: ... and {len(found) - FAULTS} more")


def writable(folder: Path) -> None:
    """Make sure that files can be put into `folder`, before anything is computed for it.

    Raises
    ------
    OSError
        If not; it names `folder`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except FileExistsError as error:
        raise OSError(error.errno, "is not a folder", str(folder)) from None
    except OSError as error:
        raise OSError(error.errno, f"cannot be written to: {error.strerror}", str(folder)) from None


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value
