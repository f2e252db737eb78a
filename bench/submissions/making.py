"""From records, or answers of one's own, to the folder of a submission."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from bench.entries import Entry, load_method
from bench.leaderboard.gather import Source
from bench.records import Record
from bench.results import newest
from bench.submissions.checking import Shared
from bench.submissions.folder import Folder
from bench.submissions.layout import (
    SUBMISSION,
    ClaimedRun,
    Division,
    Status,
    Submission,
    asked_digest,
    content_digest,
    plain,
)
from problems import files
from problems.answer import AnswerFile
from problems.files import FileError, encode, write_atomically
from problems.instance import Instance


@dataclass(frozen=True)
class About:
    """What people say of a submission; fields as in :class:`Submission`."""

    name: str
    authors: Sequence[str]
    description: str
    links: Sequence[str] = ()
    division: Division = "closed"
    date: str = ""
    incomplete: str = ""
    machine: str = ""


@dataclass(frozen=True)
class Asked:
    """The instances that were asked for: the texts of ``-i``, and digest -> id."""

    texts: Sequence[str]
    digests: dict[str, str]


def today() -> str:
    """The date in UTC."""
    return datetime.now(UTC).date().isoformat()


def of_records(
    source: Source,
    entry: Entry,
    asked: Asked,
    about: About,
    find: Callable[[str], Instance | None],
    time_limit_s: float | None = None,
    published: str = "",
) -> tuple[Submission, list[Record]]:
    """A submission of what an entry did on the instances asked for; failed runs are part of it.

    Parameters
    ----------
    find : callable
        Digest -> instance.
    time_limit_s : float, optional
        Of the runs; it has to be told where there are runs under several.
    published : str
        Name of the published file that `source` is, where the submission is to refer to it.

    Raises
    ------
    FileError
        If there are no runs of the entry, several kinds of them, or some are missing that the
        method does not refuse and `about` does not say why.
    """
    mine = [
        record
        for record in source.records
        if record.entry == entry.label
        and record.source == entry.source
        and record.digest in asked.digests
        and time_limit_s in (None, record.time_limit_s)
    ]
    if not mine:
        limit = "" if time_limit_s is None else f" under {time_limit_s:g} s"
        there = ", ".join(sorted({r.entry for r in source.records})) or "none"
        raise FileError(
            f"{source.name}: no runs of {entry.label}{limit} on these instances; entries there: "
            f"{there}" + (" (of its file as it is now)" if entry.source else "")
        )
    condition = _one_kind(mine, source.name)
    runs = sorted(newest(mine), key=lambda record: record.key)
    seeds = sorted({record.seed for record in runs})
    refused, missing = _not_run(entry, asked, runs, find)
    if not about.incomplete:
        _require_all(runs, seeds, missing, source.name)
    submission = _submission(about, asked, runs, seeds, condition, refused)
    return msgspec.structs.replace(submission, published=published), runs


def _one_kind(records: Sequence[Record], where: str) -> dict[str, Any]:
    """What all records have in common."""
    found: dict[str, Any] = {}
    for name in ("entry", "options", "source", "time_limit_s", "threads", "memory_limit_bytes",
                 "suite"):  # fmt: skip
        values = {encode(getattr(record, name)): getattr(record, name) for record in records}
        if len(values) > 1:
            told = ", ".join(str(values[key]) for key in sorted(values))
            how = "; --time chooses" if name == "time_limit_s" else ""
            raise FileError(f"{where}: runs of several kinds, {name} is {told}{how}")
        found[name] = next(iter(values.values()))
    return found


def _not_run(
    entry: Entry,
    asked: Asked,
    runs: Iterable[Record],
    find: Callable[[str], Instance | None],
) -> tuple[dict[str, list[str]], list[str]]:
    """Instances without a run: those that the method refuses, by reason, and the others."""
    method = load_method(entry.method, entry.file, entry.source)
    refused: dict[str, list[str]] = {}
    missing = []
    for digest in sorted(asked.digests.keys() - {run.digest for run in runs}):
        instance = find(digest)
        reason = None if instance is None else method.refusal(instance)
        if reason is None:
            missing.append(asked.digests[digest])
        else:
            refused.setdefault(str(reason), []).append(asked.digests[digest])
    return {reason: sorted(refused[reason]) for reason in sorted(refused)}, sorted(missing)


def _require_all(
    runs: Sequence[Record], seeds: Sequence[int], missing: Sequence[str], where: str
) -> None:
    cells = {(run.digest, run.seed) for run in runs}
    names = {run.digest: run.instance for run in runs}
    lacking = [*missing]
    lacking += [f"{names[d]}, seed {s}" for d in names for s in seeds if (d, s) not in cells]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise FileError(
            f"{where}: not run: {lacking[0]}{more}; the same `placebench run` fills in what is"
            " missing, or --incomplete WHY says why it is"
        )


def of_claims(
    claims: Sequence[tuple[ClaimedRun, AnswerFile]],
    entry: str,
    asked: Asked,
    about: About,
    suite: str,
) -> tuple[Submission, list[ClaimedRun]]:
    """A submission of answers that were found elsewhere, for the open division.

    Raises
    ------
    FileError
        If there are none, or an instance is missing and `about` does not say why.
    """
    runs = [claim for claim, _ in claims]
    if not runs:
        raise FileError("there are no claims")
    missing = sorted(asked.digests[d] for d in asked.digests.keys() - {r.digest for r in runs})
    if missing and not about.incomplete:
        raise FileError(f"no answer to {missing[0]} ({len(missing)} instances): --incomplete WHY")
    seeds = sorted({run.seed for run in runs})
    condition = {"entry": entry, "time_limit_s": None, "threads": 1, "suite": suite}
    return _submission(about, asked, runs, seeds, condition, {}), runs


def _submission(
    about: About,
    asked: Asked,
    runs: Sequence[Record | ClaimedRun],
    seeds: list[int],
    condition: dict[str, Any],
    refused: dict[str, list[str]],
) -> Submission:
    found = Submission(
        format="placebench-submission/1",
        name=about.name,
        authors=list(about.authors),
        description=about.description,
        links=list(about.links),
        date=about.date or today(),
        division=about.division,
        instances=list(asked.texts),
        asked=asked_digest(asked.digests),
        count=len(asked.digests),
        seeds=seeds,
        records=len(runs),
        content=content_digest(runs),
        refused=refused,
        incomplete=about.incomplete,
        machine=about.machine,
        **condition,
    )
    # Lengths and ranges are told as they would be where it is read.
    return files.decode(plain(found), Submission, about.name)


def retire(name: str, status: Status, why: str, shared: Shared, by: str = "") -> Submission:
    """Withdraw a submission, or let another one supersede it; it stays on file.

    Raises
    ------
    FileError
        If there is none of that name, or it is not active.
    """
    known = shared.siblings()
    if name not in known:
        raise FileError(f"no submission {name!r}; there are {', '.join(sorted(known)) or 'none'}")
    folder = Folder(shared.root / name)
    about = folder.submission
    if isinstance(about, str):
        raise FileError(about)
    if about.status != "active":
        raise FileError(f"{name}: is {about.status} already ({about.changed}: {about.why})")
    changed = msgspec.structs.replace(
        about, status=status, why=why, superseded_by=by, changed=today()
    )
    write_atomically(shared.root / name / SUBMISSION, plain(changed))
    return changed
