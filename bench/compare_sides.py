"""What ``placebench compare A B`` compares: entries of one source, or sources of records."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.leaderboard.gather import Source
from bench.records import Record

MARK = "::"  # between a file and an entry, as pytest has it between a file and a test


class CompareError(ValueError):
    """A comparison that cannot be made as it was asked for; the message says what would do."""


@dataclass(frozen=True)
class Side:
    """One entry of one source.

    Attributes
    ----------
    label : str
        How tables call it.
    records : sequence of Record
        Its runs, all of that entry.
    environments : mapping of str to dict
        Descriptions of machines by digest.
    """

    label: str
    entry: str
    records: Sequence[Record]
    environments: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Asked:
    """One of the texts A, B, ...: a place, an entry, or both."""

    place: Path | None
    entry: str | None


def asked(text: str) -> Asked:
    """Read ``ENTRY``, ``FILE``, ``FOLDER`` or ``FILE::ENTRY``.

    What ends in ``.jsonl``, is a path that exists, or stands before ``::`` is a place.
    """
    before, mark, entry = text.partition(MARK)
    if mark:
        # A folder's name may hold the mark as well: the first part that is a place is the place.
        parts = text.split(MARK)
        for count in range(1, len(parts)):
            place = Path(MARK.join(parts[:count]))
            if place.exists():
                return Asked(place, MARK.join(parts[count:]))
        if not Path(text).exists():
            return Asked(Path(before), entry)
        before = text
    if before.endswith(".jsonl") or Path(before).exists():
        return Asked(Path(before), None)
    return Asked(None, before)


def pairs(
    texts: Sequence[Asked],
    sources: Mapping[Path, Source],
    default: Source | None,
    methods: Sequence[str] = (),
) -> list[tuple[Side, Side]]:
    """Pairs to compare: the first of `texts` with each other one.

    Parameters
    ----------
    sources : mapping of Path to Source
        Of every place that `texts` name.
    default : Source or None
        Of entries without a place.
    methods : sequence of str
        Entries that are compared where only places are named; by default all in both.

    Raises
    ------
    CompareError
        If there is nothing to compare with, or an entry has no records.
    """
    if len(texts) < 2:
        raise CompareError("give at least two: entries, or files of records")
    named = [each.entry is not None for each in texts]
    if any(named) and not all(named):
        bare = next(each.place for each in texts if each.entry is None)
        raise CompareError(f"say which entry of {bare}: {bare}{MARK}ENTRY")
    if all(named):
        if methods:
            raise CompareError("-m chooses entries of files that are compared whole")
        sides = [_side(each, sources, default) for each in texts]
        return [(sides[0], other) for other in sides[1:]]
    found = []
    places = [each.place for each in texts if each.place is not None]
    if len(set(places)) < len(places):
        raise CompareError(f"{places[0]} is compared with itself; name entries: FILE{MARK}ENTRY")
    for other in places[1:]:
        both = _entries(sources[places[0]]) & _entries(sources[other])
        for name in methods or sorted(both):
            first = _side(Asked(places[0], name), sources, None)
            found.append((first, _side(Asked(other, name), sources, None)))
        if not both and not methods:
            raise CompareError(
                f"{places[0]} and {other} have no entry in common"
                f" ({_list(_entries(sources[places[0]]))}; {_list(_entries(sources[other]))}):"
                f" name one of each, FILE{MARK}ENTRY"
            )
    return found


def _side(each: Asked, sources: Mapping[Path, Source], default: Source | None) -> Side:
    assert each.entry is not None
    source = default if each.place is None else sources[each.place]
    if source is None:
        raise CompareError(f"{each.entry}: no records are given to find it in")
    records = [record for record in source.records if record.entry == each.entry]
    if not records:
        valid = _entries(source)
        close = difflib.get_close_matches(each.entry, valid, 1, 0.5)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise CompareError(
            f"{source.name} has no records of {each.entry!r}{hint} (there are {_list(valid)})"
        )
    label = each.entry if each.place is None else f"{each.place}{MARK}{each.entry}"
    return Side(label, each.entry, records, source.environments)


def _entries(source: Source) -> set[str]:
    return {record.entry for record in source.records}


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"
