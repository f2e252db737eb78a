"""From records to tables of numbers: one row a run, then one row an instance and entry."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bench import metrics
from bench.bks import Headline
from bench.plain import one_line
from bench.records import Record

if TYPE_CHECKING:
    import pandas as pd

ENDED_BADLY = ("crash", "error", "memory-limit")


def section_of(record: Record) -> str:
    """The table that a run belongs to: what is ranked together.

    Problems are apart, and so are throughput instances with and without the contiguous rule: a
    method for the one often cannot take the other.
    """
    if record.problem != "throughput":
        return record.problem
    name = record.instance.rsplit("/", 1)[-1]
    rules = name.partition("[")[2].rstrip("]").split(",")
    return "throughput, contiguous" if "contiguous" in rules else "throughput, free"


def newest(records: Iterable[Record]) -> list[Record]:
    """Of runs of one entry on one instance under one seed the newest; by digest, entry, seed."""
    found: dict[tuple[str, str, int], Record] = {}
    for record in sorted(records, key=lambda r: (r.date, r.key)):
        found[record.digest, record.entry, record.seed] = record
    return [found[place] for place in sorted(found)]


def frame(records: Iterable[Record], known: Mapping[str, Headline]) -> pd.DataFrame:
    """One row a run, with its metrics; the newest where a run was made twice.

    Parameters
    ----------
    known : mapping of str to Headline
        Digest of the instance -> best known answer and bound.

    Returns
    -------
    DataFrame
        Columns `section`, `problem`, `instance`, `digest`, `family`, `entry`, `seed`,
        `termination`, `check`, `objective`, `gap_bound`, `gap_best` (quality gap), `primal_gap`,
        `integral` (primal integral / limit), `time_s` (the limit where there is no valid answer),
        `reason` (why it failed or there is none).

    Raises
    ------
    ValueError
        If a bound lies above a checked objective: then one of them is wrong.
    """
    rows = [_row(record, known[record.digest]) for record in newest(records)]
    import pandas as pd  # slow to load, and most commands make no table

    return pd.DataFrame(rows, columns=None if rows else list(_COLUMNS))


_COLUMNS = (
    "section", "problem", "instance", "digest", "family", "entry", "seed", "termination", "check",
    "objective", "gap_bound", "gap_best", "primal_gap", "integral", "time_s", "reason",
)  # fmt: skip


def measured(record: Record, known: Headline) -> dict[str, float]:
    """The metrics of one run: `objective`, gaps, `integral` and `time_s` as in :func:`frame`.

    Raises
    ------
    ValueError
        If the bound lies above the checked objective.
    """
    z = record.objective if record.check == "ok" else None
    limit = record.time_limit_s
    try:
        gap = metrics.gap_to_bound(z, known.bound)
    except ValueError as error:
        raise ValueError(f"{record.instance}: {error} of {record.entry}") from None
    return {
        "objective": math.nan if z is None else z,
        "gap_bound": gap,
        "gap_best": metrics.quality_gap(z, known.objective),
        "primal_gap": metrics.primal_gap(z, known.objective),
        "integral": metrics.primal_integral(trace(record), known.objective, limit) / limit,
        "time_s": limit if z is None else record.wall_s,
    }


def trace(record: Record) -> list[tuple[float, float]]:
    """Seconds and objectives that count: none below that of the last answer, the one on file.

    What a run had before can no longer be checked. Without a valid answer it is empty.
    """
    z = record.objective
    if record.check != "ok" or z is None:
        return []
    points = record.trace or [(min(record.wall_s, record.time_limit_s), z)]
    return [(t, max(value, z)) for t, value in points]


def _row(record: Record, known: Headline) -> dict[str, Any]:
    return {
        "section": section_of(record),
        "problem": record.problem,
        "instance": record.instance,
        "digest": record.digest,
        "family": record.family,
        "entry": record.entry,
        "seed": record.seed,
        "termination": record.termination,
        "check": record.check,
        **measured(record, known),
        "reason": reason(record),
    }


def reason(record: Record) -> str:
    """Why a run failed or has no valid answer, on one line; empty for all others.

    The exception or signal is named where there was one.
    """
    parts = []
    if record.check == "invalid":
        rule, what = record.violations[0] if record.violations else ("", "")
        parts.append(f"invalid ({rule}): {what}" if rule else "invalid")
    if record.termination in ENDED_BADLY:
        signal = f" ({record.signal})" if record.signal else ""
        said = _said(record)
        parts.append(f"{record.termination}{signal}" + (f": {said}" if said else ""))
        if record.check == "ok":
            parts.append("after an answer")
    elif record.check == "none":
        parts.append(f"no answer ({record.termination})")
    return one_line("; ".join(parts))


def _said(record: Record) -> str:
    """First line of the error; the last one of a bare traceback, as older records have it."""
    lines = [line.strip() for line in record.error.splitlines() if line.strip()]
    if not lines or lines[0] == f"ended by {record.signal}":
        return ""
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


def failed(record: Record) -> bool:
    """Whether a run went wrong; one that merely found no answer in its time did not."""
    return record.check == "invalid" or record.termination in ENDED_BADLY


def per_instance(runs: pd.DataFrame) -> pd.DataFrame:
    """Average the seeds: one row an instance and entry, from :func:`frame`.

    Columns as there, without `seed`; `runs`, `answered`, `invalid` and `failed` count runs.
    `objective` is the mean over the answered runs, the metrics are means over all runs.
    """
    grouped = runs.assign(
        answered=runs["objective"].notna(),
        invalid=runs["check"] == "invalid",
        failed=runs["termination"].isin(ENDED_BADLY),
        reason=runs["reason"].replace("", None),
    ).groupby(["section", "digest", "entry"], sort=True)
    averaged = grouped.agg(
        instance=("instance", "first"),
        problem=("problem", "first"),
        family=("family", "first"),
        runs=("seed", "size"),
        answered=("answered", "sum"),
        invalid=("invalid", "sum"),
        failed=("failed", "sum"),
        objective=("objective", "mean"),
        gap_bound=("gap_bound", "mean"),
        gap_best=("gap_best", "mean"),
        primal_gap=("primal_gap", "mean"),
        integral=("integral", "mean"),
        time_s=("time_s", "mean"),
        reason=("reason", "first"),  # of those that there are
    )
    return averaged.fillna({"reason": ""}).reset_index()
