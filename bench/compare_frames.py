"""A comparison as pandas frames."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from bench.compare_report import Report


def lines(report: Report) -> pd.DataFrame:
    """One row a pairing and what is summed up together: a section, a family, all.

    Returns
    -------
    DataFrame
        `first`, `second`, the fields of :class:`bench.compare_report.Line` with `low` and `high`
        in place of `interval`, and `verdict`, which is of the second.
    """
    rows: list[dict[str, Any]] = []
    for each in report.pairings:
        for line in each.lines:
            told = asdict(line)
            told["low"], told["high"] = told.pop("interval") or (None, None)
            rows.append({"first": each.a, "second": each.b, **told, "verdict": line.verdict})
    found = pd.DataFrame(rows)
    numbers = [name for name in ("ratio", "p", "adjusted", "low", "high") if name in found]
    return found.astype(dict.fromkeys(numbers, float))  # NaN for None


def pairs(report: Report) -> pd.DataFrame:
    """One row a pairing and instance that both sides were run on.

    Returns
    -------
    DataFrame
        `first`, `second`, and the fields of :class:`bench.compare_report.Pair` with costs as
        `first_s` and `second_s` (inf without a valid answer) and their `ratio`.
    """
    rows = []
    for each in report.pairings:
        for pair in each.pairs:
            told = asdict(pair)
            costs = {"first_s": told.pop("a"), "second_s": told.pop("b"), "ratio": pair.ratio}
            rows.append({"first": each.a, "second": each.b, **told, **costs})
    return pd.DataFrame(rows)
