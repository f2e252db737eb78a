"""The leaderboard as a folder of pages that need no network, and no script to be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plotly.offline import get_plotlyjs

from bench.leaderboard import (
    curves,
    entry_page,
    instance_page,
    latex,
    names,
    packed_runs,
    page,
    text,
)
from bench.leaderboard.board import Board
from bench.leaderboard.duels import Matrices
from bench.leaderboard.evidence import Evidence
from bench.leaderboard.templating import FOLDER
from problems.files import write_atomically

STATIC = ("site.css", "theme.js", "site.js", "plots.js")
TABLES = ("index.html", "leaderboard.md", "leaderboard.csv", "leaderboard.tex")


def files(board: Board, evidence: Evidence) -> Iterator[tuple[str, bytes]]:
    """Every file of the site: its place from the top, and its content, one after the other.

    The first page comes last: where it is there, what it links to is.
    """
    for name in STATIC:
        yield f"assets/{name}", (FOLDER / "static" / name).read_bytes()
    yield "assets/plotly.min.js", get_plotlyjs().encode()
    anchors = page.anchors(board)
    for i, section in enumerate(board.sections):
        for row in section.rows:
            content = instance_page.render(board, i, row, evidence, anchors)
            yield names.instance(row.instance, row.digest), content.encode()
            packed = packed_runs.pack(evidence.runs.get(row.digest, ()), evidence.store)
            yield names.runs(row.instance, row.digest), packed
    limit = board.conditions.time_limit_s
    anytime = [curves.anytime(section, evidence.runs, limit) for section in board.sections]
    matrices = [Matrices(section) for section in board.sections]
    any_run = {r.entry: r for runs in evidence.runs.values() for r in runs}
    for entry, anchor in anchors.items():
        if entry in any_run:
            content = entry_page.render(board, entry, any_run[entry], matrices, anytime, anchor)
            yield names.entry(entry), content.encode()
    yield "leaderboard.md", text.markdown(board).encode()
    yield "leaderboard.csv", text.comma_separated(board).encode()
    yield "leaderboard.tex", latex.tables(board).encode()
    yield "index.html", page.render(board, anytime).encode()


def write(folder: Path, board: Board, evidence: Evidence) -> None:
    """Write the site; pages of an earlier one that are no longer part of it are removed.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    written = set()
    for name, content in files(board, evidence):
        write_atomically(folder / name, content)
        written.add(folder / name)
    for each in names.FOLDERS:
        for path in (folder / each).glob("*"):
            if path not in written and names.is_slug(path.stem) and path.suffix in (".html", ".js"):
                path.unlink()
