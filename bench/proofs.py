"""What is proved: bound, best known and gap of every instance, and what each exact entry reached.

Run as a program this writes the study of the published records:
``python -m bench.proofs --records FILE [--records FILE] --output FOLDER``.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from bench import bks, bounds
from bench.leaderboard import gather
from bench.records import Record
from problems.bounds.registry import Bound
from problems.catalogue import CatalogueEntry, Library
from problems.files import FileError, write_atomically

PLAIN = ("critical-path", "load-lp", "schedule", "pipeline")
"""The bounds that everybody has: what the others' gain is measured against.

`schedule`, for `calls`, is the largest cheap bound of latency; `pipeline`, for
`chips`, of throughput.
"""
TIERS = ("tiny", "small", "medium", "large", "huge")


@dataclass(frozen=True)
class Standing:
    """What is known of one instance.

    Attributes
    ----------
    plain, bound : float
        Largest bound of :data:`PLAIN`, and of all that are computed or that an exact entry proved
        and no checked answer contradicts, in seconds; `bound_by` names it.
    best : float or None
        Smallest checked objective in seconds; `best_by` found it first.
    """

    section: str
    tier: str
    instance: str
    digest: str
    n: int
    devices: int
    plain: float
    bound: float
    bound_by: str
    best: float | None
    best_by: str

    @property
    def gap(self) -> float | None:
        """(z - b) / z; None without an answer, or where the bound is above it."""
        if self.best is None or self.conflict:
            return None
        return max(0.0, (self.best - self.bound) / self.best) if self.best > 0 else 0.0

    @property
    def conflict(self) -> bool:
        """Whether the bound is above the best answer: one of them is wrong."""
        return self.best is not None and bks.contradicts(self.bound, self.best)

    @property
    def proved(self) -> bool:
        """Whether the best answer meets the bound."""
        return self.gap is not None and self.gap <= bks.CLOSED


def section_of(problem: str, rules: Mapping[str, object]) -> str:
    """Instances that are listed together: a problem, `throughput` parted by the chain rule."""
    if problem == "throughput":
        return "throughput, contiguous" if rules.get("contiguous") else "throughput, free"
    if problem == "latency" and rules.get("contention") == "ports":
        return "latency, ports"
    return problem


def standings(
    entries: Iterable[CatalogueEntry],
    computed: Mapping[str, Sequence[Bound]],
    claims: Mapping[str, bks.Claims],
) -> list[Standing]:
    """One :class:`Standing` an instance, in the catalogue's order.

    Parameters
    ----------
    computed : mapping of str to sequence of Bound
        Bounds of the store by digest.
    claims : mapping of str to Claims
        Best-known file by digest.
    """
    found = []
    for entry in entries:
        mine = {each.name: each.value for each in computed.get(entry.digest, ())}
        plain = max((mine[name] for name in PLAIN if name in mine), default=0.0)
        mine["catalogue"] = entry.lower_bound_s
        known = claims.get(entry.digest)
        head = bks.headline(known.claims if known else ())
        if head.proved is not None:
            mine[head.proved_by] = max(head.proved, mine.get(head.proved_by, 0.0))
        by = max(mine, key=lambda name: (mine[name], name != "catalogue"))
        found.append(
            Standing(
                section_of(entry.problem, entry.rules), entry.tier, entry.id, entry.digest,
                entry.n, entry.devices, plain, mine[by], by, head.objective, head.by,
            )
        )  # fmt: skip
    return found


def summary(found: Sequence[Standing]) -> pd.DataFrame:
    """One row a section and tier.

    Returns
    -------
    DataFrame
        Columns `section`, `tier`, `instances`, `answered`, `proved` (counts), `gap` (geometric
        mean of z/b, less 1, over those with an answer), `within` (share within 1 %).
    """
    rows = []
    for section in sorted({each.section for each in found}):
        for tier in TIERS:
            mine = [each for each in found if (each.section, each.tier) == (section, tier)]
            if not mine:
                continue
            ratios = [
                s.best / s.bound for s in mine if s.gap is not None and s.best and s.bound > 0
            ]
            rows.append(
                {
                    "section": section,
                    "tier": tier,
                    "instances": len(mine),
                    "answered": sum(each.best is not None for each in mine),
                    "proved": sum(each.proved for each in mine),
                    "gap": _mean(ratios) - 1,
                    "within": sum(ratio <= 1.01 for ratio in ratios),
                }
            )
    return pd.DataFrame(rows)


def by_entry(records: Iterable[Record], found: Sequence[Standing]) -> pd.DataFrame:
    """One row a section, limit and entry: what it proved by itself, and how far its answers are.

    Returns
    -------
    DataFrame
        Columns `section`, `limit_s`, `entry`, `runs`, `answered`, `proved` (its own claim, borne
        out by the checker), `gap` (geometric mean of z/b, less 1, b the best bound known), `own`
        (the same against its own bound, where it has one), `seconds` (mean).
    """
    where = {each.digest: each for each in found}
    rows = []
    for record in records:
        known = where.get(record.digest)
        if known is None:
            continue
        z, own = record.objective, bks.claimed_proof(record)
        if own is not None and known.best is not None and bks.contradicts(own, known.best):
            own = None  # said, and not so: see `contradictions`
        rows.append(
            {
                "section": known.section,
                "limit_s": record.time_limit_s,
                "entry": record.entry,
                "answered": z is not None,
                "proved": z is not None and own is not None and own >= z * (1 - bks.CLOSED),
                "ratio": z / known.bound if z is not None and known.bound > 0 else math.nan,
                "own": z / own if z is not None and own else math.nan,
                "seconds": record.wall_s,
            }
        )
    columns = ["section", "limit_s", "entry", "answered", "proved", "ratio", "own", "seconds"]
    grouped = pd.DataFrame(rows, columns=columns).groupby(["section", "limit_s", "entry"])
    return grouped.agg(
        runs=("answered", "size"),
        answered=("answered", "sum"),
        proved=("proved", "sum"),
        gap=("ratio", lambda each: _mean(each.dropna()) - 1),
        own=("own", lambda each: _mean(each.dropna()) - 1),
        seconds=("seconds", "mean"),
    ).reset_index()


def gains(
    entries: Iterable[CatalogueEntry], computed: Mapping[str, Sequence[Bound]]
) -> pd.DataFrame:
    """One row a section and bound.

    Returns
    -------
    DataFrame
        Columns `section`, `bound`, `instances`, `gain` (geometric mean of bound / largest of
        :data:`PLAIN`, less 1, where the bound is the smaller of both counted as equal), `best` (how
        often it is the largest of all), `seconds` (median), `longest`.
    """
    rows = []
    for entry in entries:
        mine = computed.get(entry.digest, ())
        plain = max((each.value for each in mine if each.name in PLAIN), default=0.0)
        top = max((each.value for each in mine), default=0.0)
        for each in mine:
            if plain > 0:
                rows.append(
                    {
                        "section": section_of(entry.problem, entry.rules),
                        "bound": each.name,
                        "gain": max(1.0, each.value / plain),
                        "best": each.value >= top * (1 - 1e-9),
                        "seconds": each.seconds,
                    }
                )
    grouped = pd.DataFrame(rows, columns=["section", "bound", "gain", "best", "seconds"])
    return (
        grouped.groupby(["section", "bound"])
        .agg(
            instances=("gain", "size"),
            gain=("gain", lambda each: _mean(each) - 1),
            best=("best", "sum"),
            seconds=("seconds", "median"),
            longest=("seconds", "max"),
        )
        .reset_index()
    )


def contradictions(
    records: Iterable[Record],
    claims: Mapping[str, bks.Claims],
    computed: Mapping[str, Sequence[Bound]],
    entries: Iterable[CatalogueEntry] = (),
) -> list[str]:
    """Bounds above a checked answer of the same instance, one line each; both sides are named."""
    least: dict[str, tuple[float, str]] = {}
    said: list[tuple[str, str, float, str]] = []

    def answer(digest: str, value: float, by: str) -> None:
        if value < least.get(digest, (math.inf, ""))[0]:
            least[digest] = value, by

    for digest, known in claims.items():
        for claim in known.claims:
            if claim.kind == "answer" and claim.verified_by == "checker":
                answer(digest, claim.value, claim.by)
            elif claim.kind == "bound":
                said.append((digest, known.instance, claim.value, claim.by))
    for record in records:
        if record.check == "ok" and record.objective is not None:
            answer(record.digest, record.objective, record.entry)
        proof = bks.claimed_proof(record)
        if proof is not None:
            said.append((record.digest, record.instance, proof, record.entry))
        if record.claim == "infeasible":
            said.append((record.digest, record.instance, math.inf, record.entry))
    said += [(d, d[:16], each.value, each.name) for d, mine in computed.items() for each in mine]
    said += [(each.digest, each.id, each.lower_bound_s, "the catalogue") for each in entries]
    return [
        f"{name}: {by} says nothing is below {value:.9g} s, {least[digest][1]} has an answer of"
        f" {least[digest][0]:.9g} s"
        for digest, name, value, by in said
        if digest in least and bks.contradicts(value, least[digest][0])
    ]


def _mean(ratios: Iterable[float]) -> float:
    """Geometric mean; NaN of nothing."""
    values = np.array(list(ratios), float)
    return float(np.exp(np.log(values).mean())) if len(values) else math.nan


def main(arguments: Sequence[str] | None = None) -> int:
    """Write ``proofs.md`` and ``proofs.csv``; exit code 1 if anything contradicts anything."""
    from bench import proofs_text  # not above: it takes this module's types

    parser = argparse.ArgumentParser(prog="python -m bench.proofs", description=__doc__)
    parser.add_argument(
        "--records", type=Path, action="append", default=[], help="Published .jsonl file."
    )
    parser.add_argument("--output", type=Path, default=Path("results/studies"))
    given = parser.parse_args(arguments)
    try:
        library = Library()
        entries = library.entries()
        names = {entry.digest: entry.id for entry in entries}
        sources = [
            gather.rechecked(
                gather.from_file(path), lambda d: library.load(names[d]) if d in names else None
            )
            for path in given.records
        ]
        records = [each for source in sources for each in source.records]
        store, claims = bounds.load(), bks.load()
    except FileError as error:
        print(f"placebench: {error}", file=sys.stderr)
        return 2
    for fault in [*store.faults, *(fault for source in sources for fault in source.faults)]:
        print(f"placebench: {fault}", file=sys.stderr)
    computed = {
        digest: [each.bound for each in line.bounds] for digest, line in store.lines.items()
    }
    found = standings(entries, computed, claims)
    wrong = contradictions(records, claims, computed, entries)
    text = proofs_text.markdown(
        summary(found), by_entry(records, found), gains(entries, computed), wrong
    )
    write_atomically(given.output / "proofs.md", text.encode())
    table = proofs_text.comma_separated(found, records)
    write_atomically(given.output / "proofs.csv", table.encode())
    print(text, end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
