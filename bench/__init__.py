"""Harness; in Python ``load``, ``run``, ``check``, ``compare``, ``frame``, ``plot``.

``bench.load`` and the others are imported when they are first used: the process of a run, and
``--help``, import this package too and need none of what they need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.api import check, load, run
    from bench.comparing import compare
    from bench.plots import plot
    from bench.table import frame

__all__ = ["check", "compare", "frame", "load", "plot", "run"]

_MODULES = {"compare": "bench.comparing", "frame": "bench.table", "plot": "bench.plots"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES.get(name, "bench.api")), name)
