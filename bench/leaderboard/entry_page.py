"""The page of one entry: its method, and how it did, section by section."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench import entries
from bench.leaderboard import curves
from bench.leaderboard.board import Board, Section
from bench.leaderboard.duels import Matrices
from bench.leaderboard.templating import page, script_safe
from bench.records import Record

NUMBER = "number"
BESIDE = 5  # best ranked entries that are drawn beside the one of the page
FAMILY_COLUMNS = (
    ("family", "", ""),
    ("instances", NUMBER, ""),
    ("answered", NUMBER, "Instances with a valid answer under every seed."),
    ("gap to best", NUMBER, "Shifted geometric mean of the primal gap."),
    ("gap to bound", NUMBER, "Shifted geometric mean."),
    ("first", NUMBER, "Instances on which no other entry has a smaller gap."),
)
DUEL_COLUMNS = (("other", "", ""), *((each, NUMBER, "") for each in ("better", "tied", "worse")))
INSTANCE_COLUMNS = (
    ("instance", "", ""),
    ("family", "", ""),
    ("nodes", NUMBER, ""),
    ("objective", NUMBER, "Mean over the valid answers."),
    ("gap to best", NUMBER, "(z - z*) / z*"),
    ("gap to bound", NUMBER, "(z - b) / z"),
    ("place", NUMBER, "Among the entries of the section; ties share the mean of their places."),
    ("mean time", NUMBER, ""),
)


@dataclass(frozen=True)
class Card:
    """What is known of a method: from the registry, or from its records alone.

    Attributes
    ----------
    options : list of (name, value in these runs, default, valid values)
    """

    summary: str
    facts: Sequence[tuple[str, str]]
    text: str = ""
    options: Sequence[tuple[str, str, str, str]] = field(default_factory=tuple)


def card(record: Record) -> Card:
    """The card of the method of a record.

    A method that is not the suite's own is not loaded: its file may be anything by now.
    """
    facts = [("method", record.method)]
    used = {name: _text(value) for name, value in sorted(record.options.items())}
    own = not record.source and record.method in entries.names()
    if own:
        try:
            method = entries.load_method(record.method)
        except (ImportError, entries.EntryError) as error:
            facts.append(("not to be loaded here", str(error).splitlines()[0]))
            own = False
    if not own:
        facts += [("source", record.source)] if record.source else []
        options = [(name, value, "", "") for name, value in used.items()]
        return Card("Not a method of this suite." if record.source else "", facts, "", options)
    facts += [
        ("kind", method.kind),
        ("problems", ", ".join(method.problems)),
        ("published in", method.source),
    ]
    if method.needs:
        facts.append(("needs", ", ".join(method.needs)))
    said = inspect.getdoc(method.run) or ""
    return Card(
        method.summary,
        facts,
        said.partition("\n")[2].strip(),
        [
            (name, used.get(name, _text(option.default)), _text(option.default), option.valid)
            for name, option in method.options.items()
        ],
    )


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) or "''"


def render(
    board: Board,
    entry: str,
    record: Record,
    matrices: Sequence[Matrices],
    anytime: Sequence[Mapping[str, Any]],
    anchor: str,
) -> str:
    """The page of one entry.

    Parameters
    ----------
    record : Record
        Any of its runs.
    matrices, anytime : sequences
        By section: its cells, and :func:`bench.leaderboard.curves.anytime` of it.
    anchor : str
        Of its runs on the pages of instances.
    """
    parts, plots = [], {}
    for i, section in enumerate(board.sections):
        standing = next((s for s in section.standings if s.entry == entry), None)
        if standing is None:
            continue
        j = matrices[i].entries.index(entry)
        place = matrices[i].places[:, j]
        parts.append(
            {
                "title": section.title,
                "anchor": f"p{i}",
                "section_anchor": f"s{i}",
                "standing": standing,
                "entries": len(section.standings),
                "families": matrices[i].families(entry),
                "duels": matrices[i].duels(entry),
                "rows": [(row, row.cells[entry], place[k]) for k, row in enumerate(section.rows)],
            }
        )
        plots[f"p{i}"] = _beside(section, entry, anytime[i])
    return page(
        "entry.html.j2",
        board,
        "../",
        plots=True,
        entry=entry,
        anchor=anchor,
        card=card(record),
        parts=parts,
        family_columns=FAMILY_COLUMNS,
        duel_columns=DUEL_COLUMNS,
        instance_columns=INSTANCE_COLUMNS,
        plots_data=script_safe(plots),
    )


def _beside(section: Section, entry: str, anytime: Mapping[str, Any]) -> dict[str, Any]:
    """The curve of an entry, and of the best ranked ones."""
    best = {s.entry for s in section.standings[:BESIDE]} | {entry}
    chosen = [c for c in anytime["curves"] if c["name"] in best]
    shown = [
        {**c, **curves.look(i), "width": 4 if c["name"] == entry else 1.5}
        for i, c in enumerate(chosen)
    ]
    return {"kind": "anytime", "t": anytime["t"], "curves": shown}
