"""Records: what one run left behind, one JSON file each, written whole or not at all."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from problems import answer as answers
from problems.files import (
    FileError,
    contents,
    encode,
    plainly,
    read,
    unpacked,
    write_atomically,
)
from solvers.method import Claim

Termination = Literal["completed", "time-limit", "memory-limit", "crash", "error", "no-answer"]
Claimed = Literal["", Claim]
Points = Annotated[list[tuple[float, float]], msgspec.Meta(max_length=256)]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One run of one entry on one instance under one seed.

    Attributes
    ----------
    key : str
        What makes a run the same run: :func:`key_of`.
    instance, digest, problem, family : str
        Id, SHA-256 of the resolved content, problem and family of the instance.
    entry, method, options : str, str, dict
        Label with the options that were given, ``annealing[restarts=4]``; its parts, all options
        with their values.
    source : str
        SHA-256 of the file of a method that is not the suite's own.
    time_limit_s, memory_limit_bytes, threads, seed, suite
        Conditions; `suite` is the version of the suite.
    termination : str
        How the run ended. ``completed``: the method returned within the limit (and an answer had
        come); ``no-answer``: it returned without ever giving one; ``error``: it raised;
        ``crash``: it died by a signal or left by itself.
    signal, error : str
        Name of the signal; the reason in the first line, then any traceback.
    check : {'ok', 'invalid', 'none'}
        Verdict on the last answer within the limit; `violations` are (rule, what is wrong).
    objective : float or None
        Checked objective in seconds; None unless `check` is ``ok``.
    answer : str
        SHA-256 of the stored answer.
    completed_by_dispatch : bool
        The answer was a mapping only; list scheduling gave the orders (`latency`).
    claim, claimed_objective, claimed_bound, claim_note
        What the method said of itself, `claim` empty or one of :data:`solvers.method.Claim`; never
        used for a ranking.
    load_s, warm_s : float
        Before the clock: start of the process to the loaded instance; warm-up of compiled code.
    build_s, solve_s : float or None
        Clock until the model was built, and from there to the end, of methods that tell: starts
        and cheap bounds are part of the building.
    wall_s, cpu_s, check_s : float
        Clock of the run; CPU time of its process tree; the checker's time.
    overrun_s : float
        From the limit to the end of the last process; 0 within the limit.
    peak_bytes : int
        Largest resident memory of the process tree that was sampled.
    orphans : int
        Processes that the run left behind and that were ended.
    trace, bounds : list of (seconds, seconds)
        Improving checked objectives, and reported bounds, against the run's clock; 256 at most.
    log : str
        End of what the method printed.
    environment, date : str
        Digest of the environment of the batch; UTC, ISO 8601.
    """

    format: Literal["placebench-record/1"]
    key: str
    instance: str
    digest: str
    problem: str
    family: str
    entry: str
    method: str
    options: dict[str, Any]
    seed: int
    time_limit_s: float
    memory_limit_bytes: int | None
    threads: int
    suite: str
    termination: Termination
    check: Literal["ok", "invalid", "none"]
    environment: str
    date: str
    source: str = ""
    signal: str = ""
    error: str = ""
    violations: list[tuple[str, str]] = []
    objective: float | None = None
    answer: str = ""
    completed_by_dispatch: bool = False
    claim: Claimed = ""
    claimed_objective: float | None = None
    claimed_bound: float | None = None
    claim_note: str = ""
    load_s: float = 0.0
    warm_s: float = 0.0
    build_s: float | None = None
    solve_s: float | None = None
    wall_s: float = 0.0
    cpu_s: float = 0.0
    check_s: float = 0.0
    overrun_s: float = 0.0
    peak_bytes: int = 0
    orphans: int = 0
    trace: Points = []
    bounds: Points = []
    log: str = ""

    @property
    def good(self) -> bool:
        """Whether the record may be reused instead of running again."""
        return self.check == "ok" and self.termination in ("completed", "time-limit")


def key_of(
    *,
    digest: str,
    method: str,
    options: dict[str, Any],
    source: str,
    seed: int,
    time_limit_s: float,
    memory_limit_bytes: int | None,
    threads: int,
    suite: str,
) -> str:
    """SHA-256 over everything that makes two runs the same run."""
    return sha256(
        encode(
            [
                "placebench-record/1", digest, method, options, source, seed,
                float(time_limit_s), memory_limit_bytes, threads, suite,
            ]
        )
    ).hexdigest()  # fmt: skip


class Store:
    """A folder of records, answers and environments.

    ``records/ab/KEY.json``, ``answers/ab/SHA.json.gz``, ``environments/SHA.json``: every file is
    named by its content or key and replaced atomically, so that a killed harness, or two at once,
    leave only whole files.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def put(self, record: Record) -> None:
        """Write a record; replaces an older one with the same key."""
        write_atomically(self._record_path(record.key), encode(record) + b"\n")

    def get(self, key: str) -> Record | None:
        """The record of a key; None where there is none, or a file that is not of that record."""
        path = self._record_path(key)
        if not path.exists():
            return None
        try:
            record = read(path, Record)
        except FileError:
            return None  # not ours, or of an older format: the run is simply done again
        return record if record.key == key else None

    def records(self) -> Iterator[Record]:
        """All records, by key.

        Raises
        ------
        FileError
            If a file in the folder is no record, or one with another key than its name says.
        """
        yield from map(self.record_at, self.paths())

    def paths(self) -> list[Path]:
        """Where records are, by key."""
        return sorted(self.root.glob("records/*/*.json"))

    def strangers(self) -> list[str]:
        """What lies where folders of records should, and keeps records from being stored."""
        found = sorted(self.root.glob("records/??"))
        return [
            f"{path}: is no folder of records; remove it" for path in found if not path.is_dir()
        ]

    @staticmethod
    def record_at(path: Path) -> Record:
        """The record in a file.

        Raises
        ------
        FileError
            If it is no record, or one with another key than the file's name says.
        """
        record = read(path, Record)
        if record.key != path.stem:
            raise FileError(f"{path}: the record's key is {record.key}, not the file's name")
        return record

    def put_answer(self, file: answers.AnswerFile) -> str:
        """Store an answer under its digest; returns the digest."""
        name = answers.digest(file)
        try:
            self.get_answer(name)
        except FileError:  # not there, or damaged
            write_atomically(self._answer_path(name), gzip.compress(encode(file), 9, mtime=0))
        return name

    def has_answer(self, name: str) -> bool:
        """Whether there is a file of that name; it is not read."""
        return self._answer_path(name).is_file()

    def get_answer(self, name: str) -> answers.AnswerFile:
        """Read a stored answer and verify its digest.

        Raises
        ------
        FileError
            If it is missing, unreadable or not what its name says.
        """
        path = self._answer_path(name)
        file = read(path, answers.AnswerFile)
        if answers.digest(file) != name:
            raise FileError(f"{path}: the content does not have the digest in its name")
        return file

    def answer_bytes(self, name: str) -> bytes:
        """A stored answer as JSON, as it lies there: nothing is verified.

        Raises
        ------
        FileError
            If it is missing or unreadable.
        """
        path = self._answer_path(name)
        try:
            return unpacked(contents(path))
        except (OSError, EOFError, zlib.error) as error:
            raise FileError(f"{path}: cannot be read: {plainly(error)}") from None

    def put_environment(self, environment: dict[str, Any]) -> str:
        """Store the description of an environment; returns its digest."""
        data = encode(environment)
        name = sha256(data).hexdigest()
        try:
            self.get_environment(name)
        except FileError:  # not there, or damaged
            write_atomically(self.root / "environments" / f"{name}.json", data + b"\n")
        return name

    def get_environment(self, name: str) -> dict[str, Any]:
        """Read the description of an environment and verify its digest.

        Raises
        ------
        FileError
            If it is missing, unreadable or not what its name says.
        """
        return self.environment_at(self.root / "environments" / f"{name}.json")

    @staticmethod
    def environment_at(path: Path) -> dict[str, Any]:
        """The description in a file; errors as those of :meth:`get_environment`."""
        found = read(path, dict[str, Any])
        if sha256(encode(found)).hexdigest() != path.stem:
            raise FileError(f"{path}: the content does not have the digest in its name")
        return found

    def environment_paths(self) -> list[Path]:
        """Where descriptions of environments are, by digest."""
        return sorted(self.root.glob("environments/*.json"))

    def _record_path(self, key: str) -> Path:
        return self.root / "records" / key[:2] / f"{key}.json"

    def _answer_path(self, name: str) -> Path:
        return self.root / "answers" / name[:2] / f"{name}.json.gz"
