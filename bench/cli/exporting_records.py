"""``placebench export records``: the records of a store or a published file as one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from bench.cli import DONE, FAILED, UsageError


def records(
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="FILE.parquet, FILE.csv, FILE.jsonl; - prints CSV.",
        ),
    ],
    store: Annotated[
        Path, typer.Option("--store", metavar="DIR", help="Where records are kept.")
    ] = Path("results/runs"),
    published: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--records", metavar="FILE", help="A published .jsonl file instead."),
    ] = None,
) -> int:
    """Records as Parquet, CSV or JSON lines, one row a run, with gaps to bound and best known.

    The records are taken as they stand; `placebench leaderboard` checks their answers again.
    """
    from bench import bks, table
    from bench.cli.exporting import keep_sources
    from bench.cli.output import faults
    from bench.leaderboard import gather
    from problems.catalogue import Library

    printed = str(output) == "-"
    if not printed and output.suffix not in table.WRITERS:
        raise UsageError(
            f"{output}: the name must end in {', '.join(table.WRITERS)} (- prints CSV)"
        )
    source = gather.from_store(store) if published is None else gather.from_file(published)
    if not printed:
        keep_sources(output, *([] if published is None else [published]))
    faults(source.faults)
    known = None
    if output.suffix != ".jsonl":
        facts = gather.Known.of(Library().entries(), bks.load())
        known = facts.headlines(source.records)
    if printed:
        print(table.WRITERS[".csv"](list(source.records), known).decode(), end="")
        return FAILED if source.faults else DONE
    table.write(output, source.records, known)
    count = len(source.records)
    print(f"{output}: {count} record{'s' if count != 1 else ''}")
    return FAILED if source.faults else DONE
