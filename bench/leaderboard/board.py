"""The content of a leaderboard, apart from how it is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bench import bks, metrics, results, stats
from bench.bks import Headline
from bench.records import Record

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, order=True)
class Conditions:
    """What runs must share to be compared."""

    time_limit_s: float
    threads: int
    memory_limit_bytes: int
    suite: str

    @staticmethod
    def of(record: Record) -> Conditions:
        """The conditions of a run; a memory limit of 0 is none."""
        return Conditions(
            record.time_limit_s, record.threads, record.memory_limit_bytes or 0, record.suite
        )

    def __str__(self) -> str:
        threads = f"{self.threads} thread{'s' if self.threads != 1 else ''}"
        memory = f", {self.memory_limit_bytes / 1e9:g} GB" if self.memory_limit_bytes else ""
        limit = self.time_limit_s
        time = f"{limit:g} s" if limit >= 0.1 else f"{1000 * limit:g} ms"
        return f"{time}, {threads}{memory}"


class Unlike(Conditions):
    """Runs under conditions of their own, ranked together by their answers alone."""

    def __str__(self) -> str:
        return "each under limits of its own"


@dataclass(frozen=True)
class Standing:
    """One entry in one section.

    Attributes
    ----------
    place : int or None
        By mean rank over all instances of the section; ties share the better place. None without
        any valid answer.
    interval : (int, int) or None
        Bootstrap 95 % interval of the place; None under six instances, and without a place.
    gap_bound, gap_best : float
        Shifted geometric means, over all instances, of the gap to the bound and of the primal gap
        to the best known answer; 1 counts where there is no valid answer.
    integral : float
        Mean primal integral / time limit.
    covered, answered : int
        Instances that it was run on; instances with a valid answer under every seed.
    invalid, failed : int
        Runs with an invalid answer; runs that crashed, raised or ran out of memory.
    time_s : float
        Mean over its runs; the limit counts where there is no valid answer.
    conflict : bool
        It claimed a proof that a checked answer contradicts.
    """

    entry: str
    place: int | None
    interval: tuple[int, int] | None
    mean_rank: float
    gap_bound: float
    gap_best: float
    integral: float
    covered: int
    answered: int
    invalid: int
    failed: int
    time_s: float
    conflict: bool


@dataclass(frozen=True)
class Cell:
    """One entry on one instance, seeds averaged; `reason` says why an answer is missing.

    `gap_best` is the quality gap (inf without an answer), `primal_gap` the one that is ranked (1
    without); `time_s` counts the limit where there is no valid answer.
    """

    objective: float | None
    gap_bound: float
    gap_best: float
    primal_gap: float
    time_s: float
    runs: int
    answered: int
    reason: str


@dataclass(frozen=True)
class Row:
    """One instance of a section, and what every entry reached (None: it was not run)."""

    instance: str
    digest: str
    family: str
    n: int | None
    devices: int | None
    known: Headline
    cells: Mapping[str, Cell | None]


@dataclass(frozen=True)
class Section:
    """What is ranked together."""

    title: str
    standings: Sequence[Standing]
    rows: Sequence[Row]

    @property
    def bounded(self) -> int:
        """Instances with a bound above 0."""
        return sum(row.known.bound > 0 for row in self.rows)


@dataclass(frozen=True)
class Board:
    """All sections under one set of conditions; `others` counts runs under other conditions.

    Attributes
    ----------
    contradictions : sequence of str
        Bounds of the suite's own that a checked answer refutes: a fault of the suite. They are left
        out.
    remarks : sequence of str
        What else a reader must know of the records.
    """

    conditions: Conditions
    others: Mapping[Conditions, int]
    date: str
    seeds: int
    runs: int
    environments: Sequence[Mapping[str, Any]]
    sections: Sequence[Section]
    contradictions: Sequence[str] = ()
    remarks: Sequence[str] = ()


def build(
    records: Sequence[Record],
    known: Mapping[str, Headline],
    sizes: Mapping[str, tuple[int, int]],
    environments: Sequence[Mapping[str, Any]] = (),
    unlike: bool = False,
) -> Board:
    """Rank entries on checked records only.

    Parameters
    ----------
    records : sequence of Record
        Under several conditions, those with the most runs are shown.
    known : mapping of str to Headline
        By digest of the instance; every digest of `records`.
    sizes : mapping of str to (int, int)
        Digest -> nodes, devices, as far as known.
    unlike : bool
        Show all of them, whatever their conditions.

    Raises
    ------
    ValueError
        If there are no records, or a headline has a bound above a checked answer.
    """
    if not records:
        raise ValueError("there are no records to rank")
    counts = Counter(map(Conditions.of, records))
    conditions = max(counts, key=lambda c: (counts[c], c))
    if unlike:
        conditions = Unlike(**vars(conditions))
        counts, chosen = Counter(), list(records)
    else:
        chosen = [record for record in records if Conditions.of(record) == conditions]
    runs = results.frame(chosen, known)
    table = results.per_instance(runs)
    accused = set(bks.conflicts(records, known))
    return Board(
        conditions=conditions,
        others={c: counts[c] for c in sorted(counts) if c != conditions},
        date=max(record.date for record in chosen),
        seeds=int(runs["seed"].nunique()),
        runs=len(runs),
        environments=environments,
        sections=[
            _section(str(title), part, known, sizes, accused)
            for title, part in table.groupby("section", sort=True)
        ],
    )


def _section(
    title: str,
    part: pd.DataFrame,
    known: Mapping[str, Headline],
    sizes: Mapping[str, tuple[int, int]],
    accused: set[str],
) -> Section:
    first = part.drop_duplicates("digest").sort_values(["instance", "digest"])
    digests = first["digest"].tolist()
    families = first["family"].tolist()
    entries = sorted(part["entry"].unique())
    costs = _matrix(part, "primal_gap", digests, entries)
    rank = stats.ranks(costs)
    mean_rank = rank.mean(axis=0)
    places = stats.positions(mean_rank)
    intervals = stats.rank_intervals(rank, families)
    bounds = _matrix(part, "gap_bound", digests, entries)
    integrals = _matrix(part, "integral", digests, entries)
    standings = []
    for j, entry in enumerate(entries):
        mine = part[part["entry"] == entry]
        placed = bool(mine["objective"].notna().any())
        interval = None
        if intervals is not None and placed:
            interval = (int(intervals[j, 0]), int(intervals[j, 1]))
        standings.append(
            Standing(
                entry=entry,
                place=int(places[j]) if placed else None,
                interval=interval,
                mean_rank=float(mean_rank[j]),
                gap_bound=metrics.shifted_geometric_mean(bounds[:, j], metrics.GAP_SHIFT),
                gap_best=metrics.shifted_geometric_mean(costs[:, j], metrics.GAP_SHIFT),
                integral=float(integrals[:, j].mean()),
                covered=len(mine),
                answered=int((mine["answered"] == mine["runs"]).sum()),
                invalid=int(mine["invalid"].sum()),
                failed=int(mine["failed"].sum()),
                time_s=float(mine["time_s"].mean()),
                conflict=entry in accused,
            )
        )
    cells = {(row.digest, row.entry): _cell(row) for row in part.itertuples()}
    rows = [
        Row(
            instance=name,
            digest=digest,
            family=family,
            n=sizes[digest][0] if digest in sizes else None,
            devices=sizes[digest][1] if digest in sizes else None,
            known=known[digest],
            cells={entry: cells.get((digest, entry)) for entry in entries},
        )
        for name, digest, family in zip(first["instance"], digests, families, strict=True)
    ]
    standings.sort(key=lambda s: (s.mean_rank, s.gap_bound, s.entry))
    return Section(title, standings, rows)


def _matrix(part: pd.DataFrame, column: str, digests: list[str], entries: list[str]) -> np.ndarray:
    """Instances x entries; an instance that an entry was not run on counts as no answer (1)."""
    wide = part.pivot(index="digest", columns="entry", values=column)
    return wide.reindex(index=digests, columns=entries).fillna(1.0).to_numpy(float)


def _cell(row: Any) -> Cell:
    return Cell(
        objective=None if np.isnan(row.objective) else float(row.objective),
        gap_bound=float(row.gap_bound),
        gap_best=float(row.gap_best),
        primal_gap=float(row.primal_gap),
        time_s=float(row.time_s),
        runs=int(row.runs),
        answered=int(row.answered),
        reason=str(row.reason),
    )
