"""``placebench compare``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench import compare_text
from bench.cli import DONE, FAILED, UsageError, output
from bench.compare_sides import CompareError
from bench.comparing import compare


def run(
    sides: Sequence[str],
    store: Path,
    records: Path | None,
    methods: Sequence[str],
    instances: Sequence[str],
    allow: Sequence[str],
    changes: int,
    json: bool,
) -> int:
    """Compare and print.

    Raises
    ------
    UsageError
        If the sides are not comparable; it says in what they differ.
    """
    if len(sides) < 2:
        raise UsageError("give two things to compare: entries, or files of records")
    try:
        report = compare(
            sides[0],
            *sides[1:],
            records=records,
            store=store,
            methods=methods,
            instances=instances,
            allow=[kind.strip() for text in allow for kind in text.split(",")],
        )
    except CompareError as error:
        raise UsageError(str(error)) from None
    output.faults(report.faults)
    if json:
        output.as_json(compare_text.plain(report))
    else:
        compare_text.show(report, output.console(), changes)
    return FAILED if report.faults or report.conflicts else DONE
