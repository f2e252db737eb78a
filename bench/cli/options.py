"""Options that several commands share, or that would hide the command that has them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

# typer wants Optional and List spelled at run time on every Python that is supported.
Instances = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "-i",
        "--instances",
        metavar="SELECTION",
        help="Instances: a named selection (quick, default, full, ...), filters"
        " (family=bert,tier=tiny|small), an id or a glob over ids, a bundle file; repeatable.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
StoreFolder = Annotated[
    Path, typer.Option("--store", metavar="DIR", help="Where records are kept.")
]
Records = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--records", metavar="FILE", help="A published .jsonl file instead of a store."),
]
Submissions = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "--submissions",
        metavar="DIR",
        help="Rank checked submissions instead, a table for each track and one for the open"
        " division: results/submissions.",
    ),
]
Entries = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "-m",
        "--method",
        metavar="ENTRIES",
        help="Entries: 'heft,annealing[restarts=4],prefix@highs', default, all; the path of a .py"
        " file or of a program's .toml; exec:COMMAND; repeatable.",
    ),
]
Jobs = Annotated[
    int,
    typer.Option("--jobs", metavar="N", min=1, max=1024, help="Runs at the same time."),
]
WarmTime = Annotated[
    str,
    typer.Option(
        "--warm-time", metavar="TIME", help="Limit of imports and warm-up, before the clock starts."
    ),
]
Cluster = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run on the workers of a Dask scheduler, tcp://HOST:8786 (extra: cluster).",
    ),
]
Memory = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--memory", metavar="SIZE", help="Memory limit of a run: 4GB, 512MiB."),
]
Sides = Annotated[
    list[str],
    typer.Argument(
        metavar="A B...",
        help="Entries; or .jsonl files or stores, of which the same entries are compared; or"
        " FILE::ENTRY. The first is compared with each other one.",
    ),
]
Compared = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "-m",
        "--method",
        metavar="ENTRY",
        help="An entry that is compared where A and B are files; repeatable. Default: all"
        " that both have.",
    ),
]
Allowed = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--allow",
        metavar="KINDS",
        help="What may differ between the sides: time-limit, threads, memory-limit, machine,"
        " digests (instances are then matched by id); comma-separated or repeated.",
    ),
]
