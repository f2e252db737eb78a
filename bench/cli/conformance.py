"""``placebench conformance``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import to_builtins

from bench import presets
from bench.cli import DONE, FAILED, output, units
from bench.conformance.report import Report, conform

SHOWN = 3
TOLD = 10
"""Lines of progress of an entry where the standard error is no terminal."""


def run(targets: Sequence[str], time: str, jobs: int, folder: Path, json: bool) -> int:
    """Check every method of the targets; exit code 1 when a check failed."""
    limit = units.seconds(time)
    entries = presets.parse(targets)
    output.writable(folder)
    reports = []
    for entry in entries:

        def told(made: int, planned: int, label: str = entry.label) -> None:
            if sys.stderr.isatty():
                end = "\n" if made == planned else ""
                print(f"\r{label}: {made} of {planned} runs", end=end, file=sys.stderr, flush=True)
            elif made * TOLD // planned > (made - 1) * TOLD // planned:  # a line now and then
                print(f"{label}: {made} of {planned} runs", file=sys.stderr, flush=True)

        report = conform(
            entry, time_limit_s=limit, jobs=jobs, folder=folder / entry.method, done=told
        )
        reports.append(report)
        if not json:
            _show(report)
    if json:
        told_all = [{**to_builtins(each), "passed": each.passed} for each in reports]
        output.as_json(told_all)
    return DONE if all(each.passed for each in reports) else FAILED


def _show(report: Report) -> None:
    failed = {name: sum(f.check == name for f in report.faults) for name in report.checked}
    output.rows(
        {"check": "left", "checked": "right", "failed": "right", "": "left"},
        [
            [name, str(count), str(failed[name]), _verdict(count, failed[name])]
            for name, count in report.checked.items()
        ],
        title=f"{report.entry}: {report.runs} runs, {report.refused} refused",
    )
    if not report.runs:
        print(f"{report.entry} refuses everything: nothing was checked")
    for name, count in failed.items():
        faults = [fault for fault in report.faults if fault.check == name]
        for fault in faults[:SHOWN]:
            print(f"{name}: {fault.instance}: {fault.what}")
            print(f"  {fault.command}")
        if count > SHOWN:
            print(f"{name}: ... and {count - SHOWN} more (all of them with --json)")
    total = sum(report.checked.values())
    print(f"{report.entry}: {total} checks, {len(report.faults)} failed")


def _verdict(count: int, failed: int) -> str:
    if failed:
        return "FAILED"
    return "ok" if count else "nothing to check"
