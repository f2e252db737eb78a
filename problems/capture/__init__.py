"""Where real instances come from: graphs by export, times by replay, links by ping."""

from collections.abc import Callable

Progress = Callable[[float, str], None]
"""Told the fraction done, 0..1, and what is being done."""


def silent(fraction: float, message: str) -> None:
    """Report nothing."""
