"""Files of methods: a ``.py`` file anywhere that registers what it defines."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import signal
import sys
import threading
import traceback
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from bench.plain import headline
from problems.files import contents
from solvers import method as methods
from solvers.method import Method

OWN_PACKAGES = ("solvers", "heuristics")
# What files and packages have registered, kept when the registry forgets it: a module is run once.
_seen: dict[object, Method] = {}


class EntryError(ValueError):
    """An entry that cannot be run; the message names it and the valid choices."""


def absolute(path: Path) -> Path:
    """Where a file is, whatever the working folder will be, with links followed.

    Raises
    ------
    EntryError
        If links lead round in a circle, or to a home that nobody has.
    """
    try:
        return path.expanduser().resolve()
    except (OSError, RuntimeError) as error:
        raise EntryError(f"{path}: {headline(error)}") from None


def load_file(path: Path) -> tuple[dict[str, Method], str]:
    """Run a file that registers methods; returns them by name, and the digest of its content.

    Raises
    ------
    EntryError
        If the file is missing, fails or registers nothing.
    """
    try:
        content = contents(path)
    except OSError as error:
        raise EntryError(f"{path}: cannot be read: {error.strerror}") from None
    source = hashlib.sha256(content).hexdigest()
    module_name = f"placebench_file_{source[:16]}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # pickling and dataclasses look modules up by name
    known = set(sys.modules)
    try:
        with apart() as found, _no_exit():
            spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[module_name]
        if isinstance(error, KeyboardInterrupt) and _by_signal(error):
            raise
        raise EntryError(f"{path}: cannot be loaded: {headline(error)}") from error
    # What a module registers that the file imports is that module's, unless there is nothing else.
    imported = set(sys.modules) - known
    mine = {n: m for n, m in found.items() if getattr(m.run, "__module__", "") not in imported}
    found = mine or found
    if not found:
        raise EntryError(f"{path}: registers no method; decorate one with `solvers.method.method`")
    return found, source


def _by_signal(error: KeyboardInterrupt) -> bool:
    """Whether an interrupt may be the user's: a handler of ours is where those come from."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.SIG_IGN:
        return False
    if handler is signal.default_int_handler or not callable(handler):
        return True  # it is raised by whatever runs
    code = getattr(handler, "__code__", None)
    return any(frame.f_code is code for frame, _ in traceback.walk_tb(error.__traceback__))


@contextmanager
def apart() -> Iterator[dict[str, Method]]:
    """Keep what a stranger's code registers out of the registry; gives it at the end, by name.

    It starts from nothing: whether a name is free must not depend on what ran before, nor the
    suite's own names on a stranger's.
    """
    before = dict(methods.REGISTRY)
    methods.REGISTRY.clear()
    found: dict[str, Method] = {}
    try:
        with _same_folder():
            yield found
    finally:
        for name, each in list(methods.REGISTRY.items()):
            if not _is_own(each):
                _seen[each.run] = found[name] = each
                del methods.REGISTRY[name]
        methods.REGISTRY.update(before)


@contextmanager
def _no_exit() -> Iterator[None]:
    """Make SystemExit of `os._exit`, which would end the harness without a word, as if done."""
    leave, here = os._exit, (os.getpid(), threading.get_ident())
    loading = True

    def refuse(status: int) -> NoReturn:
        # Not for a child that the file forked, nor for who has kept this function.
        if loading and (os.getpid(), threading.get_ident()) == here:
            raise SystemExit(f"os._exit({status})")
        leave(status)

    os._exit = refuse
    try:
        yield
    finally:
        os._exit, loading = leave, False
        if os.getpid() != here[0]:  # a child that came out of the file: there is one harness only
            leave(1)


@contextmanager
def _same_folder() -> Iterator[None]:
    """Come back to the working folder, or all relative paths of the harness are elsewhere."""
    try:
        here = os.getcwd()
    except FileNotFoundError:  # it was deleted: there is nothing to come back to
        here = None
    try:
        yield
    finally:
        if here is not None:
            os.chdir(here)


def registered(run: object) -> Method | None:
    """The method that a stranger's code has registered for a function."""
    return _seen.get(run) if isinstance(run, Hashable) else None


def _is_own(method: Method) -> bool:
    module: str = getattr(method.run, "__module__", None) or ""
    return module.split(".")[0] in OWN_PACKAGES
