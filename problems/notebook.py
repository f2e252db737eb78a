"""HTML by which objects show themselves in a notebook: facts, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MOST = 16  # rows of a table; of more the number is told


def facts(title: str, told: Iterable[tuple[str, object]]) -> str:
    """A title, and what there is to say as (name, value)."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(str(value))}</td></tr>"
        for name, value in told
    )
    return f"<strong>{escape(title)}</strong><table>{rows}</table>"


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of at most :data:`MOST` rows."""
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(each))}</td>" for each in row) + "</tr>"
        for row in rows[:MOST]
    )
    more = f"<p>and {len(rows) - MOST} more</p>" if len(rows) > MOST else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def amount(value: float) -> str:
    """Bytes as MB; ``no limit`` where infinite."""
    return f"{value / 1e6:,.0f} MB" if value < float("inf") else "no limit"
