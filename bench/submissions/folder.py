"""The folder of a submission, read without trusting it: no link is followed, nothing is too large.

What cannot be read is kept as the reason why; the checks say so.
"""

from __future__ import annotations

import os
import stat
import zlib
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from bench import bks
from bench.records import Record, Store
from bench.submissions.layout import (
    CLAIMS,
    NAME,
    RECORDS,
    SUBMISSION,
    ClaimedRun,
    Submission,
    strict,
)
from problems import answer as answers
from problems.files import FileError, decode

MIB = 1 << 20
MOST_FILES = 20_000
DEEPEST = 2
MOST_BYTES = 16 * MIB
LARGEST = {SUBMISSION: MIB // 4, RECORDS: 12 * MIB, CLAIMS: 4 * MIB}
LARGEST_OTHER = 2 * MIB
LARGEST_UNPACKED = 64 * MIB


def root() -> Path:
    """Where the submissions of the repository are."""
    return bks.RESULTS / "submissions"


class Folder(Store):
    """One submission on file.

    It is the store of its answers and environments: those that it carries, and, where it names a
    published file, those that lie beside that.

    Attributes
    ----------
    sizes : dict of str to int
        Regular files by their path inside the folder, in bytes.
    strange : list of (str, str)
        What is neither folder nor regular file, and what it is.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        super().__init__(path)
        self.name = Path(os.path.abspath(path)).name
        self.sizes: dict[str, int] = {}
        self.strange: list[tuple[str, str]] = []
        if path.is_symlink():
            self.strange.append((".", "a symbolic link"))
            return
        self._walk(path, "")

    def _walk(self, folder: Path, prefix: str) -> None:
        """Note what there is, as far as it can belong to a submission: not deep, not endless."""
        with os.scandir(folder) as found:
            items = sorted(islice(found, MOST_FILES + 1), key=lambda each: each.name)
        for item in items:
            inside = prefix + item.name
            if len(self.sizes) > MOST_FILES:
                return
            kind = item.stat(follow_symlinks=False)
            if stat.S_ISDIR(kind.st_mode) and inside.count("/") >= DEEPEST:
                self.strange.append((inside, "a folder where none belongs"))
            elif stat.S_ISDIR(kind.st_mode):
                self._walk(Path(item.path), inside + "/")
            elif stat.S_ISREG(kind.st_mode):
                self.sizes[inside] = kind.st_size
            else:
                what = "a symbolic link" if stat.S_ISLNK(kind.st_mode) else "no regular file"
                self.strange.append((inside, what))

    def bytes_of(self, inside: str) -> bytes:
        """Content of a regular file of the folder that is not too large.

        Raises
        ------
        FileError
            If there is none, or it is larger than may be.
        """
        where = f"{self.name}/{inside}"
        if inside not in self.sizes:
            why = dict(self.strange).get(inside)
            raise FileError(f"{where}: " + (f"is {why}" if why else "is missing"))
        most = LARGEST.get(inside, LARGEST_OTHER)
        if self.sizes[inside] > most:
            raise FileError(
                f"{where}: {self.sizes[inside]} bytes, more than {most}: it is not read"
            )
        try:
            return (self.root / inside).read_bytes()
        except OSError as error:
            raise FileError(f"{where}: cannot be read: {error.strerror}") from None

    @cached_property
    def submission(self) -> Submission | str:
        """What ``submission.json`` says, or what is wrong with it."""
        try:
            data = self.bytes_of(SUBMISSION)
            return strict(data, Submission, f"{self.name}/{SUBMISSION}")
        except FileError as error:
            return str(error)

    @cached_property
    def _lines(self) -> tuple[list[Any], list[str]]:
        """Records or claims, and what is wrong with lines that are neither."""
        about = self.submission
        if isinstance(about, str):
            return [], []
        if about.published:
            try:
                return [r for r in published(about.published) if belongs(r, about)], []
            except FileError as error:
                return [], [str(error)]
        kind = ClaimedRun if CLAIMS in self.sizes and RECORDS not in self.sizes else Record
        file = CLAIMS if kind is ClaimedRun else RECORDS
        try:
            data = self.bytes_of(file)
        except FileError as error:
            return [], [str(error)]
        found: list[Any] = []
        faults = []
        for number, line in enumerate(data.split(b"\n"), 1):
            if not line:
                continue
            try:
                found.append(strict(line, kind, f"{self.name}/{file}:{number}"))
            except FileError as error:
                faults.append(str(error))
        return found, faults

    @property
    def runs(self) -> list[Record] | list[ClaimedRun]:
        """The records, or the claims, that could be read."""
        return self._lines[0]

    @property
    def broken(self) -> list[str]:
        """What is wrong with the other lines."""
        return self._lines[1]

    @property
    def claimed(self) -> bool:
        """Whether it has answers without records."""
        return any(isinstance(run, ClaimedRun) for run in self.runs)

    @property
    def refers(self) -> bool:
        """Whether its records, answers and environments are the published ones."""
        return isinstance(self.submission, Submission) and bool(self.submission.published)

    # The parts of a store that readers of records use.

    def has_answer(self, name: str) -> bool:  # noqa: D102
        inside = f"answers/{name[:2]}/{name}.json.gz"
        return inside in self.sizes or (self.refers and Store(bks.RESULTS).has_answer(name))

    def get_answer(self, name: str) -> answers.AnswerFile:  # noqa: D102
        inside = f"answers/{name[:2]}/{name}.json.gz"
        if self.refers and inside not in self.sizes:
            return Store(bks.RESULTS).get_answer(name)
        where = f"{self.name}/{inside}"
        file = decode(_unpack(self.bytes_of(inside), where), answers.AnswerFile, where)
        if answers.digest(file) != name:
            raise FileError(f"{where}: the content does not have the digest in its name")
        return file

    def get_environment(self, name: str) -> dict[str, Any]:  # noqa: D102
        inside = f"environments/{name}.json"
        if self.refers and inside not in self.sizes:
            return Store(bks.RESULTS).get_environment(name)
        data = self.bytes_of(inside)
        if sha256(data.rstrip(b"\n")).hexdigest() != name:
            raise FileError(
                f"{self.name}/{inside}: the content does not have the digest in its name"
            )
        return strict(data, dict[str, Any], f"{self.name}/{inside}")

    def environment_paths(self) -> list[Path]:  # noqa: D102
        mine = [self.root / each for each in self.sizes if each.startswith("environments/")]
        return sorted(mine) + (Store(bks.RESULTS).environment_paths() if self.refers else [])


def belongs(record: Record, about: Submission) -> bool:
    """Whether a published record is one of a submission that refers to its file."""
    return (
        record.entry == about.entry
        and record.source == about.source
        and record.time_limit_s == about.time_limit_s
        and record.threads == about.threads
        and record.memory_limit_bytes == about.memory_limit_bytes
        and record.suite == about.suite
    )


_published: dict[tuple[Path, int, int], list[Record]] = {}


def published(name: str) -> list[Record]:
    """The records of ``results/records/NAME.jsonl``.

    Raises
    ------
    FileError
        If there is no such file, the name is no name, or a line is no record.
    """
    if not NAME.fullmatch(name):
        raise FileError(f"{name!r} is no name of published records")
    path = bks.RESULTS / "records" / f"{name}.jsonl"
    try:
        state = path.stat()
        key = path, state.st_mtime_ns, state.st_size
        if key not in _published:
            lines = path.read_bytes().splitlines()
            _published[key] = [
                decode(line, Record, f"{path.name}:{i}") for i, line in enumerate(lines, 1) if line
            ]
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    return _published[key]


def _unpack(data: bytes, where: str) -> bytes:
    """Decompress gzip, but no more than is sensible.

    Raises
    ------
    FileError
        If it is no gzip, has something after its end, or would be too large.
    """
    reader = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        content = reader.decompress(data, LARGEST_UNPACKED + 1)
    except zlib.error as error:
        raise FileError(f"{where}: cannot be read: {error}") from None
    if len(content) > LARGEST_UNPACKED:
        raise FileError(f"{where}: more than {LARGEST_UNPACKED} bytes unpacked: it is not read")
    if not reader.eof or reader.unused_data:
        raise FileError(f"{where}: is cut short, or has something after its end")
    return content
