"""What a run costs beside the method: 1,000 runs of trivial methods, a study that makes its runs.

``python -m bench.overhead --jobs 2 --save`` writes the table. Its records go to a folder of its
own that is deleted: what is measured is not to be reused.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from bench import api, study
from bench.markdown import seconds, table
from bench.records import Record

SELECTION = "smoke"
ENTRIES = {"single": 1_000, "greedy": 100}
"""Runs of each entry, or a few more: as many seeds as it takes on all instances."""
LIMIT_S = 10.0


class Batch(NamedTuple):
    """The runs of one entry, and what they took together: seconds of the clock, and of all CPUs."""

    records: list[Record]
    elapsed_s: float
    cpu_s: float


def measure(entry: str, runs: int, jobs: int, store: Path) -> Batch:
    """Run an entry on the smoke instances under as many seeds as make up `runs`."""
    api.run(SELECTION, entry, store=store / "first", time_limit_s=LIMIT_S, jobs=jobs)  # compiles
    count = len(api.run(SELECTION, entry, store=store / "first", time_limit_s=LIMIT_S))
    seeds = range(-(-runs // count))
    with study.progress() as shown:
        clock, cpu = time.monotonic(), _cpu_s()
        made = api.run(
            SELECTION, entry, store=store / "runs", seeds=seeds, time_limit_s=LIMIT_S, jobs=jobs,
            progress=shown,
        )  # fmt: skip
        return Batch(made, time.monotonic() - clock, _cpu_s() - cpu)


def _cpu_s() -> float:
    """CPU seconds of this process, and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def rows(batches: dict[str, Batch]) -> pd.DataFrame:
    """One row an entry: medians in seconds, and what a run takes in all."""
    return pd.DataFrame(
        {
            "entry": entry,
            "runs": len(each.records),
            "ok": sum(record.check == "ok" for record in each.records),
            "load": _median(each.records, "load_s"),
            "warm-up": _median(each.records, "warm_s"),
            "run": _median(each.records, "wall_s"),
            "check": _median(each.records, "check_s"),
            "elapsed": each.elapsed_s,
            "a second": len(each.records) / each.elapsed_s,
            "CPU a run": each.cpu_s / len(each.records),
        }
        for entry, each in batches.items()
    )


def _median(records: list[Record], name: str) -> float:
    return float(pd.Series([getattr(each, name) for each in records]).median())


def markdown(found: pd.DataFrame, jobs: int) -> str:
    """The study as a page."""
    columns: dict[str, Any] = {
        "entry": str, "runs": "{:,}".format, "ok": "{:,}".format,
        **dict.fromkeys(("load", "warm-up", "run", "check", "elapsed"), seconds),
        "a second": "{:.2f}".format, "CPU a run": seconds,
    }  # fmt: skip
    lines = [
        "# What a run costs beside the method",
        "",
        f"Methods that take no time, on the instances of `{SELECTION}`, {jobs} runs at a time;"
        " compiled code was on file. Medians over the runs: `load` from the start of the process to"
        " the loaded instance and method, `warm-up` on the tiny instance, both before the clock"
        " starts; `run` on the clock; `check` by the checker. `elapsed` is for all runs, from the"
        " first start to the last record, with the calibrations before and after; `CPU a run` is"
        " that of all processes, the harness included.",
        "",
        *table(found, columns),
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs and print the table; with ``--save`` write it."""
    parser = argparse.ArgumentParser(prog="python -m bench.overhead", description=__doc__)
    parser.add_argument("--jobs", type=study.positive, default=2, metavar="N", help="default 2")
    text = "runs of every entry, or a few more (default: 1,000 of single, 100 of greedy)"
    parser.add_argument("--runs", type=study.positive, metavar="N", help=text)
    parser.add_argument("--save", action="store_true", help=f"write it to {study.STUDIES}")
    study.output(parser)
    given = parser.parse_args(arguments)
    batches = {}
    for entry, runs in ENTRIES.items():
        with tempfile.TemporaryDirectory() as folder:
            batches[entry] = measure(entry, given.runs or runs, given.jobs, Path(folder))
    found = rows(batches)
    study.publish(
        given,
        "overhead",
        {"md": markdown(found, given.jobs), "csv": study.comma_separated(found)},
    )
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
