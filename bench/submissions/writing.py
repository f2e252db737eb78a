"""The folder of a submission, written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.leaderboard import gather
from bench.records import Record, Store
from bench.submissions.layout import CLAIMS, RECORDS, SUBMISSION, ClaimedRun, Submission, plain
from problems.answer import AnswerFile
from problems.files import FileError, encode, write_atomically

OWN = "README.md"
"""What may be in the folder of a submission that is not written here."""


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
        If an answer or the description of a machine is damaged or missing; nothing is changed then.
    """
    with _replaced(folder) as new:
        mine = Store(new)
        for run in runs:
            if run.answer:
                mine.put_answer(at.get_answer(run.answer))
        names = {run.environment for run in runs}
        _require_machines(names, at)
        for path in at.environment_paths():
            said = at.environment_at(path)
            if path.stem in names or said.get("environment") in names:
                mine.put_environment(said)
        write_atomically(new / RECORDS, b"".join(encode(run) + b"\n" for run in runs))
        write_atomically(new / SUBMISSION, plain(submission))


def _require_machines(names: set[str], at: Store) -> None:
    lost = names - {path.stem for path in at.environment_paths()} - {""}
    if lost:
        raise FileError(
            f"{at.root}: the machine {min(lost)} of the runs is not on file; the same"
            " `placebench run` makes its runs again"
        )


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


def put_back(root: Path) -> None:
    """Bring back the submissions in a folder whose exchange a killed process has not ended."""
    if root.is_dir():
        for path in root.glob(".*.old"):
            _put_back(path.with_name(path.name.removeprefix(".").removesuffix(".old")))


def require_room(folder: Path, replace: bool) -> None:
    """See that a submission may be written to a folder, before anything is done for it.

    Raises
    ------
    FileError
        If something is there, unless it is a submission that is to be replaced.
    """
    for root in (folder.parent, *folder.parent.parents):
        if root.exists() and not root.is_dir():
            raise FileError(f"{root}: is not a folder")
    if folder.is_symlink():
        raise FileError(f"{folder}: is a link; write to where it leads, or remove it")
    if folder.exists() and not (replace and (folder / SUBMISSION).is_file()):
        raise FileError(
            f"{folder}: is there already; --replace writes it anew, and what has been ranked"
            " before is kept by a new name with --supersedes"
        )


@contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    """A folder to write to, which takes the other's place when all went well.

    What people have put beside the submission, :data:`OWN`, is in it. Hidden folders are no
    submissions, and their names are nobody else's: what a killed process has left there goes.
    """
    new, old = _hidden(folder)
    _put_back(folder)
    made = [each for each in (folder.parent, *folder.parent.parents) if not each.exists()]
    try:
        _remove(new)
        new.mkdir(parents=True)
        if (folder / OWN).is_file():
            shutil.copy2(folder / OWN, new / OWN)
        yield new
        _remove(old)
        if folder.exists():
            os.rename(folder, old)
        os.rename(new, folder)
    finally:
        _put_back(folder)
        _remove(new)
        _remove(old)
        for each in made:
            with suppress(OSError):  # it is in use
                each.rmdir()


def _hidden(folder: Path) -> tuple[Path, Path]:
    """Where the new content of a folder is written, and where the old one waits meanwhile."""
    return folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")


def _put_back(folder: Path) -> None:
    """Bring back what was there, where the exchange was cut off between its two steps."""
    _, old = _hidden(folder)
    if old.is_dir() and not os.path.lexists(folder):
        os.rename(old, folder)


def _remove(path: Path) -> None:
    """Remove whatever is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
