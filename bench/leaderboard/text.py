"""The leaderboard as Markdown for a repository and as CSV for papers."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from bench.leaderboard import words
from bench.leaderboard.board import Board


def markdown(board: Board) -> str:
    """Ranked tables, the table of instances, and what the columns mean."""
    lines = ["# Leaderboard", "", words.header(board) + ".", ""]
    lines += [f"* {each}." for each in words.machines(board)]
    lines += [f"* {note}" for note in words.notes(board)]
    for section in board.sections:
        total = len(section.rows)
        lines += ["", f"## {section.title} ({total} instances)", ""]
        heads = [heading for heading, _ in words.COLUMNS.values()]
        rows = []
        for s in section.standings:
            place, entry, *rest = words.ranked(s, total)
            rows.append([place, f"`{entry}`", *rest])
        lines += _table(heads, rows)
        lines += ["", "Gap of each entry to the best known answer:", ""]
        names = [s.entry for s in section.standings]
        heads = ["instance", "nodes", "devices", "bound", "best known", "status", *names]
        rows = [
            [
                row.instance,
                str(row.n or "-"),
                str(row.devices or "-"),
                words.bound(row),
                words.seconds(row.known.objective),
                words.status(row),
                *(words.cell(row.cells[name]) for name in names),
            ]
            for row in section.rows
        ]
        lines += _table(heads, rows)
    lines += ["", "## What the columns mean", ""]
    lines += [f"* **{heading}**: {meaning}" for heading, meaning in words.COLUMNS.values()]
    return "\n".join(lines) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [line(heads), line(["---"] * len(heads)), *map(line, rows)]


def comma_separated(board: Board) -> str:
    """One line an instance and entry, full precision, times in seconds."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["section", "instance", "digest", "family", "nodes", "devices", "bound_s", "bound_kind",
         "best_known_s", "status", "entry", "objective_s", "gap_bound", "gap_best",
         "runs", "answered", "reason"]
    )  # fmt: skip
    for section in board.sections:
        for row in section.rows:
            for entry, cell in row.cells.items():
                if cell is None:
                    continue
                writer.writerow(
                    [section.title, row.instance, row.digest, row.family, row.n, row.devices,
                     row.known.bound, row.known.bound_kind, row.known.objective,
                     words.status(row), entry,
                     cell.objective, cell.gap_bound, cell.gap_best, cell.runs, cell.answered,
                     cell.reason]
                )  # fmt: skip
    return out.getvalue()
