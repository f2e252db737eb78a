"""Selections of instances: what ``-i`` takes.

Each text is one of

* a named selection of the library: ``quick``, ``default``, ``smoke``, ``full``;
* filters, all of which must hold: ``family=bert|gpt*,tier=small`` (shell-style globs) and
  comparisons of sizes and statistics, ``nodes>1000,ccr<=0.1``; what has no such number fails;
* an instance id or a glob over ids: ``bert-base:block/*/latency``;
* the path of a bundle file, in the library or not;
* several of these but filters, separated by commas (those in brackets belong to an id).

Several texts add up, in their order, each instance once. Hold-out instances come when they are
asked for: by the selection ``holdout``, a filter over ``split``, or their full id.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from problems.catalogue import CatalogueEntry, Library
from problems.files import FileError, require_file
from problems.instance import Instance
from problems.selections import HOLDOUT
from problems.statistics.features import NAMES

KEYS = ("family", "tier", "problem", "split", "platform", "graph", "level")
NUMBERS = ("nodes", "edges", "devices", "headroom", *NAMES)
_FILTER = re.compile(r"\s*([^<>=]*?)\s*(<=|>=|<|>|=)\s*(.*?)\s*")
_COMMA = re.compile(r",(?![^\[]*\])")
_ENDINGS = (".json", ".json.gz")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
}  # fmt: skip


class SelectionError(ValueError):
    """A selection that selects nothing or cannot be read; the message names the valid choices."""


@dataclass(frozen=True)
class Selected:
    """One selected instance: its catalogue entry, or the path of a bundle file."""

    entry: CatalogueEntry | None = None
    path: Path | None = None

    @property
    def name(self) -> str:
        """Id or path."""
        return self.entry.id if self.entry is not None else str(self.path)


def select(texts: Sequence[str], library: Library) -> list[Selected]:
    """Find the instances that `texts` ask for.

    Raises
    ------
    SelectionError
        On an unknown key, value, id, selection or file.
    """
    found: dict[str, Selected] = {}
    for text in texts:
        for part in _parts(text.strip(), library):
            for selected in _one(part, library):
                found.setdefault(selected.name, selected)
    return list(found.values())


def filter_entries(entries: Iterable[CatalogueEntry], text: str) -> list[CatalogueEntry]:
    """The entries that pass every filter of ``key=value|value,number>=value``.

    Raises
    ------
    SelectionError
        On a malformed filter, an unknown key, or a value that no entry has.
    """
    entries = list(entries)
    kept = entries
    by_split = False
    for part in text.split(","):
        match = _FILTER.fullmatch(part)
        if match is None or not match[3]:
            raise SelectionError(
                f"filter {part!r}: write key=value with a key of {', '.join(KEYS)}, or a"
                f" comparison (<, <=, >, >=, =) of {', '.join(NUMBERS)}"
            )
        key, sign, value = match.groups()
        by_split |= key == "split"
        if key in NUMBERS:
            kept = [entry for entry in kept if _holds(entry, key, sign, value)]
            continue
        if key not in KEYS:
            raise SelectionError(f"unknown filter key {key!r}{_close(key, (*KEYS, *NUMBERS), 40)}")
        if sign != "=":
            raise SelectionError(
                f"filter {part.strip()!r}: {key} is no number; write {key}=value, or compare one"
                f" of {', '.join(NUMBERS)}"
            )
        patterns = [pattern.strip() for pattern in value.split("|")]
        values = sorted({getattr(entry, key) for entry in entries})
        for pattern in patterns:
            if not any(fnmatchcase(each, pattern) for each in values):
                raise SelectionError(f"no instance has {key}={pattern}{_close(pattern, values)}")
        kept = [e for e in kept if any(fnmatchcase(getattr(e, key), p) for p in patterns)]
    if kept and not by_split:
        kept = _public(kept, text, "add split=holdout to the filter")
    if not kept:
        raise SelectionError(f"no instance passes all of {text!r}")
    return kept


def number(entry: CatalogueEntry, key: str) -> float | None:
    """The number that a filter calls `key`, one of :data:`NUMBERS`; None where there is none."""
    if key in NAMES:
        value: float | None = getattr(entry.features, key)
        return value
    return {
        "nodes": entry.n,
        "edges": entry.edges,
        "devices": entry.devices,
        "headroom": entry.headroom,
    }[key]


def _holds(entry: CatalogueEntry, key: str, sign: str, value: str) -> bool:
    try:
        limit = float(value)
    except ValueError:
        raise SelectionError(f"filter {key}{sign}{value}: {value!r} is no number") from None
    found = number(entry, key)
    return found is not None and _COMPARE[sign](found, limit)


def _public(found: list[CatalogueEntry], text: str, how: str) -> list[CatalogueEntry]:
    """What is not held out.

    Raises
    ------
    SelectionError
        If nothing is left.
    """
    kept = [entry for entry in found if entry.split != HOLDOUT]
    if not kept:
        raise SelectionError(f"{text!r} matches only hold-out instances; {how}")
    return kept


def _parts(text: str, library: Library) -> list[str]:
    """Names that a text lists; filters, which all have to hold, stay together.

    Raises
    ------
    SelectionError
        If a text has both: it would not be clear what the filters apply to.
    """
    parts = [part.strip() for part in _COMMA.split(text)]
    if len(parts) == 1 or Path(text).is_file():
        return [text]
    filters = [part for part in parts if _is_filter(part)]
    if not filters:
        return [part for part in parts if part]
    named = library.selections()
    names = [p for p in parts if p in named or "/" in p.partition("=")[0] or p.endswith(_ENDINGS)]
    if names:
        raise SelectionError(
            f"{text!r} has both names ({names[0]}) and filters ({filters[0]}): give each its own -i"
        )
    return [text]


def _is_filter(part: str) -> bool:
    match = _FILTER.fullmatch(part)
    return match is not None and "/" not in match[1]


def _one(text: str, library: Library) -> list[Selected]:
    if not text:
        raise SelectionError("an empty selection selects nothing")
    path = Path(text)
    if path.name.endswith(_ENDINGS):
        try:
            require_file(path, "a bundle")
        except FileError as error:
            raise SelectionError(str(error)) from None
        return [Selected(path=path)]
    entries = library.entries()
    by_id = {entry.id: entry for entry in entries}
    names = library.selections()
    if text in names:
        if unknown := [each for each in names[text] if each not in by_id]:
            raise SelectionError(
                f"selection {text!r} names {unknown[0]!r}, which the catalogue lacks:"
                " `make library`"
            )
        return [Selected(by_id[each]) for each in names[text]]
    if text in by_id:
        return [Selected(by_id[text])]
    # Ids have slashes, and their rules may have `=` in them.
    filters = any(sign in text for sign in "=<>")
    if "/" in text or (not filters and any(letter in text for letter in "*?")):
        matching = [entry for entry in entries if _matches(entry.id, text)]
        if not matching:
            raise SelectionError(
                f"unknown instance {text!r}{_close(text, by_id, otherwise='such as')}"
            )
        matching = _public(matching, text, "give their full ids, or the selection 'holdout'")
        return [Selected(entry) for entry in matching]
    if filters:
        return [Selected(entry) for entry in filter_entries(entries, text)]
    raise SelectionError(
        f"unknown selection {text!r}{_close(text, names)}; or filters over {', '.join(KEYS)}"
        " (family=bert,tier=small) and numbers (nodes>1000,ccr<0.1), an"
        " instance id, a glob over ids, a bundle file"
    )


def _matches(instance_id: str, pattern: str) -> bool:
    # The brackets of the rules are meant as they are, not as a set of characters.
    return fnmatchcase(instance_id, pattern.replace("[", "[[]"))


def _close(text: str, valid: Iterable[str], most: int = 12, otherwise: str = "valid are") -> str:
    valid = list(valid)
    close = difflib.get_close_matches(text, valid, 3, 0.5)
    if len(valid) > most:
        listed = f"{otherwise} {', '.join(map(str, close or valid[:3]))}, ..."
    else:
        listed = f"{otherwise} {', '.join(valid) or '(none)'}"
    return (f"; did you mean {close[0]!r}?" if close else "") + f" ({listed})"


def load(selected: Selected, library: Library) -> Instance:
    """Resolve a selected instance.

    Raises
    ------
    SelectionError
        If it is not what the catalogue says: a file of the library has changed since.
    """
    if selected.path is not None:
        return library.load_path(selected.path)
    instance = library.load(selected.name)
    if selected.entry is not None and instance.digest != selected.entry.digest:
        raise SelectionError(
            f"{selected.name}: its files have changed since the catalogue was made (digest"
            f" {instance.digest[:16]}, there {selected.entry.digest[:16]}): `make library`"
        )
    return instance
