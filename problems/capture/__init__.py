"""Where real instances come from: graphs by export, times by replay, links by ping."""

from collections.abc import Callable

Progress = Callable[[float, str], None]
"""Told the fraction done, 0..1, and what is being done."""

SIZES = tuple(2**k for k in range(8, 27))
"""Bytes at which links are measured."""


def silent(fraction: float, message: str) -> None:
    """Report nothing."""
