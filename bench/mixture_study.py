"""What splitting samples over several mappings gains: ``python -m bench.mixture_study``.

Runs column generation (`mixture`), whole copies (`copies`) and single mappings on the selection
`mixtures`; shows the gain of the best mixture over the best single mapping and over whole copies,
by instance and by family, and what is proved. ``python -m bench.mixture_study --save`` writes it.
"""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from bench import study
from bench.leaderboard.words import seconds
from bench.markdown import table
from bench.records import Record
from problems.catalogue import Library

SINGLE = ("single", "annealing")
MIXED = ("mixture", "copies")
PROVED = 2e-6
"""Relative gap that counts as none: the solver's tolerance, twice, as bounds are lowered by it."""


@dataclass(frozen=True)
class Row:
    """One instance; seconds a sample, None where there is no answer.

    Attributes
    ----------
    bound : float
        Proved by `mixture`, or the cheap bound of the catalogue.
    """

    instance: str
    family: str
    tier: str
    nodes: int
    devices: int
    mixture: float | None
    single: float | None
    copies: float | None
    bound: float

    @property
    def best(self) -> float | None:
        """The best mixture: a copy on each device and a single mapping are such, too."""
        known = [each for each in (self.mixture, self.single, self.copies) if each is not None]
        return min(known, default=None)

    @property
    def proved(self) -> bool:
        """Whether the bound meets the answer of `mixture`."""
        return self.mixture is not None and self.bound >= self.mixture * (1 - PROVED)


def rows(records: Sequence[Record], library: Library) -> list[Row]:
    """One row an instance, in the order of the library."""
    found: list[Row] = []
    for entry in library.entries():
        mine = [record for record in records if record.digest == entry.digest]
        if not mine:
            continue

        def least(methods: Sequence[str], mine: Sequence[Record] = mine) -> float | None:
            values = [r.objective for r in mine if r.method in methods and r.objective is not None]
            return min(values, default=None)

        claimed = [r.claimed_bound for r in mine if r.method == "mixture"]
        bounds = [each for each in claimed if each is not None] + [entry.lower_bound_s]
        found.append(
            Row(
                entry.id, entry.family, entry.tier, entry.n, entry.devices,
                least(["mixture"]), least(SINGLE), least(["copies"]), max(bounds),
            )
        )  # fmt: skip
    return found


def gain(row: Row, over: float | None) -> float | None:
    """How many times as many samples the best mixture takes; None without either."""
    return None if over is None or row.best is None else over / row.best


def as_csv(found: Sequence[Row]) -> str:
    """All rows, seconds as they are."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    head = ["instance", "family", "tier", "nodes", "devices", "mixture_s", "best_single_mapping_s"]
    writer.writerow([*head, "copies_s", "bound_s", "proved"])
    for row in found:
        values = [row.mixture, row.single, row.copies, row.bound]
        told = ["" if each is None else repr(each) for each in values]
        plain = [row.instance, row.family, row.tier, row.nodes, row.devices]
        writer.writerow([*plain, *told, int(row.proved)])
    return text.getvalue()


def as_markdown(found: Sequence[Row], limit: float) -> str:
    """The tables, and what they say."""

    def times(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    lines = [
        "# Mixtures: samples split over several mappings", "",
        f"{len(found)} instances of the selection `mixtures`, {limit:g} s an entry, one seed;"
        " written by `python -m bench.mixture_study --save`. Gains are samples a second of the best"
        " mixture over those of the best single mapping (of"
        f" {' and '.join(f'`{each}`' for each in SINGLE)}) and of whole copies; proved: the bound"
        " of `mixture` meets its answer.", "",
    ]  # fmt: skip
    for tier in dict.fromkeys(row.tier for row in found):
        mine = [row for row in found if row.tier == tier]
        lines.append(f"Proved optimal, {tier}: {sum(r.proved for r in mine)} of {len(mine)}.")
    lines += ["", "## By family", ""]
    body = []
    for family in sorted({row.family for row in found}):
        mine = [row for row in found if row.family == family]
        body.append(
            [
                family,
                str(len(mine)),
                times(mean([gain(row, row.single) for row in mine])),
                times(mean([gain(row, row.copies) for row in mine])),
            ]
        )
    head = ["family", "instances", "over the best single mapping", "over whole copies"]
    lines += [*_table(head, body), "", "## By instance", ""]
    body = [
        [
            row.instance, str(row.nodes), str(row.devices), seconds(row.mixture),
            seconds(row.single), seconds(row.copies), seconds(row.bound),
            "yes" if row.proved else "no", times(gain(row, row.single)),
            times(gain(row, row.copies)),
        ]
        for row in found
    ]  # fmt: skip
    head = ["instance", "nodes", "devices", "`mixture`", "single mapping", "copies", "bound"]
    lines += [*_table([*head, "proved", "over single", "over copies"], body), ""]
    return "\n".join(lines)


def _table(head: list[str], body: list[list[str]]) -> list[str]:
    return table(pd.DataFrame(body, columns=head), dict.fromkeys(head, str))


def mean(values: Sequence[float | None]) -> float | None:
    """Geometric mean of the numbers among them; None without any."""
    known = [math.log(each) for each in values if each is not None]
    return math.exp(sum(known) / len(known)) if known else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs that are missing, print the page; with ``--save`` write it and the rows."""
    given = study.parser("bench.mixture_study", __doc__, "10s").parse_args(arguments)
    records = study.runs(given, "mixtures", [*MIXED, *SINGLE])
    found = rows(records, Library())
    page = {"md": as_markdown(found, given.time), "csv": as_csv(found)}
    study.publish(given, "mixtures", page)
    return 0


if __name__ == "__main__":
    sys.exit(study.guarded(main))
