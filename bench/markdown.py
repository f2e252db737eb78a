"""Tables of the studies as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

Show = Callable[..., str]


def table(
    frame: pd.DataFrame, columns: Mapping[str, Show], titles: Mapping[str, str] | None = None
) -> list[str]:
    """Lines of a table; numbers stand right.

    Parameters
    ----------
    columns : mapping of str to callable
        Columns that are shown, in order -> how a value is written.
    titles : mapping of str to str, optional
        Heading of a column where it is not its name.
    """
    names = [(titles or {}).get(name, name) for name in columns]
    words = {name for name in columns if not pd.api.types.is_numeric_dtype(frame[name])}
    kinds = ["---" if name in words else "--:" for name in columns]
    lines = [f"| {' | '.join(names)} |", f"| {' | '.join(kinds)} |"]
    for row in frame.to_dict("records"):
        cells = [show(row[name]) for name, show in columns.items()]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def percent(value: float) -> str:
    """A share as a percentage; empty without one."""
    # A bound may meet an answer from above, within the tolerance.
    return "" if pd.isna(value) else f"{100 * max(value, 0.0):.2f} %"


def change(value: float) -> str:
    """A relative change as a percentage with its sign; empty without one."""
    return "" if pd.isna(value) else f"{100 * value:+.2f} %"


def seconds(value: float) -> str:
    """A time with three digits; empty without one."""
    return "" if pd.isna(value) else f"{value:.3g} s"


def times(value: float) -> str:
    """A ratio; empty without one."""
    return "" if pd.isna(value) else f"{value:.3g}x"
