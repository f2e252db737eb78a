"""The study of :mod:`bench.proofs` as Markdown and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from bench import bks
from bench.markdown import percent, seconds, table
from bench.records import Record

if TYPE_CHECKING:
    from bench.proofs import Standing


def markdown(
    tiers: pd.DataFrame, entries: pd.DataFrame, gains: pd.DataFrame, wrong: Sequence[str]
) -> str:
    """The page: what is proved by section and tier, by entry, and what the bounds are worth."""
    lines = [
        "# What is proved",
        "",
        "`gap` is the geometric mean of z/b, less 1: z the best checked answer, b the largest bound"
        " that was computed or that an exact entry proved. One line an instance: `proofs.csv`.",
        "",
        *table(
            tiers,
            {
                "section": str, "tier": str, "instances": str, "answered": str, "proved": str,
                "gap": percent, "within": str,
            },
            {"within": "within 1 %"},
        ),
        "",
        "## By entry",
        "",
        "`proved`: by the entry itself within its limit. `gap` against the best bound known, `own"
        " gap` against its own bound; geometric means over its answers.",
        "",
        *table(
            entries,
            {
                "section": str, "limit_s": lambda v: f"{v:g} s", "entry": str, "runs": str,
                "answered": str, "proved": str, "gap": percent, "own": percent,
                "seconds": seconds,
            },
            {"limit_s": "limit", "own": "own gap", "seconds": "mean time"},
        ),
        "",
        "## By bound",
        "",
        "`gain` over the largest of critical path and load LP (`calls`: over `schedule`, the cheap"
        " bounds of latency), geometric mean; a smaller bound counts as no gain. `best`: how often"
        " no other bound is larger.",
        "",
        *table(
            gains,
            {
                "section": str, "bound": str, "instances": str, "gain": percent, "best": str,
                "seconds": seconds, "longest": seconds,
            },
            {"seconds": "median time"},
        ),
        "",
        f"{len(wrong)} contradictions between a bound and a checked answer.",
        *(f"* {line}" for line in wrong),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def comma_separated(found: Sequence[Standing], records: Iterable[Record]) -> str:
    """One line an instance; three columns an entry and limit: objective, own bound, seconds."""
    extra: dict[str, dict[str, float | None]] = {}
    for record in records:
        label = f"{record.entry} {record.time_limit_s:g}s"
        extra.setdefault(record.digest, {}).update(
            {
                f"{label} z": record.objective,
                f"{label} b": bks.claimed_proof(record),
                f"{label} t": record.wall_s,
            }
        )
    columns = sorted({name for each in extra.values() for name in each})
    rows = [
        {
            "section": s.section,
            "tier": s.tier,
            "instance": s.instance,
            "n": s.n,
            "devices": s.devices,
            "plain_bound_s": s.plain,
            "bound_s": s.bound,
            "bound_by": s.bound_by,
            "best_s": s.best,
            "best_by": s.best_by,
            "gap": s.gap,
            "status": "conflict" if s.conflict else "proven" if s.proved else "open",
            **{name: extra.get(s.digest, {}).get(name) for name in columns},
        }
        for s in found
    ]
    return str(pd.DataFrame(rows).to_csv(index=False, float_format="%.9g", lineterminator="\n"))
