"""What is in the folder of a submission, and how it is read and written.

``submission.json`` says what was run and by whom. With it come ``records.jsonl`` (runs of the
harness) or ``claims.jsonl`` (answers from elsewhere, open division only), ``answers/`` and
``environments/`` as in a store. The suite's own submissions have none of these: they name a
published file of ``results/records``, and answers and environments are those beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from bench.records import Claimed, Record
from problems.files import FileError, decode, encode

T = TypeVar("T")

SUBMISSION, RECORDS, CLAIMS = "submission.json", "records.jsonl", "claims.jsonl"
ANSWER = re.compile(r"answers/([0-9a-f]{2})/(\1[0-9a-f]{62})\.json\.gz")
ENVIRONMENT = re.compile(r"environments/[0-9a-f]{64}\.json")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,79}")

Division = Literal["closed", "open"]
Status = Literal["active", "withdrawn", "superseded"]
Text = Annotated[str, msgspec.Meta(max_length=4000)]
Line = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Seed = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]


class Submission(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The content of ``submission.json``.

    Attributes
    ----------
    name : str
        That of the folder.
    entry : str
        As in the records: ``annealing[restarts=4]``.
    options : dict
        All options with their values.
    source : str
        As in the records: empty for a method of the suite, else what its code is, by SHA-256.
    authors, description, links
        Who; what it does, or where it is described; addresses of code and papers.
    date : str
        Of the submission, ISO 8601.
    division : {'closed', 'open'}
        See :mod:`bench.submissions.tracks`.
    instances : list of str
        What was run, as ``-i`` takes it.
    asked : str
        :func:`asked_digest` of these instances: a selection may have grown since.
    count : int
        How many instances these were.
    seeds : list of int
        Every instance was run under each.
    time_limit_s : float or None
        None: every run under a limit of its own (open division).
    memory_limit_bytes, threads, suite
        As in the records.
    records : int
        How many records, or claims, belong to it; `content` is their :func:`content_digest`.
    published : str
        ``results/records/PUBLISHED.jsonl`` has the records; empty: the folder has them.
    machine : str
        In words; only for claims, as records name an environment.
    refused : dict of str to list of str
        Reason -> instances that the method does not take, so that it was not run on them.
    incomplete : str
        Why other instances or seeds are missing; empty where none are.
    status : {'active', 'withdrawn', 'superseded'}
        Only active ones are ranked; the others are kept and listed apart.
    why : str
        Why it was withdrawn or superseded.
    superseded_by : str
        Name of the submission that took its place.
    changed : str
        Date of the change of status.
    """

    format: Literal["placebench-submission/1"]
    name: str
    entry: Line
    authors: Annotated[list[Line], msgspec.Meta(min_length=1, max_length=50)]
    description: Text
    date: str
    division: Division
    instances: Annotated[list[Line], msgspec.Meta(min_length=1, max_length=2000)]
    asked: Digest
    count: Annotated[int, msgspec.Meta(ge=1)]
    seeds: Annotated[list[Seed], msgspec.Meta(min_length=1, max_length=1000)]
    time_limit_s: Seconds | None
    threads: Annotated[int, msgspec.Meta(ge=1)]
    suite: Line
    records: Annotated[int, msgspec.Meta(ge=1)]
    content: Digest
    options: dict[str, Any] = {}
    source: str = ""
    memory_limit_bytes: int | None = None
    published: str = ""
    machine: Text = ""
    links: Annotated[list[Line], msgspec.Meta(max_length=50)] = []
    refused: dict[str, list[str]] = {}
    incomplete: Text = ""
    status: Status = "active"
    why: Text = ""
    superseded_by: str = ""
    changed: str = ""


class ClaimedRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A line of ``claims.jsonl``: an answer that no harness of the suite has seen being made.

    Attributes
    ----------
    instance, digest : str
        Id and digest of the instance.
    answer : str
        SHA-256 of the answer in the folder; its objective is the checker's.
    time_s : float
        What it took, as its authors say.
    claim : str
        ``optimal`` where they say so.
    """

    instance: Line
    digest: Digest
    answer: Digest
    time_s: Seconds
    seed: Seed = 0
    claim: Claimed = ""


def strict(data: bytes, kind: type[T], where: str) -> T:
    """Decode JSON, and refuse what decoders differ about: a key that is there twice.

    Raises
    ------
    FileError
        If it is not JSON, has a key twice, or does not fit `kind`.
    """
    value = decode(data, kind, where)
    try:
        json.loads(data, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{where}: {error}") from None
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def asked_digest(digests: Iterable[str]) -> str:
    """SHA-256 over the digests of a set of instances."""
    return sha256(encode(sorted(set(digests)))).hexdigest()


def content_digest(runs: Iterable[Record | ClaimedRun]) -> str:
    """SHA-256 over records, or claims, in whatever order they stand."""
    return sha256(b"\n".join(sorted(map(encode, runs)))).hexdigest()


def plain(value: Any) -> bytes:
    """The bytes of ``submission.json``: without what is left at its default, one field a line."""
    found: Mapping[str, Any] = msgspec.to_builtins(value)
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"
