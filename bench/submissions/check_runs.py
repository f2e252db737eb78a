"""Checks of how runs went and where: limits held, times that can be, a machine that is told."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from bench.leaderboard.gather import NOISY
from bench.records import Record
from bench.submissions.check_records import told
from bench.submissions.checking import Case, Found, check, day
from problems.files import FileError

GRACE_S = 3.0
"""The harness ends every run 1 s after its limit; the rest is for what takes long to die."""
MACHINE = ("cpu", "memory_bytes", "os", "python", "packages")


@check("no run went on after its limit", "runs")
def overrun(case: Case, found: Found) -> None:
    """Hold every clock of a run against its limit; what counts was received within it."""
    for record in case.records:
        found.looked += 1
        limit = record.time_limit_s
        over = max(record.overrun_s, record.wall_s - limit)
        if over > GRACE_S:
            found.error(f"{told(record)}: {over:.3g} s over its limit of {limit:g} s")
        late = [t for t, _ in [*record.trace, *record.bounds] if t > limit]
        if late:
            found.error(f"{told(record)}: reports counted at {max(late):.6g} s, limit {limit:g} s")


@check("times and improvements can have been", "runs")
def times(case: Case, found: Found) -> None:
    """See that times are none below 0, that a trace improves, and ends at no worse than it says."""
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date()
    for record in case.records:
        found.looked += 1
        for why in _impossible(record):
            found.error(f"{told(record)}: {why}")
        when = day(record.date)
        if when is None or when > tomorrow:
            found.error(f"{told(record)}: its date is {record.date!r}")


def _impossible(record: Record) -> list[str]:
    """What cannot be in the times and the trace of a record."""
    wrong = []
    spans = ("load_s", "warm_s", "build_s", "solve_s", "wall_s", "cpu_s", "check_s", "overrun_s")
    for name in spans:
        value = getattr(record, name)
        if value is not None and not (math.isfinite(value) and value >= 0):
            wrong.append(f"{name} is {value}")
    if not (math.isfinite(record.time_limit_s) and record.time_limit_s > 0):
        wrong.append(f"its limit is {record.time_limit_s} s")
    for what, points in (("trace", record.trace), ("bounds", record.bounds)):
        clock = [t for t, _ in points]
        if any(not (math.isfinite(t) and t >= 0) for t in clock) or clock != sorted(clock):
            wrong.append(f"the times of its {what} do not follow one another from 0 on")
    values = [z for _, z in record.trace]
    if any(not later < before for before, later in pairwise(values)):
        wrong.append("its trace does not improve")
    z = record.objective
    if values and z is not None and values[-1] > z * (1 + 1e-9):
        wrong.append(f"its trace ends at {values[-1]!r}, above its objective {z!r}")
    return wrong


@check("the machine of every run is told", "submission", "runs")
def environment(case: Case, found: Found) -> None:
    """Read the environments that records name."""
    names = {record.environment for record in case.records}
    for name in sorted(names):
        found.looked += 1
        try:
            said = case.folder.get_environment(name)
        except (FileError, OSError) as error:
            found.error(f"environment {name[:16] or '(none)'}: {error}")
            continue
        for what in MACHINE:
            if not said.get(what):
                found.error(f"environment {name[:16]}: no {what}")
        if not (said.get("cores") or said.get("threads")):
            found.error(f"environment {name[:16]}: no cores")
        if said.get("suite") != case.about.suite:
            found.error(
                f"environment {name[:16]}: suite {said.get('suite')!r}, stated {case.about.suite!r}"
            )
        if said.get("git_dirty"):
            found.warn(f"environment {name[:16]}: the checkout had changes that no commit has")


@check("how noisy the machine was is told", "runs")
def calibration(case: Case, found: Found) -> None:
    """Compare the fixed computation before and after the batches."""
    names = {record.environment for record in case.records}
    after: dict[str, list[float]] = {}
    for path in case.folder.environment_paths() if names else []:
        try:
            said = case.folder.get_environment(path.stem)
        except (FileError, OSError) as error:
            if path.stem not in names:  # else :func:`environment` tells
                found.error(f"environment {path.stem[:16]}: {error}")
            continue
        median = _median(said)
        if median is not None and said.get("environment") in names:
            after.setdefault(str(said["environment"]), []).append(median)
    for name in sorted(names):
        found.looked += 1
        before = _median(_said(case, name))
        if before is None:
            found.error(f"environment {name[:16]}: no calibration from before the runs")
            continue
        if name not in after:
            found.warn(f"environment {name[:16]}: no calibration from after the runs")
            continue
        values = [before, *after[name]]
        apart = max(values) / min(values) - 1
        if apart > NOISY:
            found.warn(f"environment {name[:16]}: noisy, {100 * apart:.0f}% apart")


def _said(case: Case, name: str) -> dict[str, Any]:
    """An environment; empty where it cannot be read, which :func:`environment` tells."""
    try:
        return case.folder.get_environment(name)
    except (FileError, OSError):
        return {}


def _median(said: dict[str, Any]) -> float | None:
    """Its calibration in seconds; None where there is none that can be."""
    found = said.get("calibration")
    value = found.get("median_s") if isinstance(found, dict) else None
    sound = isinstance(value, float) and math.isfinite(value) and value > 0
    return value if sound else None
