"""Entries: which methods run, with which options, as the command line writes them.

``heft``, ``annealing[restarts=4]``, ``prefix@highs``; ``my_file.py``, ``my_file.py:one-of-it``;
``my_program.toml``; several separated by commas. From ``exec:`` on, the rest is a command line.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from bench import external, packages
from bench.method_files import EntryError, absolute, load_file
from solvers.method import Method, OptionValue

__all__ = ["Entry", "EntryError", "load_file", "load_method", "parse_entries", "parse_entry"]

# Where the suite's own methods are listed: each module has `names()` and `load(name)`, and imports
# a method only when it is loaded. Imported late: `--help` needs neither.
CATALOGUES = ["heuristics.catalogue", "solvers.catalogue"]
_ENTRY = re.compile(r"(?P<name>[^\[\]]+)(\[(?P<options>[^\[\]]*)\])?")
_FILE = re.compile(r"(?P<path>.+\.py)(:(?P<one>[^/:]+))?")


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
        Where a method is found that is neither the suite's own nor a package's: the absolute path
        of a ``.py`` or ``.toml`` file, or ``exec:COMMAND``.
    source : str
        What it is made of; empty for the suite's own methods. SHA-256 of the content of a file, of
        a command with the files that it names; after the distribution and its version for the
        method of a package, after name and version for a program that states one. What any of
        these import or call besides is not part of it.
    """

    method: str
    label: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    file: str | None = None
    source: str = ""


def names() -> list[str]:
    """Names of the suite's own methods, sorted."""
    return sorted({name for module in _catalogues() for name in module.names()})


def installed() -> list[str]:
    """Names that installed packages add, sorted; those that the suite uses itself are left out."""
    return [name for name in packages.offers() if name not in set(names())]


def parse_entries(text: str) -> list[Entry]:
    """Read a comma list of entries; a repeated one counts once.

    Raises
    ------
    EntryError
        If the syntax is wrong, a method or option does not exist, or two files register the same
        name.
    """
    return parse_all(split_list(text))


def parse_all(parts: Iterable[str]) -> list[Entry]:
    """Read entries, each a text of its own; see :func:`parse_entries`."""
    entries = distinct(each for part in parts for each in parse_entry(part))
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
    if text.strip().startswith(external.PREFIX):
        return [_program(text.strip(), {})]
    match = _ENTRY.fullmatch(text.strip())
    if _is_file(text):
        match = re.fullmatch(r"(?P<name>.+)(?P<options>)", text.strip(), re.DOTALL)
    if match is None:
        raise EntryError(f"entry {text!r} is not of the form name[option=value,...]")
    name, given = match["name"].strip(), _given(match["options"] or "", text)
    if external.is_program(name):
        return [_program(name, given)]
    if file := _FILE.fullmatch(name):
        path = absolute(Path(file["path"]))
        found, source = load_file(path)
        _refuse_taken(found, str(path))
        chosen = [_one_of(found, file["one"], path)] if file["one"] else list(found.values())
        return [_entry(method, given, str(path), source) for method in chosen]
    method, source = _by_name(name)
    return [_entry(method, given if packages.usable(method) else {}, None, source)]


def load_method(name: str, file: str | None = None, source: str = "") -> Method:
    """Import what one method needs, no more.

    Parameters
    ----------
    file, source : str, optional
        As in :class:`Entry`.

    Raises
    ------
    EntryError
        If there is no such method, or its file cannot be loaded, or it is not that of `source`.
    """
    if file is not None and external.is_program(file):
        method, digest = external.load(file)
        _refuse_changed(file, digest, source)
        return method
    if file is not None:
        found, digest = load_file(Path(file))
        _refuse_changed(file, digest, source)
        return _one_of(found, name, Path(file))
    method, digest = _by_name(name)
    _refuse_changed(digest.rpartition(" ")[0], digest, source)
    return method


def split_list(text: str) -> list[str]:
    """Split at commas outside brackets; what begins with ``exec:`` goes to the end.

    Raises
    ------
    EntryError
        If a bracket has no partner.
    """
    if _is_file(text):  # whatever its name has in it
        return [text.strip()]
    parts, depth, current = [], 0, ""
    for i, letter in enumerate(text):
        if depth == 0 and not current.strip() and text.startswith(external.PREFIX, i):
            current = text[i:]
            break
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


def _is_file(text: str) -> bool:
    """Whether a text is the path of a method's file as it stands."""
    path = Path(text.strip()).expanduser()
    try:
        return path.suffix in (".py", ".toml") and path.is_file()
    except (OSError, ValueError):  # too long, or a zero byte
        return False


def _by_name(name: str) -> tuple[Method, str]:
    """One of the suite's methods, or of a package's; with its source."""
    for module in _catalogues():
        if name in module.names():
            return module.load(name), ""
    if name in packages.offers():
        return packages.load(name)
    valid = [*names(), *installed()]
    if Path(name).is_file():
        raise EntryError(
            f"{name!r} is a file, but neither a .py nor a .toml one; a program is given as"
            f" 'exec:{name} {{instance}} {{seconds}} {{seed}}'"
        )
    if Path(name).expanduser().is_dir():
        raise EntryError(f"{name!r} is a folder: give a .py or .toml file in it")
    raise EntryError(
        f"unknown entry {name!r}{_suggestion(name, valid)}; the methods are {', '.join(valid)}"
        " (or the path of a .py file, or exec:PROGRAM)"
    )


def _program(text: str, given: Mapping[str, str]) -> Entry:
    locator = external.locate(text)
    method, source = external.load(locator)
    _refuse_taken([method.name], text)
    return _entry(method, given, locator, source)


def _one_of(found: Mapping[str, Method], name: str, path: Path) -> Method:
    if name not in found:
        hint = _suggestion(name, list(found))
        raise EntryError(f"{path}: registers no method {name!r}; it has {', '.join(found)}{hint}")
    return found[name]


def _refuse_taken(found: Iterable[str], where: str) -> None:
    for taken in sorted(set(found) & set(names())):
        raise EntryError(f"{where}: {taken!r} is the name of one of the suite's methods")


def _refuse_changed(where: str, digest: str, asked: str) -> None:
    """The process of a run must not run another program than the one that was asked for."""
    if asked and digest != asked:
        raise EntryError(f"{where}: has changed since the run was asked for")


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
            if file is not None and file.endswith(".py"):
                has += f" (to choose one method of a file: {Path(file).name}:{method.name}[...])"
            raise EntryError(f"entry {method.name!r}: unknown option {name!r}{hint}; {has}")
        try:
            options[name] = method.options[name].parse(text)
        except ValueError as error:
            raise EntryError(f"entry {method.name!r}: {error}") from None
    reason = method.clash(options)
    if reason is not None:
        raise EntryError(f"entry {method.name!r}: {reason}")
    return Entry(method.name, label_of(method.name, options, given), options, file, source)


def label_of(method: str, options: Mapping[str, Any], shown: Iterable[str]) -> str:
    """Canonical label: the method with the options that are shown, ``annealing[cooling=0.9]``."""
    given = ",".join(f"{name}={_text(options[name])}" for name in sorted(shown))
    return f"{method}[{given}]" if given else method


def _text(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _suggestion(name: str, valid: Sequence[str]) -> str:
    # Two letters in the wrong order, before what difflib finds: 'hetf' is nearer 'etf' to it.
    close = [each for each in valid if sorted(each) == sorted(name)]
    close = close or difflib.get_close_matches(name, valid, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _catalogues() -> list[ModuleType]:
    return [importlib.import_module(name) for name in CATALOGUES]
