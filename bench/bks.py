"""Best known: claims about every instance, on file and from records.

One file a digest under ``results/best_known`` of the checkout. A claim of kind `answer` names a
stored answer that the checker accepted; one of kind `bound` names a method. The headline is
derived (:mod:`bench.headline`), never stored. The suite's own bounds are never read from these
files: cheap ones are recomputed, and those that search come from the store of bounds
(:mod:`bench.bounds`) while their proofs are unchanged;
``placebench bounds INSTANCE --search --seconds N --fresh`` finds them anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from bench.headline import CLOSED, Claim, Headline, contradicts, headline, refutation, refutes
from bench.records import Record
from problems import files

__all__ = [
    "CLOSED", "FOLDER", "RESULTS", "Claim", "Claims", "Headline", "claimed_proof", "claims_of",
    "conflicts", "contradicted", "contradicts", "gather", "headline", "load", "refutation", "save",
]  # fmt: skip

RESULTS = Path(__file__).resolve().parent.parent / "results"
FOLDER = RESULTS / "best_known"


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All claims about one instance, by its digest."""

    format: Literal["placebench-claims/1"]
    digest: str
    instance: str
    claims: list[Claim]


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
    searched: Mapping[str, Claim] | None = None,
) -> dict[str, Claims]:
    """Claims of every instance that `records` name; only the best of each kind and entry is kept.

    Parameters
    ----------
    bounds : mapping of str to float
        Digest -> lower bound in seconds that was recomputed.
    earlier : mapping of str to Claims, optional
        Known claims by digest; they are kept unless surpassed.
    searched : mapping of str to Claim, optional
        Digest -> largest bound on file that took a search.
    """
    ids: dict[str, str] = {}
    all_: dict[str, list[Claim]] = {}
    for digest, known in (earlier or {}).items():
        ids[digest] = known.instance
        # The suite's own bounds are always handed in afresh: that is their proof.
        all_[digest] = [c for c in known.claims if not c.own]
    for record in records:
        ids.setdefault(record.digest, record.instance)
        all_.setdefault(record.digest, []).extend(claims_of(record))
    result = {}
    for digest in sorted(all_):
        claims = _best_of_each(all_[digest])
        if bounds.get(digest, 0.0) > 0:
            value = bounds[digest]
            claims.append(Claim("bound", value, "theoretical", verified_by="recomputation"))
        if searched and digest in searched:
            claims.append(searched[digest])
        result[digest] = Claims("placebench-claims/1", digest, ids[digest], claims)
    return result


def _best_of_each(claims: list[Claim]) -> list[Claim]:
    """The best claim of every entry and kind, the earliest among equals; answers best first.

    A proof that an answer refutes is kept beside, lest it hide the entry's sound ones or be
    forgotten.
    """
    z = min((c.value for c in claims if c.kind == "answer" and c.verified_by), default=None)
    best: dict[tuple[str, str, bool], Claim] = {}
    for claim in sorted(claims, key=lambda c: (c.date, c.by)):
        place = (claim.kind, claim.by, z is not None and refutes(z, claim))
        known = best.get(place)
        sign = 1 if claim.kind == "answer" else -1
        if known is None or sign * claim.value < sign * known.value:
            best[place] = claim
    return sorted(
        best.values(), key=lambda c: (c.kind, c.value if c.kind == "answer" else -c.value, c.by)
    )


def conflicts(
    records: Iterable[Record], known: Mapping[str, Headline] | None = None
) -> dict[str, set[str]]:
    """Entries whose claimed proof a checked answer contradicts -> ids of those instances.

    A claim that there is no answer is contradicted by any.

    Parameters
    ----------
    known : mapping of str to Headline, optional
        By digest: answers, and contradicted claims, beside those of the records.
    """
    records = list(records)
    best: dict[str, float] = {}
    found: dict[str, set[str]] = {}
    names = {record.digest: record.instance for record in records}
    for digest, head in (known or {}).items():
        if head.objective is not None:
            best[digest] = head.objective
        for claim in head.refuted:
            if not claim.own:
                found.setdefault(claim.by, set()).add(names.get(digest, digest))
    for record in records:
        if record.check == "ok" and record.objective is not None:
            best[record.digest] = min(record.objective, best.get(record.digest, record.objective))
    for record in records:
        z = best.get(record.digest)
        if z is not None and contradicted(record, z):
            found.setdefault(record.entry, set()).add(record.instance)
    return found


def contradicted(record: Record, z: float) -> bool:
    """Whether an answer of `z` seconds to its instance shows that a run claimed too much."""
    proof = claimed_proof(record)
    return record.claim == "infeasible" or (proof is not None and contradicts(proof, z))


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
