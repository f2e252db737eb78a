"""Harness, records and comparison; ``bench.load``, ``bench.run`` and ``bench.check`` in Python.

These three are imported when they are first used: the process of a run, and ``--help``, import this
package too and need none of what they need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.api import check, load, run

__all__ = ["check", "load", "run"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("bench.api"), name)
