"""Checks of what a submission is: its folder, its fields, its name, its status."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bench.submissions import folder as folders
from bench.submissions.checking import Case, Found, check, day
from bench.submissions.folder import Folder
from bench.submissions.layout import ANSWER, CLAIMS, ENVIRONMENT, NAME, RECORDS, SUBMISSION
from bench.submissions.tracks import THREADS, describe, track_of

README = "README.md"


@check("only the files of the format, none of them a link")
def folder(case: Case, found: Found) -> None:
    """See what kinds of files there are."""
    inside = case.folder
    found.looked = len(inside.sizes) + len(inside.strange)
    for name, what in inside.strange:
        found.error(f"{name} is {what}")
    plain = {SUBMISSION, RECORDS, CLAIMS, README}
    for name in inside.sizes:
        if name not in plain and not ANSWER.fullmatch(name) and not ENVIRONMENT.fullmatch(name):
            found.error(f"{name} does not belong into a submission")
    if {RECORDS, CLAIMS} <= inside.sizes.keys():
        found.error(f"{RECORDS} and {CLAIMS}: one or the other")
    if inside.refers and {RECORDS, CLAIMS} & inside.sizes.keys():
        found.error("it names published records and carries some")


@check("nothing too large")
def sizes(case: Case, found: Found) -> None:
    """Hold every file, and all of them, to what may be."""
    inside = case.folder.sizes
    found.looked = sum(inside.values())
    for name, size in inside.items():
        most = folders.LARGEST.get(name, folders.LARGEST_OTHER)
        if size > most:
            found.error(f"{name} has {size} bytes, more than {most}")
    if found.looked > folders.MOST_BYTES:
        found.error(f"{found.looked} bytes in all, more than {folders.MOST_BYTES}")
    if len(inside) > folders.MOST_FILES:
        found.error(f"more than {folders.MOST_FILES} files")


@check("submission.json has every field, of the right type")
def submission(case: Case, found: Found) -> None:
    """Read the description."""
    found.looked = 1
    if isinstance(case.folder.submission, str):
        found.error(case.folder.submission)


@check("authors, description, links and date are told", "submission")
def fields(case: Case, found: Found) -> None:
    """Look at what people wrote."""
    about = case.about
    texts = {"description": about.description, **{f"author {a!r}": a for a in about.authors}}
    for what, text in texts.items():
        found.looked += 1
        if not text.strip():
            found.error(f"{what} is empty")
        if any(not letter.isprintable() and letter != "\n" for letter in text):
            found.error(f"{what} has control characters")
    for link in about.links:
        found.looked += 1
        plain = link.isascii() and link.isprintable() and not set(link) & set(' "<>\\')
        if not plain or not link.startswith(("https://", "http://")):
            found.error(f"link {link!r} is no address on the web")
    for what, text in (("date", about.date), ("changed", about.changed)):
        if what == "changed" and not text:
            continue
        found.looked += 1
        when = day(text)
        if when is None:
            found.error(f"{what} {text!r} is not like 2026-12-01")
        elif when > (datetime.now(UTC) + timedelta(days=1)).date():
            found.error(f"{what} {text!r} is yet to come")


@check("named like its folder, and as nothing else is", "submission")
def name(case: Case, found: Found) -> None:
    """See that names and columns of tables are unique."""
    about = case.about
    if not NAME.fullmatch(about.name):
        found.error(f"{about.name!r} is no name: letters, digits, dots and dashes only")
    if about.name != case.folder.name:
        found.error(f"its name is {about.name!r}, that of the folder {case.folder.name!r}")
    for other, said in case.shared.siblings().items():
        if other == case.folder.name:
            continue
        found.looked += 1
        if other.casefold() == case.folder.name.casefold():
            found.error(f"{other!r} differs from its name in capitals only")
        if isinstance(said, str) or {said.status, about.status} != {"active"}:
            continue
        if said.entry == about.entry and _table(said) == _table(about):
            found.error(f"{other!r} has the entry {about.entry!r} in the same table")


def _table(about: object) -> object:
    from bench.submissions.layout import Submission

    assert isinstance(about, Submission)
    return about.division, track_of(about) if about.division == "closed" else None


@check("active, or withdrawn or superseded with a reason", "submission")
def status(case: Case, found: Found) -> None:
    """See that a change of status says when, why, and by what."""
    about = case.about
    found.looked = 1
    if about.status == "active":
        for what in ("why", "superseded_by", "changed"):
            if getattr(about, what):
                found.error(f"it is active, but has {what}")
        return
    if not about.why.strip():
        found.error(f"it is {about.status}, but does not say why")
    if not about.changed:
        found.error(f"it is {about.status}, but does not say since when (changed)")
    if about.status == "withdrawn":
        if about.superseded_by:
            found.error("it is withdrawn, but has superseded_by")
        return
    siblings = case.shared.siblings()
    seen = [about.name]
    after = about.superseded_by
    while True:
        if not NAME.fullmatch(after) or after not in siblings:
            found.error(f"it is superseded by {after!r}, which is no submission")
            return
        if after in seen:
            found.error(f"it is superseded by itself: {' -> '.join([*seen, after])}")
            return
        seen.append(after)
        next_ = siblings[after]
        if isinstance(next_, str) or next_.status != "superseded":
            return
        after = next_.superseded_by


@check("what its division asks for", "submission")
def division(case: Case, found: Found) -> None:
    """Hold a closed submission to its track; an open one needs a machine where it only claims."""
    about = case.about
    found.looked = 1
    if about.division == "closed":
        if track_of(about) is None:
            found.error(f"no track of the closed division has these: {describe()}")
        if about.threads != THREADS:
            found.error(f"{about.threads} threads; the closed division has {THREADS}")
        if about.memory_limit_bytes is not None:
            found.error("a memory limit of its own; the closed division has none")
        if case.folder.claimed:
            found.error(f"{CLAIMS}: the closed division takes runs of the harness only")
    elif case.folder.claimed and not about.machine.strip():
        found.error("claims, but no machine they were made on")
    if about.published and not _is_ours(case.folder):
        found.error("only the repository's own submissions can name published records")


def _is_ours(inside: Folder) -> bool:
    """Whether a folder lies among the submissions of the repository."""
    return inside.root.resolve().parent == folders.root().resolve()
