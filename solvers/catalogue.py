"""Exact methods by name, found by convention: a file in the right folder is an entry.

``formulations/prefix.py`` and ``backends/highs.py`` make ``prefix@highs``; ``cpsat/intervals.py``
makes ``intervals``, as does every file in a folder of :data:`NATIVE`. Dashes in names are
underscores in files; files that begin with an underscore are shared parts. Nothing is imported
before it is asked for, solver bindings not before a run.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from solvers.method import Method, register

_HERE = Path(__file__).parent
NATIVE = ("cpsat", "ideals", "mixtures")
"""Folders whose files are methods on their own, each with a ``METHOD``."""


def names() -> list[str]:
    """Names of all exact methods, sorted; imports nothing."""
    pairs = [f"{f}@{b}" for f in _files("formulations") for b in _files("backends")]
    return sorted([*pairs, *(name for folder in NATIVE for name in _files(folder))])


@cache
def load(name: str) -> Method:
    """Import what one method needs and register it.

    Raises
    ------
    KeyError
        If there is no such method; the message lists the names.
    """
    if name not in names():
        raise KeyError(f"no exact method {name!r}; there are {', '.join(names())}")
    first, _, backend = name.replace("-", "_").partition("@")
    if not backend:
        folder = next(each for each in NATIVE if name in _files(each))
        entry: Method = import_module(f"solvers.{folder}.{first}").METHOD
        return register(entry)
    from solvers.mip import pair  # not above: numba and scipy, and listing names needs neither

    return register(
        pair(
            name,
            import_module(f"solvers.formulations.{first}"),
            import_module(f"solvers.backends.{backend}"),
        )
    )


def formulations() -> list[str]:
    """Names of the formulations of neutral models."""
    return _files("formulations")


def formulation(name: str) -> ModuleType:
    """One of :func:`formulations`.

    Raises
    ------
    KeyError
        If there is no such formulation; the message lists the names.
    """
    return _module("formulations", name, "formulation")


def native(name: str) -> ModuleType:
    """A formulation that only CP-SAT takes.

    Raises
    ------
    KeyError
        If there is none of that name; the message lists the names.
    """
    return _module("cpsat", name, "formulation for CP-SAT")


def natives() -> list[str]:
    """Names of the formulations that only CP-SAT takes."""
    return _files("cpsat")


def _module(folder: str, name: str, what: str) -> ModuleType:
    valid = _files(folder)
    if name not in valid:
        raise KeyError(f"no {what} {name!r}; there are {', '.join(valid)}")
    return import_module(f"solvers.{folder}.{name.replace('-', '_')}")


def _files(folder: str) -> list[str]:
    found = pkgutil.iter_modules([str(_HERE / folder)])
    return [each.name.replace("_", "-") for each in found if not each.name.startswith("_")]
