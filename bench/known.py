"""What is best known, brought up to date from records, and verified again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench import bks, verify
from bench.bks import Claim, Claims, Headline
from bench.records import Record, Store
from bench.verify import OBJECTIVE_TOLERANCE
from problems import answer as answers
from problems.bounds.theoretical import theoretical
from problems.checker import check
from problems.files import FileError
from problems.instance import Instance

Load = Callable[[str], Instance | None]
"""Digest -> instance; None where it is unknown."""


@dataclass(frozen=True)
class Change:
    """Headline of one instance before and after; no headline where nothing was known."""

    instance: str
    digest: str
    old: Headline | None
    new: Headline


@dataclass(frozen=True)
class Update:
    """What records change.

    Attributes
    ----------
    claims : mapping of str to Claims
        All claims by digest, to be saved.
    changes : sequence of Change
    answers : sequence of str
        Digests of answers that claims newly name.
    faults : sequence of str
        Records that are not what the checker says, one line each; they changed nothing.
    """

    claims: Mapping[str, Claims]
    changes: Sequence[Change]
    answers: Sequence[str]
    faults: Sequence[str]


def update(
    records: Iterable[Record],
    store: Store,
    earlier: Mapping[str, Claims],
    bounds: Mapping[str, float],
    searched: Mapping[str, Claim],
    load: Load,
) -> Update:
    """Claims with those of `records`; every answer that becomes one is checked again before.

    Parameters
    ----------
    store : Store
        Where the answers are.
    bounds, searched
        As :func:`bench.bks.gather` takes them.
    """
    records = list(records)
    known = {claim for each in earlier.values() for claim in each.claims}
    before = bks.gather([], bounds, earlier, searched)
    faults: list[str] = []
    loaded: dict[str, Instance | None] = {}
    while True:
        now = bks.gather(records, bounds, earlier, searched)
        fresh = {c for each in now.values() for c in each.claims if c not in known and not c.own}
        bad = set()
        for record in records:
            if fresh.isdisjoint(bks.claims_of(record)):
                continue
            if record.digest not in loaded:
                loaded[record.digest] = load(record.digest)
            why = verify.fault(record, store, loaded[record.digest])
            if why is not None:
                bad.add(id(record))
                faults.append(f"{record.entry} on {record.instance}, seed {record.seed}: {why}")
        if not bad:
            break
        records = [record for record in records if id(record) not in bad]
    changes = []
    for digest, each in now.items():
        old = bks.headline(before[digest].claims) if digest in before else None
        new = bks.headline(each.claims)
        if old != new:
            changes.append(Change(each.instance, digest, old, new))
    named = sorted({claim.answer for claim in fresh if claim.kind == "answer"})
    return Update(now, sorted(changes, key=lambda c: c.instance), named, faults)


@dataclass(frozen=True)
class Checked:
    """One claim on file, looked at again.

    Attributes
    ----------
    state : {'ok', 'wrong', 'conflict'}
        It holds; it does not; a checked answer contradicts a solver's proof.
    """

    instance: str
    kind: str
    by: str
    state: str
    note: str


def verified(
    claims: Mapping[str, Claims],
    store: Store,
    load: Load,
    bounds: Mapping[str, float],
    searched: Mapping[str, Claim],
    recompute: bool = False,
) -> Iterator[Checked]:
    """Check every answer that a claim names, and hold all bounds against the answers that hold.

    Parameters
    ----------
    recompute : bool
        Compute the cheap bounds again, and hold them against `bounds`.
    """
    for digest, each in sorted(claims.items(), key=lambda item: item[1].instance):
        instance = load(digest)
        sound: list[Claim] = []
        if instance is None:
            why = "no instance of the library has its digest"
            yield Checked(each.instance, "", "", "wrong", why)
            continue
        verdicts: dict[str, float | str] = {}
        for claim in each.claims:
            if claim.kind != "answer":
                continue
            if claim.answer not in verdicts:
                verdicts[claim.answer] = _verdict(claim.answer, store, instance)
            found = verdicts[claim.answer]
            if isinstance(found, str):
                yield Checked(each.instance, "answer", claim.by, "wrong", found)
            elif not math.isclose(found, claim.value, rel_tol=OBJECTIVE_TOLERANCE):
                note = f"the answer has {found!r} s, claimed are {claim.value!r} s"
                yield Checked(each.instance, "answer", claim.by, "wrong", note)
            else:
                sound.append(claim)
                yield Checked(each.instance, "answer", claim.by, "ok", f"{found!r} s")
        value = bounds.get(digest, 0.0)
        if recompute:
            computed = theoretical(instance).value
            same = math.isclose(computed, value, rel_tol=OBJECTIVE_TOLERANCE)
            note = f"recomputed {computed!r} s" + ("" if same else f", the catalogue has {value!r}")
            state = "ok" if same else "wrong"
            yield Checked(each.instance, "bound", "theoretical", state, note)
        word = [claim for claim in each.claims if claim.kind == "bound"]
        kept = Claims(each.format, digest, each.instance, [*sound, *word])
        final = bks.gather([], bounds, {digest: kept}, searched)[digest]
        head = bks.headline(final.claims)
        for claim in head.refuted:
            state = "wrong" if claim.own else "conflict"
            note = bks.refutation(each.instance, claim, head.objective or 0.0, head.by)
            yield Checked(each.instance, "bound", claim.by, state, note.partition(": ")[2])


def _verdict(name: str, store: Store, instance: Instance) -> float | str:
    """Checked objective of a stored answer in seconds, or what is wrong with it."""
    try:
        file = store.get_answer(name)
        if file.instance != instance.digest:
            return f"the answer {name[:16]} is of another instance"
        verdict = check(instance, answers.from_file(file))
    except FileError as error:
        return str(error)
    if verdict.objective is None:
        rule, what = verdict.violations[0]
        return f"the answer is invalid ({rule}): {what}"
    return verdict.objective
