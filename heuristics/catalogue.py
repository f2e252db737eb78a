"""The heuristics by name, found without importing any of them.

The rule: every module directly in this package is one entry, and its file name is the entry's name
with dashes for underscores. This module is the only exception. What entries share lives in
subpackages (:mod:`heuristics.shared`), and so do the parts of large ones.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from solvers.method import REGISTRY, Method

_HERE = Path(__file__)


def names() -> list[str]:
    """Names of all heuristics, sorted."""
    files = [path for path in _HERE.parent.glob("*.py") if path != _HERE]
    return sorted(path.stem.replace("_", "-") for path in files if path.stem != "__init__")


def load(name: str) -> Method:
    """Import one heuristic, and no other.

    Raises
    ------
    KeyError
        If there is no heuristic of that name.
    """
    if name not in names():
        raise KeyError(f"no heuristic {name!r}; there are {', '.join(names())}")
    import_module(f"heuristics.{name.replace('-', '_')}")
    return REGISTRY[name]
