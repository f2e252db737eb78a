"""Two sides held against each other, instance by instance, and what that allows to say.

The cost of an entry on an instance is the harmonic mean of its checked objectives over the seeds: a
seed without a valid answer counts as an infinite time, so that one failure makes an entry worse and
not unanswered. On two entries it says what the mean primal gap says, by which the leaderboard
ranks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from bench import bks, compare_frames, stats
from bench.bks import Headline
from bench.compare_conditions import Alike
from bench.records import Record
from bench.results import newest, section_of

State = Literal["improved", "tied", "worse"]
LEVEL = 0.05


@dataclass(frozen=True)
class Pair:
    """One instance that both sides were run on.

    Attributes
    ----------
    a, b : float
        Costs in seconds, seeds averaged; inf without a valid answer under any seed.
    state : {'improved', 'tied', 'worse'}
        Of the second against the first; tied within 1e-6.
    """

    instance: str
    digest: str
    family: str
    section: str
    a: float
    b: float
    state: State

    @property
    def ratio(self) -> float | None:
        """Second over first; None unless both are finite and positive, 1 where both are 0."""
        if self.a == self.b == 0:
            return 1.0
        return self.b / self.a if 0 < self.a < math.inf and 0 < self.b < math.inf else None


@dataclass(frozen=True)
class Line:
    """Instances that are summed up together.

    Attributes
    ----------
    kind : {'all', 'section', 'family'}
        All of several sections; a section; a family within the section that stands before it.
    improved, tied, worse : int
        Instances.
    ratio : float or None
        Geometric mean of b / a over the `rated` instances that both answered.
    interval : (float, float) or None
        Bootstrap 95 % interval of `ratio`, stratified by family; None under six instances.
    p, adjusted : float or None
        Signed-rank test of all instances, and by Holm over all tests of the report; None where it
        is not made: families, under six instances, no difference.
    effect : float
        Rank-biserial correlation: above 0 the second is better.
    """

    title: str
    kind: Literal["all", "section", "family"]
    instances: int
    improved: int
    tied: int
    worse: int
    ratio: float | None
    rated: int
    interval: tuple[float, float] | None
    p: float | None
    effect: float
    adjusted: float | None = None

    @property
    def verdict(self) -> str:
        """What may be said: ``better`` and ``worse`` are of the second side."""
        if self.kind == "family":
            return ""
        if self.instances < stats.MINIMUM:
            return "no verdict"
        if self.adjusted is None:
            return "tied"
        if self.adjusted >= LEVEL:
            return "not shown"
        return "better" if self.effect > 0 else "worse"


@dataclass(frozen=True)
class Conflict:
    """A claim that a checked answer contradicts.

    Attributes
    ----------
    claimed : float or None
        Seconds that nothing is said to lie below; None: there is said to be no answer.
    objective, answered_by : float, str
        The answer and whose it is.
    """

    instance: str
    by: str
    claimed: float | None
    objective: float
    answered_by: str


@dataclass(frozen=True)
class Pairing:
    """Two sides: the second against the first."""

    a: str
    b: str
    limits: str
    lines: Sequence[Line]
    pairs: Sequence[Pair]
    missing_a: Sequence[str]
    missing_b: Sequence[str]
    notes: Sequence[str]


@dataclass(frozen=True)
class Report:
    """Every pairing that was asked for.

    Attributes
    ----------
    tests : int
        How many p values were adjusted together (Holm); `zero_rule` names what the test does with
        pairs without a difference.
    faults : sequence of str
        Records that were set aside.
    """

    pairings: Sequence[Pairing]
    conflicts: Sequence[Conflict]
    tests: int
    zero_rule: str = stats.ZERO_RULE
    faults: Sequence[str] = field(default_factory=tuple)

    def frame(self) -> pd.DataFrame:
        """The verdicts: :func:`bench.compare_frames.lines`."""
        return compare_frames.lines(self)

    def pairs(self) -> pd.DataFrame:
        """Instance by instance: :func:`bench.compare_frames.pairs`."""
        return compare_frames.pairs(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(self.frame().to_html(index=False, na_rep="-", float_format="{:.3g}".format))


def pairing(a: str, b: str, runs: Alike, by: Literal["digest", "instance"] = "digest") -> Pairing:
    """Hold two sides against each other; `by` is what makes two instances the same."""
    mine, theirs = (_costs(records, by) for records in (runs.a, runs.b))
    where = {getattr(r, by): r for r in [*runs.a, *runs.b]}
    common = sorted(mine.keys() & theirs.keys(), key=lambda key: (where[key].instance, key))
    pairs = [_pair(where[key], mine[key], theirs[key]) for key in common]
    sections = sorted({pair.section for pair in pairs})
    lines = [_line("all", "all", pairs)] if len(sections) > 1 else []
    for section in sections:
        inside = [pair for pair in pairs if pair.section == section]
        lines.append(_line(section, "section", inside))
        families = sorted({pair.family for pair in inside})
        for family in families if len(families) > 1 else []:
            lines.append(_line(family, "family", [p for p in inside if p.family == family]))
    return Pairing(
        a, b, runs.limits, lines, pairs,
        sorted(where[key].instance for key in theirs.keys() - mine.keys()),
        sorted(where[key].instance for key in mine.keys() - theirs.keys()),
        runs.notes,
    )  # fmt: skip


def report(
    pairings: Sequence[Pairing], conflicts: Sequence[Conflict], faults: Sequence[str] = ()
) -> Report:
    """Adjust the p values of all pairings together."""
    tested = [line.p for each in pairings for line in each.lines if line.p is not None]
    adjusted = iter(stats.holm(tested))
    done = [
        replace(
            each,
            lines=[
                line if line.p is None else replace(line, adjusted=next(adjusted))
                for line in each.lines
            ],
        )
        for each in pairings
    ]
    return Report(done, conflicts, len(tested), faults=faults)


def conflicts(
    records: Iterable[Record], entries: set[str], known: Mapping[str, Headline]
) -> list[Conflict]:
    """Claims of `entries` in `records` that a checked answer contradicts, and refuted bounds.

    Parameters
    ----------
    known : mapping of str to Headline
        By digest; of every instance of `records`.
    """
    found: dict[tuple[str, str], Conflict] = {}
    for record in records:
        head = known[record.digest]
        if head.objective is None:
            continue
        for claim in head.refuted:
            if claim.own or claim.by in entries:
                place = record.instance, claim.by
                found[place] = Conflict(*place, claim.value, head.objective, head.by)
        if record.entry in entries and bks.contradicted(record, head.objective):
            place = record.instance, record.entry
            claimed = bks.claimed_proof(record)
            found[place] = Conflict(*place, claimed, head.objective, head.by)
    return [found[place] for place in sorted(found)]


def _costs(records: Iterable[Record], by: str) -> dict[str, float]:
    inverse: dict[str, list[float]] = {}
    for record in newest(records):
        z = record.objective if record.check == "ok" else None
        rate = 0.0 if z is None else math.inf if z == 0 else 1 / z
        inverse.setdefault(getattr(record, by), []).append(rate)
    return {key: _harmonic(rates) for key, rates in inverse.items()}


def _harmonic(rates: list[float]) -> float:
    mean = sum(rates) / len(rates)
    return math.inf if mean == 0 else 1 / mean


def _pair(record: Record, a: float, b: float) -> Pair:
    difference = stats.relative(a, b)
    state: State = "tied"
    if abs(difference) > stats.TIE:
        state = "improved" if difference > 0 else "worse"
    return Pair(record.instance, record.digest, record.family, section_of(record), a, b, state)


def _line(title: str, kind: Literal["all", "section", "family"], pairs: Sequence[Pair]) -> Line:
    compared = stats.compare([pair.a for pair in pairs], [pair.b for pair in pairs])
    rated = [pair for pair in pairs if pair.ratio is not None]
    logs = np.log([pair.ratio for pair in rated if pair.ratio is not None])
    interval = stats.mean_interval(logs.tolist(), [pair.family for pair in rated])
    return Line(
        title, kind, len(pairs), compared.losses, compared.ties, compared.wins,
        float(np.exp(logs.mean())) if len(logs) else None,
        len(rated),
        None if interval is None else (math.exp(interval[0]), math.exp(interval[1])),
        None if kind == "family" else compared.p,
        compared.effect,
    )  # fmt: skip
