"""What lies behind a leaderboard: the runs that it shows, and the best answer of every instance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench import bks, results
from bench.leaderboard.board import Board, Conditions, Unlike
from bench.records import Record, Store
from problems.answer import Answer, from_file
from problems.files import FileError
from problems.instance import Instance
from solvers import objective

SAME = 1e-9  # relative: an answer that is drawn has the objective that is written beside it


@dataclass(frozen=True)
class Drawn:
    """An answer as a page shows it: who found it, when, and its objective in seconds."""

    answer: Answer
    digest: str
    objective: float
    by: str
    date: str


@dataclass(frozen=True)
class Evidence:
    """Runs and answers of a board.

    Attributes
    ----------
    runs : mapping of str to sequence of Record
        Digest of the instance -> the runs that the board counts, by entry and seed.
    store : Store
        Where their answers are.
    claims : mapping of str to Claims
        Digest -> what is on file of the instance besides.
    published : Store or None
        Where the answers of those claims are.
    load : callable
        Digest -> instance; None where it is unknown.
    """

    runs: Mapping[str, Sequence[Record]]
    store: Store
    claims: Mapping[str, bks.Claims]
    published: Store | None
    load: Callable[[str], Instance | None]

    def drawn(self, digest: str, instance: Instance) -> Drawn | None:
        """The best answer that is at hand and has the objective that is claimed of it.

        None where there is none: what is at odds is not drawn.
        """
        found = self.runs.get(digest, ())
        claims = [c for r in found for c in bks.claims_of(r)]
        if digest in self.claims:
            claims += self.claims[digest].claims
        answers = [c for c in claims if c.kind == "answer" and c.verified_by == "checker"]
        for claim in sorted(answers, key=lambda c: (c.value, c.date, c.by)):
            answer = self._answer(claim.answer, digest)
            if answer is None:
                continue
            value = objective.value(instance, answer)
            if value is not None and math.isclose(value, claim.value, rel_tol=SAME):
                return Drawn(answer, claim.answer, value, claim.by, claim.date)
        return None

    def _answer(self, name: str, digest: str) -> Answer | None:
        for store in (self.store, self.published):
            if store is None or not name or not store.has_answer(name):
                continue
            try:
                file = store.get_answer(name)
                if file.instance == digest:
                    return from_file(file)
            except FileError:
                continue  # damaged here: perhaps not there; verify and `bks verify` name it
        return None


def runs_of(board: Board, records: Iterable[Record]) -> dict[str, list[Record]]:
    """The runs that a board counts, by digest of the instance; each list by entry and seed."""
    together = isinstance(board.conditions, Unlike)
    chosen = (r for r in records if together or Conditions.of(r) == board.conditions)
    found: dict[str, list[Record]] = {}
    for record in results.newest(chosen):
        found.setdefault(record.digest, []).append(record)
    return found
