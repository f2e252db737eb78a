"""Named sets of entries: what ``-m`` takes besides entries."""

from __future__ import annotations

from collections.abc import Sequence

from bench import entries
from bench.entries import Entry

# One of each kind, for every problem; entries that refuse an instance are skipped on it.
DEFAULT = (
    "single", "random", "greedy", "annealing", "heft", "splitting", "portfolio",
    "dp", "prefix@highs", "assign@highs", "intervals", "slots",
)  # fmt: skip


def parse(texts: Sequence[str]) -> list[Entry]:
    """Read ``default``, ``all`` and comma lists of entries; each entry counts once.

    Raises
    ------
    EntryError
        If an entry or an option does not exist.
    """
    expanded: list[str] = []
    for text in texts:
        parts = entries.split_list(text)
        if not parts:
            raise entries.EntryError(f"no entries in {text!r}")
        for part in parts:
            if part == "all":
                expanded += [*entries.names(), *entries.installed()]
            else:
                expanded += DEFAULT if part == "default" else [part]
    return entries.parse_all(expanded)


def by_name(texts: Sequence[str]) -> list[Entry]:
    """The entries of :func:`parse` that are asked for by name, not with ``default`` or ``all``."""
    parts = [part for text in texts for part in entries.split_list(text)]
    return entries.distinct(
        each for p in parts if p not in ("default", "all") for each in entries.parse_entry(p)
    )
