"""Selections of instances: what ``-i`` takes.

Each text is one of

* a named selection of the library: ``default``, ``smoke``, ``full``;
* filters, all of which must hold: ``family=bert|gpt*,tier=small`` (shell-style globs);
* an instance id or a glob over ids: ``bert-base:block/*/latency``;
* the path of a bundle file, in the library or not.

Several texts add up, in their order, each instance once.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from problems.catalogue import CatalogueEntry, Library
from problems.instance import Instance

KEYS = ("family", "tier", "problem", "split", "platform", "graph", "level")


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
        for selected in _one(text.strip(), library):
            found.setdefault(selected.name, selected)
    return list(found.values())


def filter_entries(entries: Iterable[CatalogueEntry], text: str) -> list[CatalogueEntry]:
    """The entries that pass every filter of ``key=value|value,key=value``.

    Raises
    ------
    SelectionError
        On a malformed filter, an unknown key, or a value that no entry has.
    """
    entries = list(entries)
    kept = entries
    for part in text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            valid = ", ".join(KEYS)
            raise SelectionError(f"filter {part!r}: write key=value with a key of {valid}")
        if key not in KEYS:
            raise SelectionError(f"unknown filter key {key!r}{_close(key, KEYS)}")
        patterns = [pattern.strip() for pattern in value.split("|")]
        values = sorted({getattr(entry, key) for entry in entries})
        for pattern in patterns:
            if not any(fnmatchcase(each, pattern) for each in values):
                raise SelectionError(f"no instance has {key}={pattern}{_close(pattern, values)}")
        kept = [e for e in kept if any(fnmatchcase(getattr(e, key), p) for p in patterns)]
    if not kept:
        raise SelectionError(f"no instance passes all of {text!r}")
    return kept


def _one(text: str, library: Library) -> list[Selected]:
    if not text:
        raise SelectionError("an empty selection selects nothing")
    path = Path(text)
    if path.name.endswith((".json", ".json.gz")):
        if not path.is_file():
            raise SelectionError(f"no file {text!r}")
        return [Selected(path=path)]
    entries = library.entries()
    by_id = {entry.id: entry for entry in entries}
    names = library.selections()
    if text in names:
        return [Selected(by_id[each]) for each in names[text]]
    if text in by_id:
        return [Selected(by_id[text])]
    # Ids have slashes, and their rules may have `=` in them.
    if "/" in text or ("=" not in text and any(letter in text for letter in "*?")):
        matching = [entry for entry in entries if _matches(entry.id, text)]
        if not matching:
            raise SelectionError(f"unknown instance {text!r}{_close(text, by_id, 'such as')}")
        return [Selected(entry) for entry in matching]
    if "=" in text:
        return [Selected(entry) for entry in filter_entries(entries, text)]
    raise SelectionError(
        f"unknown selection {text!r}{_close(text, names)}; or filters over {', '.join(KEYS)}"
        " (family=bert,tier=small), an instance id, a glob over ids, a bundle file"
    )


def _matches(instance_id: str, pattern: str) -> bool:
    # The brackets of the rules are meant as they are, not as a set of characters.
    return fnmatchcase(instance_id, pattern.replace("[", "[[]"))


def _close(text: str, valid: Iterable[str], otherwise: str = "valid are") -> str:
    valid = list(valid)
    close = difflib.get_close_matches(text, valid, 3, 0.5)
    if len(valid) > 12:
        listed = f"{otherwise} {', '.join(map(str, close or valid[:3]))}, ..."
    else:
        listed = f"{otherwise} {', '.join(valid) or '(none)'}"
    return (f"; did you mean {close[0]!r}?" if close else "") + f" ({listed})"


def load(selected: Selected, library: Library) -> Instance:
    """Resolve a selected instance."""
    if selected.path is not None:
        return library.load_path(selected.path)
    return library.load(selected.name)
