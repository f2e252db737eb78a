"""The first page of the site: ranked tables, curves, every family and instance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bench import metrics
from bench.leaderboard import curves, names, words
from bench.leaderboard.board import Board, Section
from bench.leaderboard.templating import facts, page, script_safe

CHOICES = (
    (
        "share of instances solved",
        (
            ("best", "within a gap to the best known answer"),
            ("bound", "within a gap to the lower bound"),
            ("ratio", "within a ratio to the best entry shown here (Dolan and Moré)"),
        ),
    ),
    ("against time", (("anytime", "mean gap to the best known answer"),)),
    (
        "against the number of nodes",
        (
            ("scale-best", "gap to the best known answer"),
            ("scale-bound", "gap to the lower bound"),
            ("scale-time", "time of a run"),
        ),
    ),
)


def render(board: Board, anytime: Sequence[Mapping[str, Any]]) -> str:
    """The page; the same board gives the same bytes.

    Parameters
    ----------
    anytime : sequence of mapping
        By section: :func:`bench.leaderboard.curves.anytime`.
    """
    data = {
        f"section-{i}": {
            "kind": "section",
            "ecdf": curves.ecdf(section),
            "anytime": anytime[i],
            "scaling": curves.scaling(section),
        }
        for i, section in enumerate(board.sections)
    }
    kind = {"entry": ""}
    return page(
        "index.html.j2",
        board,
        "",
        plots=True,
        curves=script_safe(data),
        choices=CHOICES,
        machines=[facts(environment) for environment in board.environments],
        families=sorted({row.family for section in board.sections for row in section.rows}),
        by_family=[by_family(section) for section in board.sections],
        overview=[overview(section) for section in board.sections],
        ranked_columns=[
            (heading, kind.get(key, "number"), meaning)
            for key, (heading, meaning) in words.COLUMNS.items()
        ],
        anchors=anchors(board),
    )


def overview(section: Section) -> dict[str, Any]:
    """Who is first in a section, and whose interval of places overlaps with that one's."""
    first = [s for s in section.standings if s.place == 1]
    last = max((s.interval[1] for s in first if s.interval), default=0)
    rivals = [s for s in section.standings if s.place != 1 and s.interval and s.interval[0] <= last]
    return {
        "title": section.title,
        "what": words.OBJECTIVES.get(section.title.split(",")[0], ""),
        "instances": len(section.rows),
        "first": first,
        "judged": last > 0,
        "rivals": rivals,
        "gaps": [first[0].gap_best, first[0].gap_bound] if first else [math.inf, math.inf],
    }


def anchors(board: Board) -> dict[str, str]:
    """Entry -> anchor of its runs on the page of an instance."""
    entries = {s.entry for section in board.sections for s in section.standings}
    return {entry: names.entry_anchor(entry) for entry in sorted(entries)}


def by_family(section: Section) -> list[tuple[str, int, list[float]]]:
    """Family, its instances, and the gap to the best known of each entry, as the ranked table's.

    Shifted geometric means of the primal gap, in the order of the standings.
    """
    rows: dict[str, list[Any]] = {}
    for row in section.rows:
        rows.setdefault(row.family, []).append(row)
    return [
        (
            family,
            len(members),
            [
                metrics.shifted_geometric_mean(
                    [gap(row.cells[s.entry], "primal_gap") for row in members], metrics.GAP_SHIFT
                )
                for s in section.standings
            ],
        )
        for family, members in sorted(rows.items())
    ]


def gap(cell: Any, name: str) -> float:
    """A gap of a cell; 1 where the entry was not run."""
    return 1.0 if cell is None else float(getattr(cell, name))
