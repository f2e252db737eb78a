"""The folder of a submission, written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.leaderboard import gather
from bench.records import Record, Store
from bench.submissions.layout import CLAIMS, RECORDS, SUBMISSION, ClaimedRun, Submission, plain
from problems.answer import AnswerFile
from problems.files import FileError, encode, write_atomically


def brief(records: Iterable[Record]) -> list[Record]:
    """Records without the logs of runs that ended well, as they are published."""
    return [gather.brief(record) for record in records]


def write_records(folder: Path, submission: Submission, runs: Sequence[Record], at: Store) -> None:
    """Write a submission that carries its records.

    Parameters
    ----------
    folder : Path
        What is there is replaced: see :func:`require_room`.
    at : Store
        Where the records are from.

    Raises
    ------
    FileError
        If an answer or the description of a machine is damaged; nothing is changed then.
    """
    with _replaced(folder) as new:
        mine = Store(new)
        for run in runs:
            if run.answer:
                mine.put_answer(at.get_answer(run.answer))
        names = {run.environment for run in runs}
        for path in at.environment_paths():
            said = at.environment_at(path)
            if path.stem in names or said.get("environment") in names:
                mine.put_environment(said)
        write_atomically(new / RECORDS, b"".join(encode(run) + b"\n" for run in runs))
        write_atomically(new / SUBMISSION, plain(submission))


def write_claims(
    folder: Path, submission: Submission, claims: Sequence[tuple[ClaimedRun, AnswerFile]]
) -> None:
    """Write a submission of claims with their answers; replaces what is there."""
    with _replaced(folder) as new:
        for _, answer in claims:
            Store(new).put_answer(answer)
        lines = sorted(encode(claim) + b"\n" for claim, _ in claims)
        write_atomically(new / CLAIMS, b"".join(lines))
        write_atomically(new / SUBMISSION, plain(submission))


def write_reference(folder: Path, submission: Submission) -> None:
    """Write a submission that refers to published records; replaces what is there."""
    with _replaced(folder) as new:
        write_atomically(new / SUBMISSION, plain(submission))


def require_room(folder: Path, replace: bool) -> None:
    """See that a submission may be written to a folder.

    Raises
    ------
    FileError
        If something is there, unless it is a submission that is to be replaced.
    """
    if folder.exists() and not (replace and (folder / SUBMISSION).is_file()):
        raise FileError(
            f"{folder}: is there already; --replace writes it anew, and what has been ranked"
            " before is kept by a new name with --supersedes"
        )


@contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    """An empty folder to write to, which takes the other's place when all went well."""
    # Hidden ones are no submissions, and the names are nobody else's: what a killed process has
    # left there goes.
    new, old = (folder.with_name(f".{folder.name}.{what}") for what in ("new", "old"))
    for each in (new, old):
        shutil.rmtree(each, ignore_errors=True)
    try:
        new.mkdir(parents=True)
        yield new
        if folder.exists():
            os.rename(folder, old)
        os.rename(new, folder)
    finally:
        for each in (new, old):
            shutil.rmtree(each, ignore_errors=True)
