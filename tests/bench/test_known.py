"""Claims are taken from records that hold, and held against the checker again."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from bench import bks, known
from bench.job import Job
from bench.records import Store
from problems.answer import Answer, to_file
from problems.bounds.theoretical import theoretical
from problems.checker import check
from tests.bench import harness

INSTANCE = harness.instance()
DIGEST = INSTANCE.digest


ENTRY = dataclasses.replace(harness.entries("good")[0], source="")  # as if it were the suite's


def made(store, seed=0):
    """An honest record of everything on one device."""
    answer = Answer.of([0] * INSTANCE.n)
    job = Job(INSTANCE, ENTRY, seed, 0.5, None, 1, "0.1.0", "")
    return job.record(
        termination="completed",
        check="ok",
        objective=check(INSTANCE, answer).objective,
        answer=store.put_answer(to_file(answer, DIGEST)),
    )


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def updated(records, store, earlier=None, bounds=None):
    return known.update(records, store, earlier or {}, bounds or {}, {}, lambda d: INSTANCE)


def test_an_honest_record_becomes_known_once(store):
    record = made(store)
    found = updated([record], store)
    (change,) = found.changes
    assert (change.old, change.new.objective, change.new.by) == (None, record.objective, "good")
    assert (found.answers, found.faults) == ([record.answer], [])
    assert updated([record], store, found.claims).changes == []


def test_a_forged_record_changes_nothing_and_what_is_beside_it_counts(store):
    good = made(store)
    forged = made(store, seed=1)
    forged = msgspec.structs.replace(forged, objective=good.objective / 2)
    found = updated([forged, good], store)
    assert [change.new.objective for change in found.changes] == [good.objective]
    assert len(found.faults) == 1
    assert "its answer has" in found.faults[0]


def test_a_bound_that_an_answer_refutes_is_no_part_of_the_new_headline(store):
    record = made(store)
    (change,) = updated([record], store, bounds={DIGEST: 2 * record.objective}).changes
    assert (change.new.bound, len(change.new.refuted)) == (0.0, 1)


def test_what_is_on_file_is_checked_again(store):
    record = made(store)
    claims = updated([record], store).claims
    value = theoretical(INSTANCE).value

    def states(claims, bound=value, recompute=False):
        found = known.verified(claims, store, lambda d: INSTANCE, {DIGEST: bound}, {}, recompute)
        return [(each.kind, each.state) for each in found]

    def changed(**changes):
        (claim,) = claims[DIGEST].claims
        each = msgspec.structs.replace(claim, **changes)
        return {DIGEST: msgspec.structs.replace(claims[DIGEST], claims=[each])}

    assert states(claims, recompute=True) == [("answer", "ok"), ("bound", "ok")]
    assert states(claims, bound=value / 2, recompute=True)[1] == ("bound", "wrong")
    assert states(claims, bound=2 * record.objective)[1] == ("bound", "wrong")
    assert states(changed(value=record.objective / 2))[0] == ("answer", "wrong")
    assert states(changed(answer="0" * 64))[0] == ("answer", "wrong")
    invalid = store.put_answer(to_file(Answer.of([-1] * INSTANCE.n), DIGEST))
    assert states(changed(answer=invalid))[0] == ("answer", "wrong")
    proof = bks.Claim("bound", 2 * record.objective, "exact")
    both = msgspec.structs.replace(claims[DIGEST], claims=[*claims[DIGEST].claims, proof])
    assert states({DIGEST: both})[1] == ("bound", "conflict")
    found = list(known.verified(claims, store, lambda d: None, {}, {}))
    assert [each.state for each in found] == ["wrong"]
