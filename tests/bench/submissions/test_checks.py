"""Every check finds what it is for, and none is skipped because another one failed."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import msgspec
import pytest

from bench.records import Store
from bench.submissions import layout
from bench.submissions.checking import CHECKS, Shared, all_checks, examine
from bench.submissions.folder import MIB, Folder
from problems.answer import Answer, to_file
from problems.files import encode
from tests.bench.submissions.conftest import SAID, change, copy, edit, results, rewrite


def lines_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / layout.RECORDS).read_bytes().splitlines()]


def answer_of(folder: Path) -> Path:
    return sorted(folder.glob("answers/*/*.json.gz"))[0]


def text_of(folder: Path) -> str:
    return (folder / layout.SUBMISSION).read_text()


def put(folder: Path, text: str) -> None:
    (folder / layout.SUBMISSION).write_text(text)


def linked_answer(folder: Path) -> None:
    """An answer that lies outside, as any file of the machine could."""
    path = answer_of(folder)
    outside = folder.parent.parent / "outside.json.gz"
    path.rename(outside)
    path.symlink_to(outside)


def with_environment(folder: Path, **said) -> None:
    name = Store(folder).put_environment({**SAID, **said})
    edit(folder, environment=name)


def with_answer(folder: Path, device, of: int = 0) -> None:
    """Give the first record another answer, stored and named as it should be."""
    lines = lines_of(folder)
    file = to_file(Answer.of(device), lines[of]["digest"])
    edit(folder, answer=Store(folder).put_answer(file), trace=[])


def bomb(folder: Path) -> None:
    """A small file that would be 65 MiB."""
    answer_of(folder).write_bytes(gzip.compress(b" " * (65 * MIB), 9))


def twins(folder: Path) -> None:
    copy(folder, "other")


def in_a_circle(folder: Path) -> None:
    other = copy(folder, "other")
    said = {"status": "superseded", "why": "better", "changed": "2026-12-01"}
    change(other, superseded_by=folder.name, **said)
    change(folder, superseded_by="other", **said)


def without_one_instance(folder: Path) -> None:
    lines = lines_of(folder)
    rewrite(folder, [each for each in lines if each["digest"] != lines[0]["digest"]])


def with_claims(folder: Path) -> None:
    first = lines_of(folder)[0]
    claim = {"instance": first["instance"], "digest": first["digest"], "answer": first["answer"],
             "time_s": 1.0}  # fmt: skip
    (folder / layout.RECORDS).unlink()
    (folder / layout.CLAIMS).write_text(json.dumps(claim))


def retired(**fields):
    said = {"status": "withdrawn", "why": "wrong", "changed": "2026-12-01", **fields}
    return lambda folder: change(folder, **said)


def line(text: str):
    """Append a line to the records."""

    def append(folder: Path) -> None:
        with open(folder / layout.RECORDS, "a") as file:
            file.write(text + "\n")

    return append


SPOILED = {
    "folder": {
        "a linked answer": linked_answer,
        "a linked file": lambda f: (f / "README.md").symlink_to("/etc/passwd"),
        "a linked folder": lambda f: (f / "answers" / "zz").symlink_to(f.parent),
        "a pipe": lambda f: os.mkfifo(f / "records"),
        "a strange file": lambda f: (f / "run.sh").write_text("rm -rf /"),
        "an answer in the wrong place": lambda f: answer_of(f).rename(f / "answers" / "x.json.gz"),
        "deep folders": lambda f: (f / "a/b/c/d/e").mkdir(parents=True),
        "records and claims": lambda f: (f / layout.CLAIMS).write_text(""),
    },
    "sizes": {
        "huge records": lambda f: os.truncate(f / layout.RECORDS, 13 * MIB),
        "a huge answer": lambda f: os.truncate(answer_of(f), 3 * MIB),
        "a huge description": lambda f: os.truncate(f / layout.SUBMISSION, MIB),
    },
    "submission": {
        "missing": lambda f: (f / layout.SUBMISSION).unlink(),
        "empty": lambda f: put(f, ""),
        "no JSON": lambda f: put(f, "name = 'mine'"),
        "no UTF-8": lambda f: (f / layout.SUBMISSION).write_bytes(b'{"name": "\xff"}'),
        "a list": lambda f: put(f, "[]"),
        "nested": lambda f: put(f, "[" * 100_000),
        "NaN": lambda f: put(f, text_of(f).replace('"time_limit_s": 10.0', '"time_limit_s": NaN')),
        "a key twice": lambda f: put(f, text_of(f).replace("{", '{"name": "mine",', 1)),
        "an unknown field": lambda f: change(f, rank=1),
        "a wrong type": lambda f: change(f, seeds="0"),
        "a number as text": lambda f: change(f, threads="1"),
        "a fraction": lambda f: change(f, records=1.5),
        "a seed below 0": lambda f: change(f, seeds=[-1]),
        "another format": lambda f: change(f, format="placebench-submission/9"),
        "no authors": lambda f: change(f, authors=[]),
        "an endless description": lambda f: change(f, description="x" * 5000),
    },
    "fields": {
        "an empty author": lambda f: change(f, authors=[" "]),
        "an empty description": lambda f: change(f, description=""),
        "control characters": lambda f: change(f, description="good \x1b[31m"),
        "a script as link": lambda f: change(f, links=["javascript:alert(1)"]),
        "a link with a quote": lambda f: change(f, links=['https://x/"onclick="']),
        "no date": lambda f: change(f, date="yesterday"),
        "a date to come": lambda f: change(f, date="2999-01-01"),
    },
    "name": {
        "another folder": lambda f: change(f, name="yours"),
        "a path": lambda f: change(f, name="../mine"),
        "the same entry twice": twins,
        "differs in capitals": lambda f: copy(f, "MINE"),
    },
    "status": {
        "withdrawn without why": retired(why=""),
        "withdrawn without a date": retired(changed=""),
        "superseded by nothing": retired(status="superseded", superseded_by="nobody"),
        "superseded by a path": retired(status="superseded", superseded_by="../mine"),
        "in a circle": in_a_circle,
        "active with a reason": lambda f: change(f, why="no"),
    },
    "division": {
        "no track": lambda f: change(f, time_limit_s=11.0),
        "no track of these instances": lambda f: change(f, instances=["smoke"]),
        "two threads": lambda f: change(f, threads=2),
        "a memory limit": lambda f: change(f, memory_limit_bytes=1 << 30),
        "claims": with_claims,
    },
    "lines": {
        "garbage": line("garbage"),
        "cut short": lambda f: os.truncate(f / layout.RECORDS, 1000),
        "NaN": line('{"format": NaN}'),
        "nested": line("[" * 100_000),
        "a key twice": lambda f: (f / layout.RECORDS).write_text(
            (f / layout.RECORDS).read_text().replace('{"', '{"seed":7,"', 1)
        ),
        "missing": lambda f: (f / layout.RECORDS).unlink(),
        "empty": lambda f: (f / layout.RECORDS).write_text(""),
        "one less": lambda f: (f / layout.RECORDS).write_text(
            "\n".join((f / layout.RECORDS).read_text().splitlines()[1:])
        ),
        "edited": lambda f: (f / layout.RECORDS).write_text(
            (f / layout.RECORDS).read_text().replace('"wall_s":0.5', '"wall_s":0.1', 1)
        ),
    },
    "keys": {
        "edited": lambda f: edit(f, seed=5),
        "another entry": lambda f: edit(f, entry="heft"),
        "other options": lambda f: change(f, options={"restarts": 3}),
        "another source": lambda f: change(f, source="0" * 64),
    },
    "instances": {
        "unknown": lambda f: edit(f, digest="0" * 64),
        "another id": lambda f: edit(f, instance="net/platform/latency"),
        "another problem": lambda f: edit(f, problem="calls"),
        "another family": lambda f: edit(f, family="mine"),
    },
    "limits": {
        "more time": lambda f: edit(f, time_limit_s=100.0),
        "more threads": lambda f: edit(f, threads=8),
        "more memory": lambda f: edit(f, memory_limit_bytes=1 << 40),
        "another suite": lambda f: edit(f, suite="0.0.9"),
    },
    "coverage": {
        "an instance less": without_one_instance,
        "refused, but run": lambda f: change(f, refused={"why": [lines_of(f)[0]["instance"]]}),
        "refused without a reason": lambda f: change(f, refused={"": ["x"]}),
        "refused, but not there": lambda f: change(f, refused={"why": ["nobody"]}),
        "an unknown selection": lambda f: change(f, instances=["nonsense"]),
        "a file": lambda f: change(f, instances=["/etc/passwd.json"]),
        "complete, but said to be not": lambda f: change(f, incomplete="lazy"),
        "another count": lambda f: change(f, count=5),
    },
    "seeds": {
        "missing": lambda f: rewrite(f, lines_of(f)[1:]),
        "another": lambda f: edit(f, seed=9),
        "twice": lambda f: change(f, seeds=[0, 1, 1]),
    },
    "duplicates": {"a line twice": lambda f: rewrite(f, [*lines_of(f), lines_of(f)[0]])},
    "answers": {
        "missing": lambda f: answer_of(f).unlink(),
        "empty": lambda f: answer_of(f).write_bytes(b""),
        "no gzip": lambda f: answer_of(f).write_bytes(b"{}"),
        "cut short": lambda f: answer_of(f).write_bytes(answer_of(f).read_bytes()[:-9]),
        "something after": lambda f: answer_of(f).write_bytes(answer_of(f).read_bytes() + b"x"),
        "another content": lambda f: answer_of(f).write_bytes(gzip.compress(b"{}")),
        "would be huge": bomb,
        "linked": linked_answer,
        "none named": lambda f: edit(f, answer=""),
        "a path as name": lambda f: edit(f, answer="../../../../etc/passwd"),
        "one too many": lambda f: Store(f).put_answer(to_file(Answer.of([0, 0]), "0" * 64)),
    },
    "judged": {
        "no such device": lambda f: with_answer(f, [99] * 8),
        "too short": lambda f: with_answer(f, [0]),
        "of another instance": lambda f: edit(
            f, answer=sorted({r["answer"] for r in lines_of(f)} - {lines_of(f)[0]["answer"]})[0]
        ),
    },
    "objectives": {
        "better than it is": lambda f: edit(f, objective=1e-9),
        "none": lambda f: edit(f, objective=None),
        "without an answer": lambda f: edit(f, check="none"),
    },
    "claims": {
        "a bound above its answer": lambda f: edit(f, claimed_bound=1e9),
        "infeasible": lambda f: edit(f, claim="infeasible"),
    },
    "overrun": {
        "in the end": lambda f: edit(f, overrun_s=10.0),
        "on the clock": lambda f: edit(f, wall_s=60.0),
        "an answer after the limit": lambda f: edit(f, trace=[(11.0, 1.0)]),
    },
    "times": {
        "below 0": lambda f: edit(f, wall_s=-1.0),
        "a trace that gets worse": lambda f: edit(f, trace=[(0.1, 1.0), (0.2, 2.0)]),
        "a trace back in time": lambda f: edit(f, trace=[(0.2, 2.0), (0.1, 1.0)]),
        "a trace that ends above": lambda f: edit(f, trace=[(0.1, 1e9)]),
        "no date": lambda f: edit(f, date="soon"),
        "a date to come": lambda f: edit(f, date="2999-01-01T00:00:00+00:00"),
    },
    "environment": {
        "missing": lambda f: edit(f, environment="0" * 64),
        "none": lambda f: edit(f, environment=""),
        "edited": lambda f: [p.write_text(p.read_text().replace("Linux", "Unix"))
                             for p in f.glob("environments/*.json")],
        "no machine": lambda f: with_environment(f, cpu=""),
        "another suite": lambda f: with_environment(f, suite="9"),
    },
    "calibration": {
        "none": lambda f: with_environment(f, calibration={}),
        "nonsense": lambda f: with_environment(f, calibration=[1]),
        "no number": lambda f: with_environment(f, calibration={"median_s": "fast"}),
        "below 0": lambda f: with_environment(f, calibration={"median_s": -1.0}),
        "edited after": lambda f: [p.write_text(p.read_text().replace("median_s", "mean_s"))
                                   for p in f.glob("environments/*.json")
                                   if "environment-after" in p.read_text()],
    },
}  # fmt: skip
WARNINGS_ONLY = {"bounds"}  # an answer below a bound refutes the bound


def test_every_check_is_broken_here():
    assert len({each.name for each in all_checks()}) == len(CHECKS) > 20
    assert set(SPOILED) | WARNINGS_ONLY == {each.name for each in CHECKS}


def test_a_good_submission_passes_every_check(good):
    found = results(good)
    assert {name: each.state for name, each in found.items()} == dict.fromkeys(found, "ok")
    looked = {name for name, each in found.items() if each.looked == 0}
    assert looked == {"name"}  # it has no neighbours


@pytest.mark.parametrize(
    ("check", "how"), [(check, how) for check, ways in SPOILED.items() for how in ways]
)
def test_a_spoiled_submission_fails_its_check_and_all_are_made(good, check, how):
    SPOILED[check][how](good)
    found = results(good)
    assert found[check].state == "error", found[check]
    assert found[check].errors
    assert set(found) == {each.name for each in CHECKS}
    assert all("\n" not in text for each in found.values() for text in each.errors)


def test_the_folder_itself_may_not_be_a_link(good):
    link = good.parent / "linked"
    link.symlink_to(good)
    found = results(link)
    assert found["folder"].errors == [". is a symbolic link"]
    assert found["submission"].state == "error"


def test_a_stranger_cannot_name_published_records(good, tmp_path):
    change(good, published="../../secret")
    assert "no name of published records" in results(good)["lines"].errors[0]
    elsewhere = tmp_path / "elsewhere" / "mine"
    elsewhere.parent.mkdir()
    good.rename(elsewhere)
    change(elsewhere, published="baseline")
    assert "only the repository's own" in results(elsewhere)["division"].errors[0]


def test_an_answer_below_a_bound_is_a_warning(good):
    shared = Shared(root=good.parent)
    shared.headlines  # noqa: B018  # computed, to be changed
    for digest, head in shared.headlines.items():
        values = {**vars(head), "bound": 1e9, "bound_by": "wrong-bound"}
        shared.headlines[digest] = type(head)(**values)
    found = {each.check: each for each in examine(Folder(good), shared)}
    assert found["bounds"].state == "warning"
    assert "refutes the bound 1000000000.0 of wrong-bound" in found["bounds"].warnings[0]


def test_what_cannot_be_made_is_said(good):
    (good / layout.SUBMISSION).unlink()
    found = results(good)
    assert found["coverage"].state == "not made"
    assert found["folder"].state == "ok"
    assert sum(each.state == "error" for each in found.values()) == 1


def test_a_selection_that_has_grown_is_a_warning(good, library, monkeypatch):
    """What was asked for then is there; the table counts the rest as not run."""
    first = library.selections()["default"][0]
    lines = [each for each in lines_of(good) if each["instance"] != first]
    rewrite(good, lines)
    digests = {each["digest"] for each in lines}
    change(good, asked=layout.asked_digest(digests), count=len(digests))
    found = results(good)["coverage"]
    assert (found.state, len(found.warnings)) == ("warning", 1)
    assert "1 instances now" in found.warnings[0]
    rewrite(good, [each for each in lines if each["digest"] != lines[0]["digest"]])
    assert results(good)["coverage"].state == "error"


def test_incomplete_with_a_reason_is_a_warning(good):
    without_one_instance(good)
    change(good, incomplete="the machine was taken away")
    found = results(good)
    assert [found[name].state for name in ("coverage", "seeds")] == ["warning", "ok"]


def test_the_first_bytes_decide_that_a_file_is_not_read(good):
    os.truncate(good / layout.RECORDS, 1 << 40)  # sparse: it takes no room
    found = results(good)
    assert found["lines"].errors[0].endswith("it is not read")


def test_a_small_file_that_would_be_huge_is_not_unpacked(good):
    bomb(good)
    assert results(good)["sizes"].state == "ok"
    assert "bytes unpacked: it is not read" in results(good)["answers"].errors[0]


def test_encoding_is_the_same_everywhere(good):
    said = msgspec.json.decode((good / layout.SUBMISSION).read_bytes(), type=layout.Submission)
    assert layout.plain(said) == (good / layout.SUBMISSION).read_bytes()
    assert encode(said)
