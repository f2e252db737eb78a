"""Claims about one instance, and the headline that follows from them.

What counts as evidence, in this order: an answer that the checker accepted; a bound that was
computed now; a bound that a search of the suite's own once found and a file keeps (`searched`: its
proof can be found anew, but was not); what a solver says of its own run. A checked answer below a
bound refutes the bound, whatever its kind: the claim is reported as in conflict and is left out of
the headline until it is withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from bench import metrics

CLOSED = 1e-6  # relative; z* within this of b is optimal
Status = Literal["optimal", "best", "open"]
Kind = Literal["recomputed", "searched", ""]


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
        Conditions of the run or of the search.
    version : int
        Of a searched bound of the suite's own in the registry; 0 for everything else.
    verified_by : str
        ``checker`` for an answer; ``recomputation`` for a cheap bound of the suite's own; empty for
        what rests on a file or on the solver's word.
    """

    kind: Literal["answer", "bound"]
    value: float
    by: str
    date: str = ""
    answer: str = ""
    limit_s: float = 0.0
    threads: int = 0
    suite: str = ""
    version: int = 0
    verified_by: Literal["checker", "recomputation", ""] = ""

    @property
    def own(self) -> bool:
        """Whether it is a bound of the suite's own, recomputed or searched."""
        return self.kind == "bound" and bool(self.verified_by or self.version)


@dataclass(frozen=True)
class Headline:
    """What is known of one instance.

    Attributes
    ----------
    status : {'optimal', 'best', 'open'}
        The best answer meets a bound that was recomputed; there is an answer; there is none.
    objective : float or None
        z*, smallest checked objective in seconds; `by` found it first.
    bound : float
        b, largest lower bound of the suite's own in seconds that no checked answer refutes; 0 where
        nothing is known. `bound_by` is its name, `bound_kind` whether it was ``recomputed`` or is
        only on file from a search, ``searched``.
    proved : float or None
        Largest bound that an exact method claims and no checked answer contradicts; `proved_by`.
    refuted : tuple of Claim
        Bounds and proofs that the best checked answer contradicts, largest first.
    """

    status: Status
    objective: float | None
    by: str
    bound: float
    proved: float | None
    proved_by: str
    bound_by: str = ""
    bound_kind: Kind = ""
    refuted: tuple[Claim, ...] = ()

    @property
    def closed_by(self) -> str:
        """Who says, without a recomputed proof, that nothing better exists; empty for nobody."""
        if self.objective is None or self.status == "optimal":
            return ""
        if self.bound_kind == "searched" and _meets(self.objective, self.bound):
            return f"{self.bound_by} (searched)"
        if self.proved is not None and _meets(self.objective, self.proved):
            return self.proved_by
        return ""


def headline(claims: Iterable[Claim]) -> Headline:
    """Derive the headline; claims without verification can set neither z* nor ``optimal``."""
    claims = list(claims)
    best = best_answer(claims)
    z = best.value if best is not None else None
    wrong = [c for c in claims if z is not None and refutes(z, c)]
    bounds = [c for c in claims if c.kind == "bound" and c not in wrong]
    # Of equal bounds the one that was recomputed.
    ours = max((c for c in bounds if c.own), key=lambda c: (c.value, c.verified_by), default=None)
    sure = max((c.value for c in bounds if c.verified_by == "recomputation"), default=0.0)
    proved = max((c for c in bounds if not c.own), key=lambda c: c.value, default=None)
    if z is None:
        status: Status = "open"
    else:
        status = "optimal" if _meets(z, sure) else "best"
    kind: Kind = ""
    if ours is not None:
        kind = "recomputed" if ours.verified_by else "searched"
    return Headline(
        status,
        z,
        best.by if best is not None else "",
        ours.value if ours is not None else 0.0,
        proved.value if proved is not None else None,
        proved.by if proved is not None else "",
        ours.by if ours is not None else "",
        kind,
        tuple(sorted(wrong, key=lambda c: (-c.value, c.by))),
    )


def best_answer(claims: Sequence[Claim]) -> Claim | None:
    """The smallest checked answer, the earliest among equals; None where there is none."""
    answers = [c for c in claims if c.kind == "answer" and c.verified_by == "checker"]
    return min(answers, key=lambda c: (c.value, c.date, c.by), default=None)


def refutes(objective: float, claim: Claim) -> bool:
    """Whether a checked objective contradicts a bound.

    The suite's own bounds are rounded down, so that nothing but rounding of the objective is
    forgiven; solvers prove within their tolerance.
    """
    if claim.kind != "bound":
        return False
    if claim.own:
        return not metrics.compatible(objective, claim.value)
    return contradicts(claim.value, objective)


def contradicts(bound: float, objective: float) -> bool:
    """Whether a checked objective lies below a claimed bound by more than the tolerance."""
    return objective < bound * (1 - CLOSED)


def refutation(instance: str, claim: Claim, z: float, by: str) -> str:
    """One line: which claim, and which answer speaks against it."""
    kind = ", recomputed" if claim.verified_by else ", searched" if claim.own else ""
    return (
        f"{instance}: nothing is said to lie below {claim.value!r} s by {claim.by}{kind}, but the"
        f" checked answer of {by} takes {z!r} s"
    )


def _meets(objective: float, bound: float) -> bool:
    return objective <= bound * (1 + CLOSED)
