"""Best known: claims about an instance, and the headline that follows from them.

One file a digest under ``results/best_known`` of the checkout. A claim of kind `answer` names a
stored answer that the checker accepted; one of kind `bound` names a method. The headline is
derived, never stored: it trusts answers that were checked and the suite's own bounds, which anyone
can recompute: they come from the catalogue or the store of bounds (:mod:`bench.bounds`) while their
proofs are unchanged, and `placebench bounds INSTANCE --search --seconds N --fresh` finds them anew.
What a solver proved within its own search is kept beside, as a
claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from bench.records import Record
from problems import files

CLOSED = 1e-6  # relative; z* within this of b is optimal
Status = Literal["optimal", "best", "open", "conflict"]
RESULTS = Path(__file__).resolve().parent.parent / "results"
FOLDER = RESULTS / "best_known"


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One statement about an instance.

    Attributes
    ----------
    kind : {'answer', 'bound'}
    value : float
        Seconds.
    by : str
        Entry, or name of the bound.
    date : str
        Of the run, ISO 8601.
    answer : str
        Digest of the stored answer (`answer`).
    limit_s, threads, suite
        Conditions of the run.
    verified_by : str
        ``checker`` for an answer; ``recomputation`` for a bound of the suite's own that was
        recomputed or, where it takes a search, is on file and can be; empty for what rests on the
        solver's word.
    """

    kind: Literal["answer", "bound"]
    value: float
    by: str
    date: str = ""
    answer: str = ""
    limit_s: float = 0.0
    threads: int = 0
    suite: str = ""
    verified_by: Literal["checker", "recomputation", ""] = ""


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All claims about one instance, by its digest."""

    format: Literal["placebench-claims/1"]
    digest: str
    instance: str
    claims: list[Claim]


@dataclass(frozen=True)
class Headline:
    """What is known of one instance.

    Attributes
    ----------
    status : {'optimal', 'best', 'open', 'conflict'}
        The best answer meets the bound; there is an answer; there is none; the bound is above the
        answer, so that one of them is wrong.
    objective : float or None
        z*, smallest checked objective in seconds; `by` found it first.
    bound : float
        b, largest trusted lower bound in seconds; 0 where nothing is known.
    proved : float or None
        Largest bound that an exact method claims and no checked answer contradicts; `proved_by`.
    """

    status: Status
    objective: float | None
    by: str
    bound: float
    proved: float | None
    proved_by: str

    @property
    def closed_by_claim(self) -> bool:
        """Whether a solver claims that nothing better exists."""
        return (
            self.objective is not None
            and self.proved is not None
            and _meets(self.objective, self.proved)
        )


def headline(claims: Iterable[Claim]) -> Headline:
    """Derive the headline; claims without verification can neither set z* nor b."""
    claims = list(claims)
    answers = [c for c in claims if c.kind == "answer" and c.verified_by == "checker"]
    best = min(answers, key=lambda c: (c.value, c.date, c.by), default=None)
    z = best.value if best is not None else None
    bounds = [c for c in claims if c.kind == "bound"]
    trusted = max((c.value for c in bounds if c.verified_by == "recomputation"), default=0.0)
    word = [c for c in bounds if not c.verified_by and (z is None or not contradicts(c.value, z))]
    proved = max(word, key=lambda c: c.value, default=None)
    if z is None:
        status: Status = "open"
    elif contradicts(trusted, z):
        status = "conflict"
    else:
        status = "optimal" if _meets(z, trusted) else "best"
    return Headline(
        status,
        z,
        best.by if best is not None else "",
        trusted,
        proved.value if proved is not None else None,
        proved.by if proved is not None else "",
    )


def contradicts(bound: float, objective: float) -> bool:
    """Whether a checked objective lies below a claimed bound by more than the tolerance."""
    return objective < bound * (1 - CLOSED)


def _meets(objective: float, bound: float) -> bool:
    return objective <= bound * (1 + CLOSED)


def claims_of(record: Record) -> list[Claim]:
    """What one run says of its instance: its checked answer, and its proof if it claims one.

    A method that is not the suite's own proves nothing here.
    """

    def claim(kind: Literal["answer", "bound"], value: float) -> Claim:
        return Claim(
            kind,
            value,
            record.entry,
            record.date,
            answer=record.answer if kind == "answer" else "",
            limit_s=record.time_limit_s,
            threads=record.threads,
            suite=record.suite,
            verified_by="checker" if kind == "answer" else "",
        )

    found: list[Claim] = []
    if record.check == "ok" and record.objective is not None:
        found.append(claim("answer", record.objective))
    proof = claimed_proof(record)
    if proof is not None and proof > 0 and not record.source:
        found.append(claim("bound", proof))
    return found


def claimed_proof(record: Record) -> float | None:
    """The lower bound that a run claims to have proved, in seconds.

    "Optimal" under an option ``gap`` above 0 means within that gap.
    """
    claimed = [] if record.claimed_bound is None else [record.claimed_bound]
    if record.claim == "optimal":
        z = record.objective if record.objective is not None else record.claimed_objective
        gap = record.options.get("gap", 0.0)
        if z is not None and gap == 0:
            claimed.append(z)
        elif z is not None and isinstance(gap, float | int) and 0 < gap < 1:
            claimed.append(z * (1 - gap) * (1 - CLOSED))
    return max(claimed, default=None)


def gather(
    records: Iterable[Record],
    bounds: Mapping[str, float],
    earlier: Mapping[str, Claims] | None = None,
) -> dict[str, Claims]:
    """Claims of every instance that `records` name; only the best of each kind and entry is kept.

    Parameters
    ----------
    bounds : mapping of str to float
        Digest -> theoretical lower bound in seconds.
    earlier : mapping of str to Claims, optional
        Known claims by digest; they are kept unless surpassed.
    """
    ids: dict[str, str] = {}
    all_: dict[str, list[Claim]] = {}
    for digest, known in (earlier or {}).items():
        ids[digest] = known.instance
        # The theoretical bound is always handed in afresh: that is its proof.
        all_[digest] = [c for c in known.claims if c.verified_by != "recomputation"]
    for record in records:
        ids.setdefault(record.digest, record.instance)
        all_.setdefault(record.digest, []).extend(claims_of(record))
    result = {}
    for digest in sorted(all_):
        claims = _best_of_each(all_[digest])
        if bounds.get(digest, 0.0) > 0:
            value = bounds[digest]
            claims.append(Claim("bound", value, "theoretical", verified_by="recomputation"))
        result[digest] = Claims("placebench-claims/1", digest, ids[digest], claims)
    return result


def _best_of_each(claims: list[Claim]) -> list[Claim]:
    """The best claim of every entry and kind, the earliest among equals; answers best first."""
    best: dict[tuple[str, str], Claim] = {}
    for claim in sorted(claims, key=lambda c: (c.date, c.by)):
        known = best.get((claim.kind, claim.by))
        sign = 1 if claim.kind == "answer" else -1
        if known is None or sign * claim.value < sign * known.value:
            best[claim.kind, claim.by] = claim
    return sorted(
        best.values(), key=lambda c: (c.kind, c.value if c.kind == "answer" else -c.value, c.by)
    )


def conflicts(records: Iterable[Record]) -> dict[str, set[str]]:
    """Entries whose claimed proof a checked answer contradicts -> ids of those instances.

    A claim that there is no answer is contradicted by any.
    """
    records = list(records)
    best: dict[str, float] = {}
    for record in records:
        if record.check == "ok" and record.objective is not None:
            best[record.digest] = min(record.objective, best.get(record.digest, record.objective))
    found: dict[str, set[str]] = {}
    for record in records:
        proof = claimed_proof(record)
        z = best.get(record.digest)
        never = record.claim == "infeasible"
        if z is not None and (never or (proof is not None and contradicts(proof, z))):
            found.setdefault(record.entry, set()).add(record.instance)
    return found


def load(folder: Path | None = None) -> dict[str, Claims]:
    """All claims on file, by digest; none where there is no folder.

    Raises
    ------
    FileError
        If a file there is broken.
    """
    found = (files.read(path, Claims) for path in sorted((folder or FOLDER).glob("*.json")))
    return {claims.digest: claims for claims in found}


def save(claims: Mapping[str, Claims], folder: Path | None = None) -> None:
    """Write one file a digest."""
    for digest, each in claims.items():
        files.write((folder or FOLDER) / f"{digest[:16]}.json", each)
