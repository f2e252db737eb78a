"""Files of methods: a ``.py`` file anywhere that registers what it defines."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path

from bench.plain import headline
from solvers import method as methods
from solvers.method import Method, Run

OWN_PACKAGES = ("solvers", "heuristics")
# What files and packages have registered, kept when the registry forgets it: a module is run once.
_seen: dict[Run, Method] = {}


class EntryError(ValueError):
    """An entry that cannot be run; the message names it and the valid choices."""


def load_file(path: Path) -> tuple[dict[str, Method], str]:
    """Run a file that registers methods; returns them by name, and the digest of its content.

    Raises
    ------
    EntryError
        If the file is missing, fails or registers nothing.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EntryError(f"{path}: cannot be read: {error.strerror}") from None
    source = hashlib.sha256(content).hexdigest()
    module_name = f"placebench_file_{source[:16]}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = dict(methods.REGISTRY)
    # Each file starts from nothing: whether a name is free must not depend on what ran before.
    methods.REGISTRY.clear()
    sys.modules[module_name] = module  # pickling and dataclasses look modules up by name
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        raise EntryError(f"{path}: cannot be loaded: {headline(error)}") from error
    finally:
        found = {n: each for n, each in methods.REGISTRY.items() if not _is_own(each)}
        for name, each in found.items():
            _seen[each.run] = each
            del methods.REGISTRY[name]
        methods.REGISTRY.update(before)
    if not found:
        raise EntryError(f"{path}: registers no method; decorate one with `solvers.method.method`")
    return found, source


def registered(run: Run) -> Method | None:
    """The method that was registered for a function, by a file or by a package."""
    for each in methods.REGISTRY.values():
        if each.run is run:
            return each
    return _seen.get(run)


def _is_own(method: Method) -> bool:
    module: str = getattr(method.run, "__module__", None) or ""
    return module.split(".")[0] in OWN_PACKAGES
