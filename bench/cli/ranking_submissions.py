"""``placebench leaderboard --submissions``: the published leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench import bks
from bench.cli import DONE, FAILED, UsageError, output, ranking
from bench.leaderboard import gather, terminal
from bench.submissions.checking import Shared
from bench.submissions.ranked import tables
from bench.submissions.tracks import TRACKS
from bench.wanted import Wanted
from problems.files import FileError

MAIN = TRACKS[0].name
"""The table that goes into the folder itself; each other one into a folder of its name."""


def run(
    texts: Sequence[str],
    submissions: Path,
    folder: Path,
    given: Mapping[str, object],
    quiet: bool,
    json: bool,
) -> int:
    """Check all submissions, rank those that pass, write the pages, print the tables.

    Parameters
    ----------
    given : mapping of str to object
        Options that have no place beside ``--submissions``; None where they were not given.

    Raises
    ------
    UsageError
        If one of them was given.
    FileError
        If there are no submissions, or none of the instances that `texts` select.
    """
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"{option} and --submissions: one or the other")
    output.writable(folder)
    shared = Shared(root=submissions)
    wanted = Wanted.of(texts, shared.library)
    ranked, faults = tables(shared)
    output.faults(faults)
    known = gather.Known.of(shared.library.entries(), bks.load())
    said: list[object] = []
    contradicted = False
    shown = 0
    for table in ranked:
        source = wanted.of_source(table.source)
        if not source.records:
            continue
        shown += 1
        board = gather.board(source, known, table.open)
        board = replace(board, remarks=[*board.remarks, *source.faults])
        contradicted |= bool(board.contradictions)
        place = folder if table.name == MAIN else folder / table.name
        ranking.write(board, source, known, wanted, place)
        if json:
            said += [{"table": table.name, **each} for each in ranking.standings(board)]
            continue
        if quiet:
            ranking.remarked(board)
        else:
            terminal.show(board, output.console())
        print(f"{table.name}: {place / 'index.html'}  (also leaderboard.md, .csv, .tex)")
    if not shown and not faults:
        raise FileError(f"{submissions}: nothing to rank there")
    if json:
        output.as_json(said)
    return FAILED if faults or contradicted else DONE
