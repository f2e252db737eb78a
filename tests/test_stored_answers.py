"""Every answer that is published with the repository is checked again."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import cache

import msgspec
import pytest

from bench import bks
from bench.records import Record, Store
from problems.answer import from_file
from problems.catalogue import Library
from problems.checker import check

STORE = Store(bks.RESULTS)
PARTS = 8  # spread over the processes of a test run; all together take 20 s of CPU time


@cache
def said() -> dict[str, dict[str, set[float]]]:
    """Digest of the instance -> digest of the answer -> objectives that something on file names."""
    found: dict[str, dict[str, set[float]]] = defaultdict(lambda: defaultdict(set))
    for digest, each in bks.load().items():
        for claim in each.claims:
            if claim.kind == "answer":
                found[digest][claim.answer].add(claim.value)
    for path in sorted((bks.RESULTS / "records").glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            record = msgspec.json.decode(line, type=Record)
            if record.check == "ok":
                found[record.digest][record.answer].add(record.objective)
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_stored_answers_are_what_is_said_of_them(part):
    library = Library()
    names = {entry.digest: entry.id for entry in library.entries()}
    checked = 0
    for digest in sorted(said())[part::PARTS]:
        instance = library.load(names[digest])
        for name, values in said()[digest].items():
            file = STORE.get_answer(name)
            assert file.instance == digest
            verdict = check(instance, from_file(file))
            assert verdict.valid, (instance.id, name, verdict.violations)
            for value in values:
                assert math.isclose(verdict.objective, value, rel_tol=1e-9), (instance.id, name)
            checked += 1
    assert checked > 50


def test_every_stored_answer_belongs_to_something():
    stored = {path.name.removesuffix(".json.gz") for path in STORE.root.glob("answers/*/*.json.gz")}
    assert stored == {name for answers in said().values() for name in answers}


def test_no_claim_on_file_is_in_conflict():
    refuted = {
        each.instance: bks.headline(each.claims).refuted
        for each in bks.load().values()
        if bks.headline(each.claims).refuted
    }
    assert refuted == {}
