"""From submissions to the tables of the leaderboard: closed ones by track, open ones in one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import bks
from bench.leaderboard.gather import Source
from bench.records import Record, Store, key_of
from bench.submissions.checking import Shared, examine, there
from bench.submissions.folder import Folder
from bench.submissions.layout import ClaimedRun, Submission
from bench.submissions.tracks import OPEN, TRACKS, track_of
from problems import answer as answers
from problems.files import FileError


@dataclass(frozen=True)
class Ranked:
    """A table: the records of all its submissions, every one of which passes all checks.

    Attributes
    ----------
    name : str
        Of the track, or ``open``.
    source : Source
    open : bool
        Whether runs under unlike conditions stand in it.
    """

    name: str
    source: Source
    open: bool


class Several(Store):
    """Several stores to read from as one: those of submissions."""

    def __init__(self, stores: Sequence[Store]) -> None:
        super().__init__(bks.RESULTS)
        self._stores = stores

    def has_answer(self, name: str) -> bool:  # noqa: D102
        return any(each.has_answer(name) for each in self._stores)

    def get_answer(self, name: str) -> answers.AnswerFile:  # noqa: D102
        for each in self._stores:
            if each.has_answer(name):
                return each.get_answer(name)
        raise FileError(f"{name}: no submission has this answer")

    def answer_bytes(self, name: str) -> bytes:  # noqa: D102
        for each in self._stores:
            if each.has_answer(name):
                return each.answer_bytes(name)
        raise FileError(f"{name}: no submission has this answer")

    def get_environment(self, name: str) -> dict[str, Any]:  # noqa: D102
        for each in self._stores:
            if name in {path.stem for path in each.environment_paths()}:
                return each.get_environment(name)
        raise FileError(f"{name}: no submission has this environment")

    def environment_paths(self) -> list[Path]:  # noqa: D102
        found = {path.stem: path for each in self._stores for path in each.environment_paths()}
        return [found[name] for name in sorted(found)]


def tables(shared: Shared) -> tuple[list[Ranked], list[str]]:
    """The tables of all submissions in ``shared.root``, and what was set aside and why.

    One that fails a check is not ranked. Neither is one that was withdrawn or superseded: they are
    listed beside the table.

    Raises
    ------
    FileError
        If there is no submission at all.
    """
    paths = there(shared.root)
    if not paths:
        raise FileError(f"{shared.root}: no submissions there")
    groups: dict[str, list[Folder]] = {}
    retired: dict[str, list[str]] = {}
    faults = []
    for path in paths:
        folder = Folder(path)
        failed = [each for each in examine(folder, shared) if each.errors]
        about = folder.submission
        if failed or isinstance(about, str):
            faults.append(f"{path.name}: check {failed[0].check}: {failed[0].errors[0]}")
            continue
        name = _table(about)
        if name is None:
            continue
        if about.status == "active":
            groups.setdefault(name, []).append(folder)
        else:
            retired.setdefault(name, []).append(_told(about))
    order = [track.name for track in TRACKS] + [OPEN]
    found = []
    for name in sorted(groups, key=order.index):
        records: list[Record] = []
        remarks = list(retired.get(name, []))
        for folder in groups[name]:
            records += records_of(folder, shared)
            remarks += _remarks(folder)
        source = Source(Several(groups[name]), records, str(shared.root), remarks=remarks)
        found.append(Ranked(name, source, name == OPEN))
    return found, faults


def _table(about: Submission) -> str | None:
    """Where a submission is ranked; None for a track that has no table."""
    if about.division == "open":
        return OPEN
    track = track_of(about)
    return track.name if track is not None and track.ranked else None


def _told(about: Submission) -> str:
    by = f" by {about.superseded_by}" if about.superseded_by else ""
    return f"Not ranked: {about.name}, {about.status}{by} on {about.changed}: {about.why}"


def _remarks(folder: Folder) -> list[str]:
    about = folder.submission
    assert isinstance(about, Submission)
    found = []
    if folder.claimed:
        found.append(
            f"{about.entry}: only the answers were checked; times are as claimed, on"
            f" {about.machine}"
        )
    if about.incomplete:
        found.append(f"{about.entry}: incomplete: {about.incomplete}")
    return found


def records_of(folder: Folder, shared: Shared) -> Iterable[Record]:
    """The records of a submission; claims become such, with the checker's objective."""
    about = folder.submission
    assert isinstance(about, Submission)
    for run in folder.runs:
        yield run if isinstance(run, Record) else _record(run, about, folder, shared)


def _record(claim: ClaimedRun, about: Submission, folder: Folder, shared: Shared) -> Record:
    entry = shared.entries[claim.digest]
    objective = shared.verdict(folder, claim.digest, claim.answer)
    assert isinstance(objective, float), "it passed the check `judged`"
    limit = about.time_limit_s or claim.time_s or 1.0
    key: dict[str, Any] = {
        "digest": claim.digest, "options": about.options, "seed": claim.seed,
        "method": about.entry, "source": f"claimed by {about.name}", "time_limit_s": limit,
        "memory_limit_bytes": None, "threads": about.threads, "suite": about.suite,
    }  # fmt: skip
    return Record(
        format="placebench-record/1",
        key=key_of(**key),
        instance=claim.instance,
        problem=entry.problem,
        family=entry.family,
        entry=about.entry,
        termination="completed",
        check="ok",
        objective=objective,
        answer=claim.answer,
        claim=claim.claim,
        wall_s=claim.time_s,
        environment="",
        date=about.date,
        **key,
    )
