"""``placebench leaderboard``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bench import bks
from bench.cli import DONE, FAILED, UsageError, output
from bench.leaderboard import gather, site, terminal, words
from bench.leaderboard.board import Board
from bench.leaderboard.evidence import Evidence, runs_of
from bench.leaderboard.gather import Known, Source
from bench.records import Store
from bench.wanted import Wanted
from problems.catalogue import Library
from problems.files import FileError


def run(
    texts: Sequence[str],
    store: Path,
    records: Path | None,
    folder: Path,
    publish: str | None,
    quiet: bool,
    json: bool,
) -> int:
    """Rank, write the site, print the table.

    Raises
    ------
    UsageError
        If there are no records, or the name to publish under is no file name.
    """
    if publish is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", publish):
        raise UsageError(f"cannot publish as {publish!r}: letters, digits, dots and dashes only")
    source = gather.from_store(store) if records is None else gather.from_file(records)
    output.writable(folder)
    library = Library()
    wanted = Wanted.of(texts, library)
    known = wanted.known(gather.Known.of(library.entries(), bks.load()))
    source = wanted.of_source(source)
    if not source.records:
        raise FileError(f"{source.name}: no records of {' '.join(texts)} there")
    source = wanted.checked(source)
    output.faults(source.faults)
    if not source.records:
        output.warn(f"placebench: {source.name}: no record is left to rank")
        return FAILED
    board = gather.board(source, known)
    write(board, source, known, wanted, folder)
    published = None if publish is None else gather.publish(source, publish, bks.RESULTS)
    code = FAILED if board.contradictions or source.faults else DONE
    if json:
        output.as_json(standings(board))
        return code
    if quiet:
        remarked(board)
    else:
        terminal.show(board, output.console())
    if published is not None:
        print(f"published: {published}")
    print(f"page: {folder / 'index.html'}  (also leaderboard.md, .csv, .tex)")
    return code


def remarked(board: Board) -> None:
    """Say what a reader of the tables must know, where no table is printed."""
    told = [f"in conflict, left out: {each}" for each in board.contradictions]
    for each in [*told, *board.remarks]:
        output.warn(f"placebench: {each}")


def write(board: Board, source: Source, known: Known, wanted: Wanted, folder: Path) -> None:
    """Write the site of a board into a folder."""
    behind = Evidence(
        runs_of(board, source.records), source.store, known.claims, Store(bks.RESULTS), wanted.find
    )
    site.write(folder, board, behind)


def standings(board: Board) -> list[dict[str, object]]:
    """The ranked tables as plain values."""
    return [
        {
            "section": section.title,
            "instances": len(section.rows),
            "conditions": board.conditions,
            "notes": words.notes(board),
            "standings": list(section.standings),
        }
        for section in board.sections
    ]
