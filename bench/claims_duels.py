"""Splitting beside the exact model of the same section, by instance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bench.proofs import section_of
from bench.records import Record
from problems.catalogue import CatalogueEntry

FASTER = 395.0
"""How many times faster than an exact model splitting is said to be, at most."""
PLAIN = "splitting[polish=false]"
"""Splitting as the paper has it: no local search afterwards."""
EXACT = {
    "throughput, contiguous": "prefix@highs",
    "throughput, free": "assign@highs",
    "latency": "disjunctive@highs",
    "latency, ports": "disjunctive@highs",
}
"""The exact model of a section, on the same backend."""


@dataclass(frozen=True)
class Duel:
    """Splitting beside the exact model on one instance.

    Attributes
    ----------
    ended : bool
        Whether the exact model ended by itself with a proof; otherwise `exact_s` is the limit, and
        what it would have taken is more.
    exact_s, splitting_s : float
        Seconds of the runs.
    exact_z, splitting_z : float
        Checked objectives in seconds; inf without an answer.
    best_z : float
        Best known objective.
    """

    section: str
    instance: str
    n: int
    devices: int
    ended: bool
    exact_s: float
    splitting_s: float
    exact_z: float
    splitting_z: float
    best_z: float

    @property
    def ratio(self) -> float:
        """How many times faster splitting is, at least."""
        return self.exact_s / self.splitting_s

    @property
    def loss(self) -> float:
        """Splitting's objective over the exact model's answer, less 1; -1 where it had none."""
        return self.splitting_z / self.exact_z - 1


def duels(
    records: Iterable[Record], entries: Iterable[CatalogueEntry], best: Mapping[str, float]
) -> list[Duel]:
    """Pairs of runs of :data:`PLAIN` and of the section's exact model, by instance.

    Of several runs of one entry the last counts.
    """
    by = {(each.digest, each.entry): each for each in records}
    found = []
    for entry in entries:
        section = section_of(entry.problem, entry.rules)
        exact, mine = by.get((entry.digest, EXACT.get(section, ""))), by.get((entry.digest, PLAIN))
        if exact is None or mine is None:
            continue
        found.append(
            Duel(
                section, entry.id, entry.n, entry.devices,
                exact.termination == "completed" and exact.claim == "optimal",
                exact.wall_s, mine.wall_s, objective(exact), objective(mine),
                min(best.get(entry.digest, math.inf), objective(exact), objective(mine)),
            )
        )  # fmt: skip
    return found


@dataclass(frozen=True)
class Alone:
    """Splitting where the exact model takes no instance of that size.

    Attributes
    ----------
    splitting_s : float
        Seconds of the run.
    splitting_z, best_z : float
        Checked and best known objective in seconds; inf without an answer.
    """

    section: str
    instance: str
    n: int
    splitting_s: float
    splitting_z: float
    best_z: float

    @property
    def loss(self) -> float:
        """Splitting's objective over the best known, less 1."""
        return self.splitting_z / self.best_z - 1


def alone(
    records: Iterable[Record], entries: Iterable[CatalogueEntry], best: Mapping[str, float]
) -> list[Alone]:
    """Runs of :data:`PLAIN` beside which the section's exact model has none."""
    by = {(each.digest, each.entry): each for each in records}
    found = []
    for entry in entries:
        section = section_of(entry.problem, entry.rules)
        mine = by.get((entry.digest, PLAIN))
        if mine is not None and (entry.digest, EXACT.get(section, "")) not in by:
            z = objective(mine)
            known = min(best.get(entry.digest, math.inf), z)
            found.append(Alone(section, entry.id, entry.n, mine.wall_s, z, known))
    return found


def undecided(found: Iterable[Duel], limit: float) -> list[Duel]:
    """Those whose exact model was stopped, but with `limit` seconds might show the claim."""
    return [each for each in found if not each.ended and limit >= FASTER * each.splitting_s]


def objective(record: Record) -> float:
    """Checked objective; inf without an answer."""
    return math.inf if record.objective is None else record.objective
