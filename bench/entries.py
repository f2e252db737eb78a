"""Entries: which methods run, with which options, as the command line writes them.

``heft``, ``annealing[restarts=4]``, ``prefix@highs``, ``my_file.py``; several separated by commas.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from bench.plain import headline
from solvers import method as methods
from solvers.method import Method, OptionValue

# Where the suite's own methods are listed: each module has `names()` and `load(name)`, and imports
# a method only when it is loaded. Imported late: `--help` needs neither.
CATALOGUES = ["heuristics.catalogue", "solvers.catalogue"]
OWN_PACKAGES = ("solvers", "heuristics")
_ENTRY = re.compile(r"(?P<name>[^\[\]]+)(\[(?P<options>[^\[\]]*)\])?")


class EntryError(ValueError):
    """An entry that cannot be run; the message names it and the valid choices."""


@dataclass(frozen=True)
class Entry:
    """A method with all its options settled: one column of a comparison.

    Attributes
    ----------
    method : str
        Name of the method.
    label : str
        Canonical name with the options that were given, sorted: ``annealing[restarts=4]``.
    options : mapping of str to bool, int, float or str
        All options with their values.
    file : str or None
        Absolute path of the file of a method that is not the suite's own.
    source : str
        SHA-256 of that file's content; empty for the suite's own methods. Modules that the file
        imports are not part of it.
    """

    method: str
    label: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    file: str | None = None
    source: str = ""


def names() -> list[str]:
    """Names of the suite's own methods, sorted."""
    return sorted({name for module in _catalogues() for name in module.names()})


def parse_entries(text: str) -> list[Entry]:
    """Read a comma list of entries; a repeated one counts once.

    Raises
    ------
    EntryError
        If the syntax is wrong, a method or option does not exist, or two files register the same
        name.
    """
    entries = distinct(each for part in split_list(text) for each in parse_entry(part))
    if not entries:
        raise EntryError(f"no entries given; the methods are {', '.join(names())}")
    return entries


def distinct(entries: Iterable[Entry]) -> list[Entry]:
    """Each entry once.

    Raises
    ------
    EntryError
        If two files register the same name: one would stand for both.
    """
    found: dict[str, Entry] = {}
    files: dict[str, str | None] = {}
    for entry in entries:
        first = files.setdefault(entry.method, entry.file)
        if first != entry.file:
            raise EntryError(
                f"{first or 'the suite'} and {entry.file or 'the suite'} both register"
                f" {entry.method!r}: rename one of them"
            )
        found[entry.label] = entry
    return list(found.values())


def parse_entry(text: str) -> list[Entry]:
    """Read one entry; a file gives one for each method that it registers, in its order.

    Raises
    ------
    EntryError
        If the syntax is wrong, the method, file or option does not exist, or the file takes the
        name of one of the suite's methods.
    """
    match = _ENTRY.fullmatch(text.strip())
    if match is None:
        raise EntryError(f"entry {text!r} is not of the form name[option=value,...]")
    name, given = match["name"].strip(), _given(match["options"] or "", text)
    if name.endswith(".py"):
        path = Path(name).expanduser().resolve()
        found, source = load_file(path)
        for taken in set(found) & set(names()):
            raise EntryError(f"{path}: {taken!r} is the name of one of the suite's methods")
        return [_entry(method, given, str(path), source) for method in found.values()]
    return [_entry(load_method(name), given)]


def load_method(name: str, file: str | None = None, source: str = "") -> Method:
    """Import what one method needs, no more.

    Raises
    ------
    EntryError
        If there is no such method, or its file cannot be loaded or is not that of digest `source`.
    """
    if file is not None:
        found, digest = load_file(Path(file))
        if source and digest != source:
            raise EntryError(f"{file}: has changed since the run was asked for")
        if name not in found:
            raise EntryError(f"{file}: registers no method {name!r}; it has {', '.join(found)}")
        return found[name]
    for module in _catalogues():
        if name in module.names():
            loaded: Method = module.load(name)
            return loaded
    valid = names()
    raise EntryError(
        f"unknown entry {name!r}{_suggestion(name, valid)}; the methods are {', '.join(valid)}"
        " (or the path of a .py file)"
    )


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
        for name in found:
            del methods.REGISTRY[name]
        methods.REGISTRY.update(before)
    if not found:
        raise EntryError(f"{path}: registers no method; decorate one with `solvers.method.method`")
    return found, source


def split_list(text: str) -> list[str]:
    """Split at commas outside brackets.

    Raises
    ------
    EntryError
        If a bracket has no partner.
    """
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if depth not in (0, 1):
            break
        if letter == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += letter
    if depth:
        raise EntryError(f"unbalanced brackets in {text!r}")
    return [part.strip() for part in [*parts, current] if part.strip()]


def _given(text: str, entry: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals or not name:
            raise EntryError(f"entry {entry!r}: {part!r} is not of the form option=value")
        if name in given:
            raise EntryError(f"entry {entry!r}: option {name!r} is given twice")
        given[name] = value
    return given


def _entry(
    method: Method, given: Mapping[str, str], file: str | None = None, source: str = ""
) -> Entry:
    options: dict[str, Any] = {name: each.default for name, each in method.options.items()}
    for name, text in given.items():
        if name not in method.options:
            valid = ", ".join(method.options)
            has = f"its options are {valid}" if valid else "it has no options"
            hint = _suggestion(name, list(method.options))
            raise EntryError(f"entry {method.name!r}: unknown option {name!r}{hint}; {has}")
        try:
            options[name] = method.options[name].parse(text)
        except ValueError as error:
            raise EntryError(f"entry {method.name!r}: {error}") from None
    return Entry(method.name, label_of(method.name, options, given), options, file, source)


def label_of(method: str, options: Mapping[str, Any], shown: Iterable[str]) -> str:
    """Canonical label: the method with the options that are shown, ``annealing[cooling=0.9]``."""
    given = ",".join(f"{name}={_text(options[name])}" for name in sorted(shown))
    return f"{method}[{given}]" if given else method


def _text(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _suggestion(name: str, valid: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, valid, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _is_own(method: Method) -> bool:
    module: str = getattr(method.run, "__module__", None) or ""
    return module.split(".")[0] in OWN_PACKAGES


def _catalogues() -> list[ModuleType]:
    return [importlib.import_module(name) for name in CATALOGUES]
